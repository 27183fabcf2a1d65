import { generateKeySync } from 'node:crypto';
import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { maskBody } from '../../receivers/discover/mask-body.ts';
import { eventNameOf } from '../../receivers/read.ts';
import { verifySignature } from '../../receivers/signature-node.ts';
import {
  type Diagnosed,
  diagnoseRefused,
  loadDeliveries,
  loadDelivery,
  loadQuarantine,
  loadRefusedCounts,
  type ShownEntry,
} from '../attention/deliveries.ts';
import { UsageError } from '../core/errors.ts';
import { loadAmbiguousRepeats } from '../projections/ambiguous-repeats.ts';
import { type Readmitted, readmitRejected } from '../rejected/readmit.ts';
import type { RejectedItem } from '../rejected/ring.ts';
import {
  type CommandIo,
  counted,
  printable,
  printResult,
  tableText,
  timeOf,
  timeOrDay,
  timeText,
  wholeNumberFrom,
  withJson,
  withOptions,
} from './command-io.ts';
import { loadStored, registerDeliveryResend } from './delivery-resend.ts';
import { registerDeliveryTail } from './delivery-tail.ts';
import { registerDeliveryTest } from './delivery-test.ts';
import { findSource, withCaughtUp, withContext } from './run-context.ts';

const NOTHING_REFUSED =
  'No refused deliveries. They are kept for 72 hours; a running server stores new ones within five seconds.';

const SEE_DIAGNOSE = 'Run `consent-ledger delivery diagnose` for the reasons.';

/** `delivery list|tail|show|resend|test|fixture|diagnose|readmit`: stored and refused deliveries, with the reasons. */
export function registerDelivery(program: CommandUnknownOpts, io: CommandIo): void {
  const delivery = program
    .command('delivery')
    .description('webhook deliveries, including refused ones and why they were refused');
  registerList(delivery, io);
  registerDeliveryTail(delivery, io);

  withJson(delivery.command('show'))
    .argument('<seq>', 'entry number', wholeNumberFrom(1))
    .description('show everything the ledger holds about one delivery, including the body')
    .action((seq, options) =>
      withCaughtUp(async (context) => {
        const loaded = await loadDelivery(context.store.read, seq);
        if (loaded === null) throw new UsageError([`Unknown entry ${seq}: see \`consent-ledger delivery list\`.`]);
        printResult(io, options, loaded, () => deliveryText(loaded));
      }),
    );

  registerDeliveryResend(delivery, io);
  registerDeliveryTest(delivery, io);

  withJson(delivery.command('fixture'))
    .argument('<seq...>', 'entry numbers of deliveries', (text, before: number[] = []) => [
      ...before,
      wholeNumberFrom(1)(text),
    ])
    .description('print stored deliveries with their personal data replaced, one on each line, for tests of a receiver')
    .addHelpText(
      'after',
      '\nEvery text and number is replaced character by character; within a run, equal values get equal replacements. Structure, types and lengths are kept,\nas are times, choices, events, kinds, purposes, languages and countries. Headers and signatures are left out. Review the result before you share it.',
    )
    .action((seqs, options) =>
      withContext(async (context) => {
        const key = generateKeySync('hmac', { length: 256 });
        const fixtures: { event: string | null; body: string }[] = [];
        for (const seq of seqs) {
          const { body, source } = await loadStored(context, seq);
          const masked = maskBody(body, key);
          if (masked === null) throw new UsageError([`The body of entry ${seq} is not JSON: it cannot be masked.`]);
          fixtures.push({ event: eventNameOf(body, context.sources.find(source)?.options), body: masked });
        }
        printResult(io, options, fixtures, () => fixtures.map((one) => JSON.stringify(one)).join('\n'));
      }),
    );

  withOptions(withJson(delivery.command('diagnose')), ringOptions)
    .description('explain why each refused delivery was refused, and how to fix it')
    .option('--limit <number>', 'how many to examine, newest first', wholeNumberFrom(1), 50)
    .action((options) =>
      withContext(async (context) => {
        const all = await context.rejected.list(options.source === undefined ? {} : { source: options.source });
        const { id: ids } = options;
        const wanted = all.filter(({ id }) => ids?.includes(id) ?? true);
        assertKept(ids, wanted);
        const diagnosed = await diagnoseRefused(context, wanted.slice(0, options.limit));
        printResult(io, options, { kept: all.length, diagnosed }, () =>
          diagnosed.length === 0 ? NOTHING_REFUSED : diagnosisText(diagnosed, wanted.length),
        );
      }),
    );

  withOptions(withJson(delivery.command('readmit')), ringOptions)
    .description(
      'verify refused deliveries again with the current secrets; valid ones enter the ledger as verified-late',
    )
    .action((options) =>
      withContext(async (context) => {
        const { source, id: ids } = options;
        assertKept(ids, await context.rejected.list());
        const results = await readmitRejected(
          { ring: context.rejected, sources: context.sources, ledger: context.ledger, verify: verifySignature },
          { ...(source === undefined ? {} : { source }), ...(ids === undefined ? {} : { ids }) },
        );
        await context.projector.catchUp();
        // Strangers probe every address, so a delivery that is still refused counts as a failure only if it was
        // requested by id.
        if (ids !== undefined && results.some((one) => !isIn(one))) io.exitCode = 1;
        printResult(io, options, results, () => readmittedText(results));
      }),
    );
}

function registerList(delivery: CommandUnknownOpts, io: CommandIo): void {
  withJson(delivery.command('list'))
    .description('list deliveries, newest first; or those that are unreadable, refused or ambiguous')
    .option('--source <slug>', 'only this source')
    .option('--event <name>', 'only this event')
    .option('--since <time>', `only deliveries received since ${timeOrDay}`)
    .option(
      '--search <text>',
      'only bodies that contain this exact text; bodies are read one by one until enough are found',
    )
    .option('--limit <number>', 'maximum number of rows', wholeNumberFrom(1), 50)
    .option(
      '--quarantine',
      'list deliveries that could not be read, and why: invalid JSON, unknown events, missing fields',
    )
    .option('--refused', 'list refused deliveries with their total')
    .option(
      '--ambiguous',
      'list repeated deliveries with neither id nor time, which may be a new choice or the same one again',
    )
    .action((options) =>
      withContext(async (context) => {
        const { source, event, since, search, limit, quarantine, refused, ambiguous } = options;
        if ([quarantine, refused, ambiguous].filter(Boolean).length > 1) {
          throw new UsageError(['Use only one of --quarantine, --refused and --ambiguous.']);
        }
        if ((quarantine ?? refused ?? ambiguous) && (since ?? search) !== undefined)
          throw new UsageError([
            '--since and --search cannot be combined with --quarantine, --refused and --ambiguous.',
          ]);
        if (search === '') throw new UsageError(['--search needs a text to look for.']);
        if (event !== undefined && refused)
          throw new UsageError([
            '--refused cannot be combined with --event: the event of a refused delivery is unknown.',
          ]);
        if (source !== undefined) findSource(context, source);
        const { read } = context.store;
        await context.projector.catchUp();
        if (quarantine) {
          const rows = await loadQuarantine(read, { source, event, limit });
          return printResult(io, options, rows, () => quarantineText(rows));
        }
        if (refused) {
          const kept = await context.rejected.list({ ...(source === undefined ? {} : { source }), limit });
          const counts = await loadRefusedCounts(context, source);
          return printResult(io, options, { kept, counts }, () => refusedText(kept, counts));
        }
        if (ambiguous) {
          const all = await loadAmbiguousRepeats(read, { source: source ?? null });
          const rows = all
            .filter((row) => event === undefined || row.event === event)
            .slice(-limit)
            .reverse();
          return printResult(io, options, rows, () => ambiguousText(rows));
        }
        const rows = await loadDeliveries(read, {
          source,
          event,
          limit,
          since: since === undefined ? undefined : timeOf(since, '--since', context.config.timeZone),
          search: search === undefined ? undefined : Buffer.from(search, 'utf8'),
        });
        const nothing = [source, event, since, search].every((one) => one === undefined)
          ? 'Nothing has arrived yet.'
          : 'No delivery matches.';
        printResult(io, options, rows, () => storedText(rows, nothing));
      }),
    );
}

function storedText(rows: Awaited<ReturnType<typeof loadDeliveries>>, nothing: string): string {
  return tableText(
    ['entry', 'received', 'source', 'event', 'signature', 'read', 'bytes', 'repeats', 'note'],
    rows.map((row) => [
      row.seq,
      row.receivedAt,
      row.source,
      row.event,
      row.verdict,
      row.outcome,
      row.bytes,
      row.repeats,
      row.note,
    ]),
    nothing,
  );
}

function quarantineText(rows: Awaited<ReturnType<typeof loadQuarantine>>): string {
  return tableText(
    ['entry', 'received', 'source', 'event', 'why'],
    rows.map((row) => [row.seq, row.receivedAt, row.source, row.event, row.reason]),
    'No unreadable entries.',
  );
}

function refusedText(kept: readonly RejectedItem[], counts: Awaited<ReturnType<typeof loadRefusedCounts>>): string {
  const ring = tableText(
    ['id', 'received', 'source', 'why', 'bytes', 'from'],
    kept.map((row) => [row.id, row.receivedAt, row.source, row.reason, row.bytes, row.address]),
    NOTHING_REFUSED,
  );
  const totals = tableText(
    ['source', 'why', 'last 72 hours'],
    counts.map((row) => [row.source, row.reason, row.count]),
    '',
  );
  return [ring, ...(counts.length === 0 ? [] : ['', totals]), ...(kept.length === 0 ? [] : ['', SEE_DIAGNOSE])].join(
    '\n',
  );
}

function ambiguousText(rows: Awaited<ReturnType<typeof loadAmbiguousRepeats>>): string {
  return tableText(
    ['entry', 'source', 'event', 'repeats', 'last', 'is'],
    rows.map((row) => [row.seq, row.source, row.event, row.repeats, row.lastAt, row.resolution]),
    'No ambiguous deliveries.',
  );
}

const ringOptions = new Command()
  .option('--source <slug>', 'only this source')
  .option('--id <number...>', 'only these numbers from `delivery list --refused`', (text, before: number[] = []) => [
    ...before,
    wholeNumberFrom(1)(text),
  ]);

function assertKept(ids: readonly number[] | undefined, kept: readonly { id: number }[]): void {
  const gone = (ids ?? []).filter((id) => !kept.some((item) => item.id === id));
  if (gone.length > 0)
    throw new UsageError([
      `Unknown refused delivery ${gone.join(', ')}: see \`consent-ledger delivery list --refused\`.`,
    ]);
}

function isIn({ outcome }: Readmitted): boolean {
  return outcome === 'stored' || outcome === 'duplicate';
}

const whyOut = {
  mismatch: 'the signature is still invalid',
  missing: 'no signature',
  'unknown-source': 'the source no longer exists',
  unreadable: 'altered in the database, or expired',
} as const;

function readmittedText(results: readonly Readmitted[]): string {
  if (results.length === 0) return NOTHING_REFUSED;
  const inside = results.filter(isIn);
  const outside = results.filter((one) => !isIn(one));
  return [
    `${inside.length > 0 ? pc.green('✓') : '·'} ${counted(inside.length, 'delivery', 'deliveries')} readmitted, ${outside.length} still refused`,
    ...inside
      .slice(0, 20)
      .map(
        (one) =>
          `  ${one.id}: entry ${'seq' in one ? one.seq : ''}${one.outcome === 'duplicate' ? ' (already received again)' : ''}`,
      ),
    ...(inside.length > 20 ? [`  … and ${inside.length - 20} more`] : []),
    ...Object.entries(whyOut).flatMap(([outcome, why]) => {
      const count = outside.filter((one) => one.outcome === outcome).length;
      return count === 0 ? [] : [`  ${count}: ${why}`];
    }),
    ...(outside.length > 0 ? [SEE_DIAGNOSE] : []),
  ].join('\n');
}

const IDS_SHOWN = 8;

/** Groups deliveries that failed for the same reasons: a wrong secret refuses hundreds alike. */
function diagnosisText(diagnosed: readonly Diagnosed[], kept: number): string {
  const groups = new Map<string, Diagnosed[]>();
  for (const one of diagnosed) {
    const key = JSON.stringify([one.source, one.findings]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const blocks = [...groups.values()].map((group) => {
    const first = group[0] as Diagnosed;
    const last = group[group.length - 1] as Diagnosed;
    const ids = group
      .slice(0, IDS_SHOWN)
      .map(({ id }) => id)
      .join(', ');
    const times =
      group.length === 1 ? timeText(first.receivedAt) : `${timeText(last.receivedAt)} to ${timeText(first.receivedAt)}`;
    const addresses = [...new Set(group.map(({ address }) => address))];
    const from = addresses.length === 1 ? addresses[0] : counted(addresses.length, 'address', 'addresses');
    return [
      pc.bold(`${counted(group.length, 'delivery', 'deliveries')} to ${first.source}, ${times}, from ${from}`),
      `  number ${ids}${group.length > IDS_SHOWN ? ' …' : ''}`,
      ...first.findings.flatMap(({ sentence, remedy }) => [
        `  ${pc.red('✗')} ${printable(sentence)}`,
        `    ${printable(remedy)}`,
      ]),
    ].join('\n');
  });
  const more = kept - diagnosed.length;
  return [...blocks, ...(more > 0 ? [`${counted(more, 'older one')} not examined: raise --limit.`] : [])].join('\n\n');
}

const TEXT_SHOWN = 20_000;
const HEX_SHOWN = 512;

function deliveryText(shown: ShownEntry): string {
  const { repeats, note } = shown;
  return [
    pc.bold(`entry ${shown.seq}  ${shown.kind} of ${shown.source}, number ${shown.sourceSeq} there`),
    `received     ${timeText(shown.receivedAt)}`,
    ...(shown.kind === 'webhook'
      ? [`event        ${printable(shown.event ?? 'unknown')} (${shown.outcome ?? 'not projected'})`]
      : []),
    ...(note === null ? [] : [`note         ${printable(note)}`]),
    ...(repeats.count === 0
      ? []
      : [
          `repeated     ${counted(repeats.count, 'time')}: ${repeats.times.slice(0, 5).join(', ')}${repeats.count > 5 ? ' …' : ''}`,
        ]),
    `leaf hash    ${shown.leafHash}`,
    `commitment   ${shown.commitment}`,
    ...(shown.erased
      ? ['', 'The content was erased; the position in the ledger is still proven.']
      : [
          `size         ${shown.bytes} bytes`,
          `meta         ${printable(JSON.stringify(shown.meta))}`,
          '',
          bodyPreview(shown),
        ]),
  ].join('\n');
}

function bodyPreview({ bodyText, bodyBase64 }: ShownEntry): string {
  if (bodyText !== null) {
    const lines = bodyText.slice(0, TEXT_SHOWN).split('\n').map(printable).join('\n');
    return bodyText.length > TEXT_SHOWN
      ? `${lines}\n… ${bodyText.length - TEXT_SHOWN} more characters: use --json to see all of it`
      : lines;
  }
  const bytes = Buffer.from(bodyBase64 ?? '', 'base64');
  const lines =
    bytes
      .subarray(0, HEX_SHOWN)
      .toString('hex')
      .match(/.{1,64}/g) ?? [];
  return [`not text; in hex${bytes.length > HEX_SHOWN ? `, the first ${HEX_SHOWN} bytes` : ''}:`, ...lines].join('\n');
}
