import { parseFolded, type RequestPart } from '../../src/cases/folded.ts';
import type { RequestKind } from '../../src/core/vocabulary.ts';
import { requestKinds } from '../../src/core/vocabulary.ts';
import { dateIn } from '../../src/core/zoned-days.ts';
import { retentionPeriodOf } from '../../src/law/profile.ts';
import { normaliseJurisdiction } from '../../src/law/regime-table.ts';
import { chooseLanguage, textsIn } from '../letters/languages.ts';
import {
  type Letter,
  type LetterFacts,
  letterBlocks,
  letterFrame,
  letterProblem,
  refusalText,
  tagOf,
} from '../letters/letter.ts';
import { fillOwnText } from '../letters/own-text.ts';
import type { LetterTexts } from '../letters/texts.ts';
import { renderHtml } from '../render/html.tsx';
import { renderPdf, unprintableIn } from '../render/pdf.ts';
import {
  type DsarPackInput,
  type GatheredPack,
  gatherPack,
  letterhead,
  type PackPart,
  withholdingSource,
} from './gather.ts';

/**
 * The letter to the requester: a PDF, or an HTML page if no embedded font has one of its characters, because the
 * reader's own fonts can show it.
 */
export const letter: PackPart = async (context) => {
  const what = 'our answer to the request';
  const written = letterOfPack(context);
  const facts = letterFactsOf(context);
  const frame = letterFrame(written, facts, {
    document: context.reference,
    version: context.input.version,
    madeAt: context.input.generatedAt,
    sample: context.input.sample,
  });
  const blocks = letterBlocks(written, facts);
  const name = packFileNames(context).letter;
  if ((await unprintableIn(blocks)).length > 0)
    return {
      name: `${name}.html`,
      what: `${what} (a web page, because the PDF font lacks some of its characters)`,
      content: renderHtml(frame, blocks),
    };
  return { name: `${name}.pdf`, what, content: renderPdf(frame, blocks) };
};

/**
 * The letter that the officer made last, or else a draft: a refusal states its recorded reasons, an answer what was
 * recorded of its parts.
 */
export function letterOfPack(context: GatheredPack): Letter {
  const { input } = context;
  if (input.letter?.written != null) return input.letter.written;
  const { refusal } = parseFolded(input.case.folded);
  const { language, locale } = chooseLanguage(
    [input.letter?.language, input.case.language, input.profile?.language],
    normaliseJurisdiction(input.case.jurisdiction),
  );
  const own = input.letter?.ownAnswer ?? null;
  return refusal === null
    ? {
        step: 'answer',
        language,
        locale,
        text: own?.language === language ? fillOwnText(own.text, { locale }, letterFactsOf(context)) : null,
      }
    : { step: 'refusal', language, locale, text: refusalText(locale, refusal) };
}

/** The names of the files of a pack that are made to be read, without their extensions, in the language of its letter. */
export function packFileNames(context: GatheredPack): LetterTexts['packFiles'] {
  const tag = tagOf(letterOfPack(context));
  const texts = textsIn(tag);
  if (texts === undefined) throw new Error(`there are no texts in ${tag}`);
  return texts.packFiles;
}

/** The language of the letter in a pack, in which its verify.html speaks too. */
export function languageOf(context: GatheredPack): string {
  return letterOfPack(context).language;
}

/** Why the letter in a pack is marked as a draft, in words for the officer; null: it can be sent. */
export async function draftProblem(input: DsarPackInput): Promise<string | null> {
  const context = await gatherPack(input);
  return letterProblem(letterOfPack(context), letterFactsOf(context));
}

const isCopy = (kind: RequestKind) => kind === 'access' || kind === 'portability';

/** What was recorded about each of several rights. */
function partsOf(parts: readonly RequestPart[]): LetterFacts['parts'] {
  return parts.flatMap(({ kind, outcome, ground, note }) =>
    outcome === null
      ? []
      : {
          what: { kind },
          outcome,
          ...(ground === null ? {} : { ground }),
          ...(note === null ? {} : { note }),
        },
  );
}

/**
 * The proof of consent that an erasure leaves. Without records that are linked to this person, there is none to speak of;
 * without the required check, it is not disclosed that there is.
 */
function proofOf({
  input,
  disclosure,
}: Pick<GatheredPack, 'input' | 'disclosure'>): NonNullable<LetterFacts['proof']> | null {
  const { identity, match, profile } = input;
  const isLinked = match.status === 'from-device' || match.status === 'computed';
  if (identity.status !== 'met' || !isLinked || match.subjects.length === 0 || disclosure === 'no-match') return null;
  // Without the part `retention` nothing is erased by itself, whatever period is usual.
  const period = profile?.retention === undefined ? null : retentionPeriodOf(profile, 'decisions');
  return { period: period === null || 'forEver' in period ? null : period };
}

/** The facts for the letters of a case. */
export function letterFactsOf({ input, found, disclosure, texts, banner, withheld }: GatheredPack): LetterFacts {
  const { case: row, deadline, profile, timeZone } = input;
  const folded = parseFolded(input.case.folded);
  const day = (iso: string | null) => (iso === null ? null : dateIn(iso, timeZone));
  const main = requestKinds.find((one) => one === row.kind) ?? 'unknown';
  const { parts = [] } = folded;
  // A right to a copy decides the form of the answer.
  const kind = parts.find((part) => isCopy(part.kind) && part.outcome !== 'refused')?.kind ?? parts[0]?.kind ?? main;
  const further = parts.map((part) => part.kind).filter((one) => one !== kind);
  return {
    caseId: row.case_id,
    requestId: row.request_id,
    kind,
    ...(further.length === 0 ? {} : { further }),
    laws: input.letter?.laws ?? [deadline.regime],
    ...(input.letter?.ownRules === undefined ? {} : { ownRules: input.letter.ownRules }),
    place: normaliseJurisdiction(row.jurisdiction),
    receivedOn: dateIn(row.receipt_at, timeZone),
    madeOn: dateIn(input.generatedAt, timeZone),
    answeredOn: day(folded.answer?.at ?? folded.refusal?.at ?? null),
    limit: input.letter === undefined ? deadline.legalLimit : input.letter.limit,
    firstLimit: input.letter?.firstLimit ?? null,
    irrefusable: input.letter?.irrefusable ?? null,
    requester: {
      name: row.requester_name,
      email: row.requester_email,
      ...(folded.address === undefined ? {} : { address: folded.address }),
      role: folded.identity.requester ?? 'person',
      represented: folded.identity.represented,
    },
    identity: {
      met: input.identity.status === 'met',
      confirmed: input.identity.status === 'met' && input.identity.how !== null,
      unchecked: input.letter?.unchecked ?? false,
    },
    disclosure,
    match: input.match.status,
    ...(input.match.untried === true ? { untried: true } : {}),
    found: { decisions: found.decisions, first: day(found.first), last: day(found.last) },
    enclosed: [
      'history',
      'decisions',
      'records27560',
      ...(withholdingSource(input) !== null ? [] : (['records'] as const)),
      'policies',
      ...(texts.length === 0 ? [] : (['policyTexts'] as const)),
      ...(banner.enclosed ? (['evidence'] as const) : []),
      'about',
    ],
    proof: proofOf({ input, disclosure }),
    withheld: [...withheld].sort(),
    systems: input.systems ?? (profile?.otherSystems ?? []).map(({ name }) => ({ name, result: null })),
    parts: (folded.answer?.parts ?? []).length > 0 ? (folded.answer?.parts ?? []) : partsOf(parts),
    profile,
    sealed:
      input.checkpoint === null ? null : { entries: input.checkpoint.size, verifierKey: input.checkpoint.verifierKey },
    controller: letterhead(input),
  };
}
