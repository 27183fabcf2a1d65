import pc from 'picocolors';
import { DEFAULT_SOURCE } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import { metricsLabelOf } from '../context/metrics-label.ts';
import { publicUrlOf } from '../core/address.ts';
import { UsageError } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { findSourceFaults, leftoverFault, type SourceFault } from '../sources/faults.ts';
import type { OffboardedSource, SourceOutcome } from '../sources/sources.ts';
import { type CommandIo, counted, dayText, printable, printResult, tableText, timeText } from './command-io.ts';
import { noSuchSource } from './run-context.ts';

export const NO_SOURCES = 'No sources yet: set WEBHOOK_SECRETS, or run `consent-ledger source add`.';

/** A source for display: which credentials are set, never their values. */
export function shown(context: Pick<Context, 'config' | 'ledger' | 'sources'>, source: Source) {
  const { slug, name, baseUrl, siteUrl, webhookSecrets, options } = source;
  const { subjectRecipe } = options;
  return {
    slug,
    name,
    from: context.config.defaultSource?.slug === slug ? 'environment' : 'database',
    metricsLabel: metricsLabelOf(context, slug),
    webhookUrl: `${publicUrlOf(context.config, context.config.port)}/webhooks/${slug}`,
    baseUrl,
    siteUrl,
    apiKeySet: source.apiKey !== null,
    siteKeySet: source.siteKey !== null,
    webhookSecrets: webhookSecrets.map(({ id }) => id),
    retiring: Object.fromEntries(context.sources.retirements(slug)),
    options: {
      ...options,
      subjectRecipe:
        subjectRecipe === null
          ? null
          : {
              algorithm: subjectRecipe.algorithm,
              normalise: subjectRecipe.normalise,
              salted: subjectRecipe.salt !== '',
            },
    },
    warnings: [...findSourceFaults(source, context.sources.sharingKey()), ...leftoversOf(context, slug)].map(
      ({ sentence, remedy }) => `${sentence} ${remedy}`,
    ),
  };
}

/** Credentials of a source that have ended but are still in the environment. */
export function leftoversOf({ sources }: Pick<Context, 'sources'>, slug: string): readonly SourceFault[] {
  return sources.leftovers().flatMap((one) => (one.slug === slug ? [leftoverFault(one, dayText(one.endedAt))] : []));
}
type ShownSource = ReturnType<typeof shown>;

/** An offboarded source. */
export function shownOffboarded({ source, offboardedAt }: OffboardedSource) {
  const { slug, name } = source;
  return { slug, name, offboardedAt };
}

/** The sources as a table, followed by their problems. */
export function listText(
  list: readonly ShownSource[],
  damaged: readonly string[],
  left: readonly ReturnType<typeof shownOffboarded>[] = [],
): string {
  const table = tableText(
    ['source', 'name', 'from', 'webhook address', 'pulled from', 'API key', 'signing secrets'],
    list.map((one) => [
      one.slug,
      one.name,
      one.from,
      one.webhookUrl,
      one.baseUrl,
      one.apiKeySet ? 'set' : 'none',
      one.webhookSecrets.map((id) => secretText(id, one)).join(' ') || 'none',
    ]),
    NO_SOURCES,
  );
  return [
    table,
    ...list.flatMap(({ warnings }) => warnings.map((warning) => `! ${warning}`)),
    ...left.map(({ slug, name, offboardedAt }) => `offboarded ${dayText(offboardedAt)}: ${slug} (${printable(name)})`),
    ...damaged.map(
      (slug) =>
        `${pc.red('✗')} ${printable(slug)}: its row was altered in the database, so it is disabled. Restore it from a backup.`,
    ),
  ].join('\n');
}

/** `1a2b3c4d (hex, until 2026-07-02T10:00Z)`. */
function secretText(id: string, { retiring, options }: ShownSource): string {
  const until = retiring[id];
  const notes = [options.secretEncodings?.[id], until === undefined ? undefined : `until ${timeText(until)}`].filter(
    (note) => note !== undefined,
  );
  return notes.length === 0 ? id : `${id} (${notes.join(', ')})`;
}

/** The error for an id that no signing secret of a source has. */
export function noSuchSecret(slug: string, secretId: string): UsageError {
  return new UsageError([
    `Unknown signing secret ${printable(secretId)} of ${slug}: see \`consent-ledger source list\`.`,
  ]);
}

const done = { added: 'added', changed: 'changed', rotated: 'now accepts' } as const;

/** Prints the result of a change. Throws UsageError if it was refused. */
export function report(
  io: CommandIo,
  options: { readonly json?: boolean },
  context: Pick<Context, 'config' | 'ledger' | 'sources'>,
  {
    slug,
    outcome,
    verb,
    waiting = 0,
    secretId,
  }: {
    readonly slug: string;
    readonly outcome: SourceOutcome;
    readonly verb: keyof typeof done;
    readonly waiting?: number;
    readonly secretId?: string | undefined;
  },
): void {
  switch (outcome.outcome) {
    case 'done': {
      const one = shown(context, outcome.source);
      return printResult(io, options, { outcome: 'done', seq: outcome.seq, source: one, waiting }, () =>
        [
          `${pc.green('✓')} ${slug} ${done[verb]}${verb === 'rotated' ? ` the signing secrets ${one.webhookSecrets.map((id) => secretText(id, one)).join(', ') || '(none)'}` : ''}, recorded as entry ${outcome.seq}.`,
          ...(verb === 'added' ? [`Register ${one.webhookUrl} with the service, for all events.`] : []),
          'A running server applies this within two seconds.',
          ...(waiting > 0
            ? [
                `${counted(waiting, 'refused delivery', 'refused deliveries')} of ${slug} ${waiting === 1 ? 'verifies' : 'verify'} with these secrets: run \`consent-ledger delivery readmit --source ${slug}\`.`,
              ]
            : []),
          ...one.warnings.map((warning) => `! ${warning}`),
        ].join('\n'),
      );
    }
    case 'unchanged':
      return printResult(
        io,
        options,
        { outcome: 'unchanged' },
        () => `Nothing to do: ${slug} already has these settings.`,
      );
    case 'conflict':
      io.exitCode = 1;
      return printResult(
        io,
        options,
        { outcome: 'conflict' },
        () =>
          `${pc.red('✗')} Someone else changed ${slug} at the same time: review it with \`source list\` and try again.`,
      );
    case 'exists':
      throw new UsageError([
        verb === 'rotated'
          ? `${slug} already accepts this secret.`
          : `Source ${slug} already exists: use \`source change ${slug}\`.`,
      ]);
    case 'unknown':
      if (secretId !== undefined && context.sources.find(slug) !== null) throw noSuchSecret(slug, secretId);
      throw noSuchSource(slug);
    case 'configured':
      throw new UsageError([
        `The address and keys of \`${DEFAULT_SOURCE}\` are set by environment variables: change the SERVICE_… variables and restart the server.`,
      ]);
    case 'invalid':
      throw new UsageError(outcome.problems);
    default:
      return outcome satisfies never;
  }
}
