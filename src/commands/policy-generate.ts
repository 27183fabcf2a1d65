import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { z } from 'zod';
import { UsageError } from '../core/errors.ts';
import { notSentText } from '../policies/call-once.ts';
import {
  type FormA,
  type FormB,
  formASchema,
  formBSchema,
  type GenerateOutcome,
  generatePolicy,
} from '../policies/generate.ts';
import { type CommandIo, type OptionsOf, printable, printResult, withJson, writeOut } from './command-io.ts';
import {
  callableSource,
  noSlotText,
  patienceOf,
  refusedText,
  unknownText,
  unsettledText,
  withStopwatch,
} from './policy-call.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';

type GenerateFlags = OptionsOf<ReturnType<typeof generateCommand>>;

/** `policy generate`: one policy (docs/service.md §4.1). */
export function registerPolicyGenerate(policy: CommandUnknownOpts, io: CommandIo): void {
  generateCommand(policy).action((flags) =>
    withContext(async (context) => {
      const form = formOf(flags);
      const source = callableSource(context, flags.source);
      if (flags.via === 'mcp') assertMcp(flags, source);
      const { line, ...patience } = patienceOf(io, flags);
      const ended = await withStopwatch(line, 'generating', io.stderr.isTTY === true, () =>
        generatePolicy(context.policies, {
          source,
          actor: COMMAND_LINE_ACTOR,
          form,
          via: flags.via,
          again: flags.again,
          ...patience,
        }),
      );
      line.end();
      await finishGenerate(io, flags, ended);
    }),
  );
}

function generateCommand(policy: CommandUnknownOpts) {
  return withJson(policy.command('generate'))
    .description('generate one policy; takes up to two minutes and counts against the quota')
    .option('--source <slug>', 'source whose account to use')
    .requiredOption('--type <slug>', 'policy type, such as privacy-policy')
    .requiredOption('--jurisdiction <code>', 'such as GB, US-CA, EU; repeatable with form b', collect)
    .option('--language <code>', 'two-letter code; the service’s default is en')
    .option('--business-name <name>', 'business to name in the policy')
    .option('--domain <url>', 'its website')
    .option('--industry <word>', 'such as e-commerce, saas, healthcare')
    .option('--business-type <word>', 'legal structure, such as limited-company, gmbh, sole-trader')
    .addOption(
      new Option('--form <form>', 'which of the two documented request forms to send').choices(['a', 'b']).default('a'),
    )
    .addOption(
      new Option('--via <way>', 'use the REST API or the MCP endpoint of the service (form a only)')
        .choices(['rest', 'mcp'])
        .default('rest'),
    )
    .option('--tone <word>', 'form b: the tone of the text')
    .option('--clause <text>', 'form b: a clause of your own, repeatable', collect)
    .option(
      '--again',
      'send although the outcome of an identical request is still unknown; both may count against the quota',
    )
    .option('--no-wait', 'fail instead of waiting for the rate limit')
    .option('--out <file>', 'write the text of the policy to this file');
}

/** Throws UsageError if the MCP endpoint cannot be used: its tool takes form A only (docs/service.md §4.9). */
function assertMcp(flags: GenerateFlags, source: { readonly slug: string; readonly siteUrl: string | null }): void {
  if (flags.form === 'b') throw new UsageError(['--via mcp supports --form a only.']);
  if (source.siteUrl === null)
    throw new UsageError([
      `--via mcp needs the public origin of the service, which ${source.slug} lacks: set SERVICE_SITE_URL, or run \`source change --site-url\`.`,
    ]);
}

/** Reports the result of a generation; exit code 1 unless the policy was generated and, if requested, written to a file. */
async function finishGenerate(io: CommandIo, flags: GenerateFlags, ended: GenerateOutcome): Promise<void> {
  // The policy exists and counts against the quota: a failure to write its text must not look as if it did not.
  const unwritten =
    ended.outcome === 'done' && flags.out !== undefined ? await writeOut(flags.out, textOf(ended.policy)) : null;
  if (ended.outcome !== 'done' || unwritten !== null) io.exitCode = 1;
  printResult(io, flags, unwritten === null ? ended : { ...ended, unwritten }, () =>
    sentenceOf(ended, flags, unwritten),
  );
}

function textOf(policy: { readonly markdown: string | null; readonly html: string | null }): string {
  return policy.markdown ?? policy.html ?? '';
}

function sentenceOf(ended: GenerateOutcome, flags: GenerateFlags, unwritten: string | null): string {
  switch (ended.outcome) {
    case 'done': {
      const { policy } = ended;
      const what = [policy.policyType, policy.jurisdiction, policy.language].filter((part) => part !== null).join(', ');
      return [
        `Generated ${printable(what || 'a policy')}: ${printable(policy.id)}`,
        ...(policy.remaining === null ? [] : [`${policy.remaining} left of the quota`]),
        flags.out === undefined
          ? `The response is stored: consent-ledger delivery show ${ended.seq} (--out would also write the text to a file).`
          : unwritten === null
            ? `The text is in ${flags.out}, the full response in entry ${ended.seq}.`
            : `${unwritten} The policy was generated nevertheless; the full response is in entry ${ended.seq}.`,
        `Not public yet. To publish it: consent-ledger policy publish ${printable(policy.id)}`,
      ].join('\n');
    }
    case 'refused':
      return `Not generated: ${refusedText(ended.error)}`;
    case 'unknown':
      return unknownText(ended.requestId, ended.error);
    case 'unsettled':
      return unsettledText(ended.call);
    default:
      return notSentText(ended, (slot) => noSlotText(slot, flags.wait));
  }
}

function formOf(flags: GenerateFlags): FormA | FormB {
  const problems: string[] = [];
  if (flags.form === 'a') {
    if (flags.tone !== undefined || flags.clause !== undefined) problems.push('--tone and --clause require --form b.');
    if (flags.jurisdiction.length > 1) problems.push('Form a takes one --jurisdiction; --form b takes several.');
  } else {
    const onlyA = {
      '--business-name': flags.businessName,
      '--domain': flags.domain,
      '--industry': flags.industry,
      '--business-type': flags.businessType,
    };
    for (const [flag, value] of Object.entries(onlyA))
      if (value !== undefined) problems.push(`${flag} requires --form a.`);
  }
  if (problems.length > 0) throw new UsageError(problems);
  return flags.form === 'a'
    ? parse(formASchema, {
        policy_type: flags.type,
        jurisdiction: flags.jurisdiction[0],
        language: flags.language,
        business_name: flags.businessName,
        domain: flags.domain,
        industry: flags.industry,
        business_type: flags.businessType,
      })
    : parse(formBSchema, {
        type: flags.type,
        jurisdiction: flags.jurisdiction,
        language: flags.language,
        tone: flags.tone,
        custom_clauses: flags.clause,
      });
}

const flagOf: Record<string, string> = {
  policy_type: '--type',
  type: '--type',
  jurisdiction: '--jurisdiction',
  language: '--language',
  business_name: '--business-name',
  business_type: '--business-type',
  custom_clauses: '--clause',
};

function parse<T extends z.ZodType>(schema: T, value: Record<string, unknown>): z.infer<T> {
  const given = Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new UsageError(
    parsed.error.issues.map(({ path, message }) => {
      const field = String(path[0] ?? '');
      return `${flagOf[field] ?? `--${field}`} ${message}.`;
    }),
  );
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
