import { formatCount, formatDate, formatPeriod, formatTime } from './format.ts';
import { type Block, fine } from './render/blocks.ts';
import { renderJson } from './render/csv-json.ts';
import { renderHtml } from './render/html.tsx';
import { renderPdf } from './render/pdf.ts';
import {
  type CheckpointToPrint,
  type Report,
  type ReportInput,
  reportFrame,
  reportParameters,
  reportPeriod,
  reportReference,
  unknownFormat,
} from './report.ts';

/** What differs between reports: rows, data and pages. Everything else is shared. */
interface ReportParts
  extends Pick<Report, 'name' | 'title' | 'description'>,
    Partial<Pick<Report, 'tellsCounters' | 'takesSubject'>> {
  readonly csv: (input: ReportInput) => AsyncIterable<Uint8Array>;
  /** The part of the JSON between head and checkpoint; async iterables are written as they come. */
  readonly json: (input: ReportInput) => Promise<Record<string, unknown>>;
  readonly blocks: (input: ReportInput) => AsyncIterable<Block>;
}

/** Creates a report in the four formats. */
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
      // Refuses an empty period before anything is written.
      reportPeriod(input);
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
  const { from, to } = reportPeriod(input);
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

/**
 * Title, responsible organisation and subject of a report. `scope` follows the source; `time` says to which time the
 * period refers.
 */
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

/** The two sections that end every report. `first` is the number of the first one. */
export function* closingBlocks(input: ReportInput, first: number, limits: readonly string[] = []): Generator<Block> {
  yield { block: 'heading', level: 1, text: `${first}  Checkpoint and verification` };
  yield* verificationBlocks(input.checkpoint, input.asOf);
  yield { block: 'heading', level: 1, text: `${first + 1}  Limits of this report` };
  yield* limitsBlocks(limits);
}

/** What no document of this program proves. Printed in each of them. */
export const limits: readonly string[] = [
  'It shows that the records are unchanged since they were sealed. It does not prove who sent them: the signature of a delivery (HMAC) convinces only those who hold the same secret.',
  'It does not prove that the service delivered everything. Gaps that this installation could see are listed; anything that the service never reported cannot be.',
  'Times before the first checkpoint that left this installation rest on its own clock and on what the service stated.',
  'The service reports the choice, not the screen on which it was made. How a banner looked is known only if an officer added evidence of it, which is that officer’s statement.',
  'Policy texts are not part of the deliveries. Versions and dates are as reported; the text in force is evidenced only if a copy of it was kept.',
  'Subjects are hashed identifiers as the service sent them. One person may have several, and one identifier may stand for several people who share a device.',
];

export const noLegalAdvice =
  'This document was generated by a program from the records named above. It is not legal advice; whether it meets a particular duty is for the controller and its counsel to judge.';

/** The name of the checkpoint attached to a PDF. */
const CHECKPOINT_FILE = 'checkpoint.txt';

/** The checkpoint and how to verify it: the same section in every document. */
export function verificationBlocks(checkpoint: CheckpointToPrint | null, asOf: number): Block[] {
  const blocks: Block[] = [];
  if (checkpoint === null) {
    blocks.push({
      block: 'notice',
      tone: 'warning',
      title: 'Not sealed',
      text: 'No checkpoint was available when this document was made. Its contents can be compared with the ledger, but not with a signed tree head.',
    });
  } else {
    blocks.push({
      block: 'facts',
      pairs: [
        ['Checkpoint', `over ${formatCount(checkpoint.size)} entries`],
        ['Root hash (SHA-256)', checkpoint.rootHex],
        ['Verifier key', checkpoint.verifierKey],
      ],
    });
    blocks.push({
      block: 'verbatim',
      text: checkpoint.note.trimEnd(),
      file: {
        name: CHECKPOINT_FILE,
        description: 'The signed checkpoint (C2SP tlog-checkpoint)',
        content: checkpoint.note,
      },
    });
    if (checkpoint.size < asOf) {
      const open = asOf - checkpoint.size;
      blocks.push(
        fine(
          `${formatCount(open)} of the ${formatCount(asOf)} entries behind this document came after this checkpoint; a later checkpoint covers them.`,
        ),
      );
    }
  }
  blocks.push(
    { block: 'heading', level: 2, text: 'How to verify' },
    {
      block: 'list',
      ordered: true,
      items: [
        'Is this file genuine? Its SHA-256 is recorded in the ledger: “consent-ledger document check FILE” finds it.',
        'Is the ledger unchanged? “consent-ledger ledger verify” recomputes every hash and compares them with the journal of checkpoints.',
        `Without this program: the note above is a C2SP tlog-checkpoint, signed with Ed25519, over a Merkle tree as RFC 6962 describes it. Any tool for that format verifies it with the verifier key. In a PDF it is attached as ${CHECKPOINT_FILE}.`,
        'Against a copy of the ledger, without any secret: “consent-ledger ledger verify --public --key KEY --checkpoint FILE” compares it with this file.',
      ],
    },
  );
  return blocks;
}

function limitsBlocks(more: readonly string[] = []): Block[] {
  return [
    { block: 'list', items: [...more, ...limits] },
    { block: 'paragraph', look: 'strong', text: noLegalAdvice },
  ];
}
