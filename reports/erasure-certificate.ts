import { type ErasureReason, erasureReasons } from '../src/core/erasure.ts';
import { noLegalAdvice, verificationBlocks } from './create-report.ts';
import { formatCount, formatTime } from './format.ts';
import { type Block, type Frame, fine, table } from './render/blocks.ts';
import { renderJson } from './render/csv-json.ts';
import { renderPdf } from './render/pdf.ts';
import {
  type DocumentInput,
  digestOf,
  frameParameters,
  type Parameters,
  referenceOf,
  unknownFormat,
} from './report.ts';

export const certificateFormats = ['pdf', 'json'] as const;
export type CertificateFormat = (typeof certificateFormats)[number];

/** What an erasure did, without anything that identifies the person. */
export interface ErasureFacts {
  /** The erasure entries, and when they were made. */
  readonly seqs: readonly number[];
  readonly erasedAt: string;
  readonly officer: string;
  readonly confirmedBy: string | null;
  readonly reason: ErasureReason;
  /** Id and name of the law. */
  readonly law: string;
  readonly lawName: string;
  /** `records of one person`, `one request with everything done about it` … */
  readonly scope: string;
  /** What was erased: kinds with their numbers. */
  readonly erased: readonly { readonly what: string; readonly count: number }[];
  readonly kept: readonly { readonly what: string; readonly why: string; readonly count: number }[];
  readonly residues: readonly { readonly where: string; readonly until: string }[];
  /** The person's earlier rows are not stored again when pulled. */
  readonly suppressed: boolean;
}

export interface CertificateInput extends DocumentInput {
  readonly format: CertificateFormat;
  readonly erasure: ErasureFacts;
}

const NAME = 'erasure-certificate';
const TITLE = 'Certificate of erasure';

/** Parameters of the certificate; the facts are contained in it, so they are identified by their digest. */
export function certificateParameters(input: CertificateInput): Parameters {
  return { ...frameParameters(input), erasure: input.erasure.seqs[0] ?? 0, factsSha256: digestOf(input.erasure) };
}

export function certificateReference(input: CertificateInput): string {
  const { format, asOf } = input;
  return referenceOf({ name: NAME, format, asOf, caseId: null, parameters: certificateParameters(input) });
}

/**
 * The certificate for the person who requested the erasure: what was erased, what was kept and why, what remains
 * elsewhere and until when (GDPR Art. 12(3), 17, 19).
 */
export async function* produceCertificate(input: CertificateInput): AsyncIterable<Uint8Array> {
  switch (input.format) {
    case 'pdf':
      yield* renderPdf(certificateFrame(input), blocksOf(input));
      return;
    case 'json': {
      const { erasure, source, sourceName, generatedAt, profile } = input;
      yield* renderJson({
        document: { reference: certificateReference(input), name: NAME, title: TITLE, generatedAt, source, sourceName },
        controller: profile === null ? null : { name: profile.name, address: profile.address, email: profile.email },
        erasure: { ...erasure, kept: keptOf(erasure), reasonInWords: erasureReasons[erasure.reason] },
        checkpoint: input.checkpoint,
        limits: limits(erasure),
      });
      return;
    }
    default:
      throw unknownFormat(NAME, input.format satisfies never);
  }
}

function certificateFrame(input: CertificateInput): Frame {
  return {
    title: TITLE,
    owner: input.profile?.name ?? input.sourceName,
    footer: `Reference ${certificateReference(input)} · as of entry ${formatCount(input.asOf)}`,
    language: input.language,
    producer: `consent-ledger ${input.version}`,
    createdAt: input.generatedAt,
    watermark: input.sample ? 'SAMPLE' : null,
    kind: 'report',
  };
}

/** The law under which proof may be kept. */
function groundsOf(law: string): string {
  if (law === 'eu-gdpr') return 'Art. 17(3)(b) and (e) GDPR';
  if (law === 'uk-gdpr') return 'Art. 17(3)(b) and (e) UK GDPR';
  if (law === 'us-ca') return 'Cal. Civ. Code § 1798.105(d) and 11 CCR 7101';
  return 'the law requires or permits it';
}

function* blocksOf(input: CertificateInput): Generator<Block> {
  const { erasure, profile, timeZone } = input;
  yield { block: 'title', text: TITLE, subtitle: formatTime(erasure.erasedAt, timeZone) };
  yield {
    block: 'facts',
    pairs: [
      [
        profile?.role === 'processor' ? 'Processor' : 'Controller',
        [profile?.name ?? 'no controller profile is configured', ...(profile?.address ?? [])].join(', '),
      ],
      ['Erased', `${erasure.scope}; source ${input.source} (${input.sourceName})`],
      ['Reason', `${erasureReasons[erasure.reason]} (${erasure.lawName})`],
      [
        'Decided by',
        `${erasure.officer}${erasure.confirmedBy === null ? '' : `, confirmed by ${erasure.confirmedBy}`}`,
      ],
      [
        'Recorded as',
        `${erasure.seqs.length === 1 ? 'entry' : 'entries'} ${erasure.seqs.map(formatCount).join(', ')} of the ledger`,
      ],
    ],
  };
  yield { block: 'heading', level: 1, text: '1  What was erased' };
  yield table({
    caption: 'Erased for good',
    columns: [
      { title: 'What', share: 8, value: ({ what }) => what },
      { title: 'Number', share: 2, align: 'right', value: ({ count }) => formatCount(count) },
    ],
    rows: erasure.erased,
    empty: 'Nothing.',
  });
  yield {
    block: 'paragraph',
    text: 'Content, headers and salts were overwritten, together with every table, list and file made from them; the database was then rewritten without them.',
  };
  yield { block: 'heading', level: 1, text: '2  What was kept, and why' };
  yield table({
    caption: 'Kept',
    columns: [
      { title: 'What', share: 4, value: ({ what }) => what },
      { title: 'Why', share: 6, value: ({ why }) => why },
      { title: 'Entries', share: 2, align: 'right', value: ({ count }) => (count === 0 ? '–' : formatCount(count)) },
    ],
    rows: keptOf(erasure),
  });
  yield { block: 'heading', level: 1, text: '3  What remains elsewhere, and until when' };
  yield table({
    caption: 'Residues',
    columns: [
      { title: 'Where', share: 5, value: ({ where }) => where },
      { title: 'Until when', share: 5, value: ({ until }) => until },
    ],
    rows: erasure.residues,
    empty: 'Nowhere.',
  });
  const recipients = profile?.recipients ?? [];
  if (recipients.length > 0) {
    yield { block: 'heading', level: 2, text: 'Recipients' };
    yield {
      block: 'paragraph',
      text: `The controller tells each recipient to whom the data were disclosed of the erasure, unless this is impossible or takes disproportionate effort, and names them on request${erasure.law.endsWith('-gdpr') ? ` (Art. 19 ${erasure.law === 'uk-gdpr' ? 'UK GDPR' : 'GDPR'})` : ''}:`,
    };
    yield { block: 'list', items: recipients.map(({ name, purpose }) => `${name}: ${purpose}`) };
  }
  yield { block: 'heading', level: 1, text: '4  Checkpoint and verification' };
  yield* verificationBlocks(input.checkpoint, input.asOf);
  yield { block: 'heading', level: 1, text: '5  Limits' };
  yield { block: 'list', items: [...limits(erasure)] };
  yield { block: 'paragraph', look: 'strong', text: noLegalAdvice };
  yield fine('This certificate names no person: keep it with the letter that it came with.');
}

/** What was kept, and what is kept after every erasure, with the legal ground. */
function keptOf({ kept, law, suppressed }: ErasureFacts): ErasureFacts['kept'] {
  const grounds = groundsOf(law);
  return [
    ...kept.map((one) => ({ ...one, why: `${one.why} (${grounds})` })),
    {
      what: 'position, kind, time of receipt and hashes of each erased entry, and the record of the erasure',
      why: `proof that nothing else was removed, for legal duties and claims (${grounds})`,
      count: 0,
    },
    ...(suppressed
      ? [
          {
            what: 'a keyed hash of the identifier',
            why: 'so that older records are not collected again from the service; it is used for nothing else',
            count: 0,
          },
        ]
      : []),
  ];
}

function limits({ suppressed }: ErasureFacts): readonly string[] {
  return [
    'It covers the consent records, requests and documents of this installation. The service that collected the consent, and other systems of the controller, are not part of it.',
    'The remaining hashes reveal nothing by themselves. Someone who holds the secret key of this installation could test whether a particular guess at an erased delivery is right.',
    ...(suppressed ? ['Choices that the person makes on the site after the erasure are new, and are recorded.'] : []),
  ];
}
