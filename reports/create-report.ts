import { formatCount, formatDate, formatPeriod, formatTime } from './format.ts';
import { limitsBlocks, verificationBlocks } from './closing.ts';
import type { Block } from './render/blocks.ts';
import { renderHtml } from './render/html.tsx';
import { renderJson } from './render/json.ts';
import { renderPdf } from './render/pdf.ts';
import {
  periodOf,
  type Report,
  type ReportInput,
  reportFrame,
  reportParameters,
  reportReference,
  unknownFormat,
} from './report.ts';

/** What is particular to a report: its rows, its data and its pages. The rest is the same for all of them. */
export interface ReportParts
  extends Pick<Report, 'name' | 'title' | 'description'>,
    Partial<Pick<Report, 'tellsCounters' | 'takesSubject'>> {
  readonly csv: (input: ReportInput) => AsyncIterable<Uint8Array>;
  /** What the JSON has between the head and the checkpoint; async iterables are written as they come. */
  readonly json: (input: ReportInput) => Promise<Record<string, unknown>>;
  readonly blocks: (input: ReportInput) => AsyncIterable<Block>;
}

/** A report in the four formats. */
export function createReport({
  name,
  title,
  description,
  tellsCounters = false,
  takesSubject = false,
  csv,
  json,
  blocks,
}: ReportParts): Report {
  return {
    name,
    title,
    description,
    formats: ['pdf', 'html', 'json', 'csv'],
    tellsCounters,
    takesSubject,
    async *produce(input) {
      // A period that is none is refused before anything is written.
      periodOf(input);
      switch (input.format) {
        case 'csv':
          yield* csv(input);
          return;
        case 'json':
          yield* renderJson({
            document: await documentHead(name, title, input),
            ...(await json(input)),
            checkpoint: input.checkpoint,
          });
          return;
        case 'pdf':
          yield* renderPdf(reportFrame(name, title, input), blocks(input));
          return;
        case 'html':
          yield* renderHtml(reportFrame(name, title, input), blocks(input));
          return;
        default:
          throw unknownFormat(name, input.format);
      }
    },
  };
}

async function documentHead(name: string, title: string, input: ReportInput): Promise<object> {
  const { from, to } = periodOf(input);
  return {
    reference: reportReference(name, input),
    name,
    title,
    generator: `consent-ledger ${input.version}`,
    generatedAt: input.generatedAt,
    sample: input.sample,
    source: input.source,
    sourceName: input.sourceName,
    period: { from: input.from, toExclusive: input.to, timeZone: input.timeZone, fromInstant: from, toInstant: to },
    parameters: reportParameters(input),
    asOf: { seq: input.asOf, receivedAt: await input.history.receivedAtOf(input.asOf) },
  };
}

type Facts = readonly (readonly [label: string, value: string])[];

/** Title of a report, who answers for it, and what it is about. `scope` comes after the source, `time` says which time the period goes by. */
export function openingBlocks(
  title: string,
  input: ReportInput,
  { scope, time, more = [] }: { readonly scope: string; readonly time?: string; readonly more?: Facts },
): Block[] {
  const { profile } = input;
  const behalf = profile?.controllerOrJointContact ?? null;
  return [
    { block: 'title', text: title, subtitle: formatPeriod(input.from, input.to) },
    {
      block: 'facts',
      pairs: [
        [
          profile?.role === 'processor' ? 'Processor' : profile?.role === 'joint' ? 'Joint controller' : 'Controller',
          [profile?.name ?? 'no controller profile is configured', ...(profile?.address ?? [])].join(', '),
        ],
        ...(behalf === null
          ? []
          : [[profile?.role === 'processor' ? 'On behalf of' : 'Contact (Art. 26)', behalf] as const]),
        ['Scope', `source ${input.source} (${input.sourceName}); ${scope}`],
        [
          'Period',
          `${time === undefined ? '' : `${time} `}from ${formatDate(input.from)} 00:00 to before ${formatDate(input.to)} 00:00, ${input.timeZone}`,
        ],
        ...more,
        ['Position', `entries 1 to ${formatCount(input.asOf)} of the ledger`],
        ['Made', `${formatTime(input.generatedAt, input.timeZone)} by consent-ledger ${input.version}`],
      ],
    },
  ];
}

/** The two sections that end every report. `first` is the number of the one before the last. */
export function* closingBlocks(input: ReportInput, first: number, limits: readonly string[] = []): Generator<Block> {
  yield { block: 'heading', level: 1, text: `${first}  Checkpoint and verification` };
  yield* verificationBlocks(input.checkpoint, input.asOf);
  yield { block: 'heading', level: 1, text: `${first + 1}  Limits of this report` };
  yield* limitsBlocks(limits);
}
