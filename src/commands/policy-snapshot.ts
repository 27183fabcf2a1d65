import { randomUUID } from 'node:crypto';
import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import type { Context } from '../context/context.ts';
import type { Source } from '../core/source.ts';
import { type KnownPolicy, loadKnownPolicies } from '../policy-snapshots/request.ts';
import { findReportedType, loadPolicyTexts } from '../policy-snapshots/stored-texts.ts';
import { createHostedUrls, type Look, takeSnapshots } from '../policy-snapshots/take.ts';
import {
  type CommandIo,
  counted,
  createProgress,
  type OptionsOf,
  printable,
  printResult,
  tableText,
  withJson,
} from './command-io.ts';
import { registerPolicyDiff, registerPolicyOpenapi } from './policy-diff.ts';
import { cameText, targetText } from './policy-stored-text.ts';
import { findSource, withContext } from './run-context.ts';

type SnapshotFlags = OptionsOf<ReturnType<typeof snapshotCommand>>;

/** `policy snapshot` and `policy diff`: the texts of policies as visitors see them, fetched now and compared. */
export function registerPolicySnapshots(policy: CommandUnknownOpts, io: CommandIo): void {
  snapshotCommand(policy).action((options) =>
    withContext(async (context) => {
      const sources = chooseSources(context, options.source);
      const stop = new AbortController();
      void io.untilStopped().then(() => stop.abort(new Error('stopped')));
      const fetched = await fetchAll(context, { sources, options }, io, stop.signal);
      await context.projector.catchUp();
      const rows = await Promise.all(fetched.map((one) => rowOf(context, one)));
      if (rows.length === 0 || rows.some(({ outcome }) => outcome === 'refused' || outcome === 'not-configured'))
        io.exitCode = 1;
      printResult(io, options, rows, () => textOf(rows));
    }),
  );
  registerPolicyDiff(policy, io);
  registerPolicyOpenapi(policy, io);
}

function snapshotCommand(policy: CommandUnknownOpts) {
  return withJson(policy.command('snapshot'))
    .description('fetch the live policy texts now (embed endpoint and public page) and store them as evidence')
    .option('--source <slug>', 'only this source')
    .option('--type <slug>', 'only the embed endpoint of this policy type (`hub`: the list of all)', readType)
    .option('--policy <id>', 'only this policy');
}

interface Fetched {
  readonly source: string;
  readonly policy: KnownPolicy;
  readonly look: Look | null;
  readonly reason: string | null;
}

async function fetchAll(
  context: Pick<Context, 'store' | 'snapshots' | 'projector'>,
  { sources, options }: { readonly sources: readonly Source[]; readonly options: SnapshotFlags },
  io: CommandIo,
  signal: AbortSignal,
): Promise<Fetched[]> {
  const urls = createHostedUrls(context.snapshots);
  const progress = createProgress(io, 'policies');
  const fetched: Fetched[] = [];
  await context.projector.catchUp();
  for (const source of sources) {
    const policies = await choosePolicies(context, source, options, signal);
    for (const [place, policy] of policies.entries()) {
      if (signal.aborted) break;
      progress.report(place, policies.length);
      const request = { source, ...policy, why: 'command', changedAt: null, fetchId: randomUUID(), signal } as const;
      const taking = await takeSnapshots(context.snapshots, urls, request);
      if (taking.outcome === 'looked')
        for (const look of taking.looks) fetched.push({ source: source.slug, policy, look, reason: null });
      else fetched.push({ source: source.slug, policy, look: null, reason: taking.reason });
    }
  }
  progress.end();
  return fetched;
}

async function choosePolicies(
  context: Pick<Context, 'store' | 'snapshots'>,
  source: Source,
  { policy, type }: SnapshotFlags,
  signal: AbortSignal,
): Promise<readonly KnownPolicy[]> {
  if (policy !== undefined) {
    const policyType = type ?? (await findReportedType(context.store.read, source.slug, policy));
    return [{ policyId: policy, policyType, hostedOnly: false }];
  }
  if (type !== undefined) return [{ policyId: null, policyType: type, hostedOnly: false }];
  if (source.siteUrl === null) return [{ policyId: null, policyType: null, hostedOnly: false }];
  return loadKnownPolicies(context.snapshots, source, signal);
}

/** A row about a fetch, with the interval during which the text is known to have come into force. */
async function rowOf(context: Pick<Context, 'store'>, { source, policy, look, reason }: Fetched) {
  const about = { source, policyId: policy.policyId, policyType: policy.policyType };
  if (look === null) return { ...about, target: null, outcome: 'not-configured' as const, sentence: reason ?? '' };
  if (look.outcome === 'refused') {
    return { ...about, target: look.target, outcome: look.outcome, sentence: look.sentence };
  }
  const [kind, id = ''] = splitTarget(look.target);
  const texts = await loadPolicyTexts(context.store.read, {
    source,
    policyId: kind === 'hosted' ? id : null,
    policyType: kind === 'embed' ? id : null,
  });
  const last = texts.find(({ target }) => target === look.target)?.versions.at(-1);
  const interval = {
    notBefore: last?.notBefore ?? null,
    firstSeen: last?.firstSeen ?? null,
    lastSeen: last?.lastSeen ?? null,
  };
  return { ...about, ...look, ...interval };
}

function splitTarget(target: string): [string, string] {
  const at = target.indexOf(':');
  return [target.slice(0, at), target.slice(at + 1)];
}

type Row = Awaited<ReturnType<typeof rowOf>>;

function textOf(rows: readonly Row[]): string {
  const table = tableText(
    ['source', 'what', 'found', 'entry', 'SHA-256 of the text', 'since'],
    rows.flatMap((row) =>
      row.outcome === 'taken'
        ? [
            [
              row.source,
              targetText(row.target),
              foundText(row),
              row.seq,
              row.textSha256,
              row.firstSeen === null ? null : cameText({ ...row, firstSeen: row.firstSeen }),
            ],
          ]
        : [],
    ),
    'Nothing was fetched.',
  );
  const problems = rows.flatMap((row) => {
    if (row.outcome === 'not-configured') return [printable(row.sentence)];
    return row.outcome === 'refused' ? [`${row.source}, ${targetText(row.target)}: ${printable(row.sentence)}`] : [];
  });
  const provisional = rows.filter((row) => row.outcome === 'taken' && row.phase === 'provisional').length;
  const note =
    provisional === 0
      ? []
      : [
          `${counted(provisional, 'text is', 'texts are')} provisional: the service’s cache may still have returned the text from before the last change. The worker will fetch again.`,
        ];
  return [table, ...problems, ...note].join('\n');
}

function foundText(row: Extract<Row, { outcome: 'taken' }>): string {
  const what = row.found === 'absent' ? 'no text' : row.unchanged ? 'the same' : 'stored';
  return row.phase === 'provisional' ? `${what}, provisional` : what;
}

function chooseSources(context: Pick<Context, 'sources'>, slug: string | undefined): readonly Source[] {
  if (slug === undefined) {
    const sources = context.sources.list();
    const followed = sources.filter(({ siteUrl }) => siteUrl !== null);
    return followed.length > 0 ? followed : sources;
  }
  return [findSource(context, slug)];
}

function readType(text: string): string {
  if (!/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/.test(text) || text.length > 100)
    throw new InvalidArgumentError('Use a slug such as privacy-policy, or hub.');
  return text;
}
