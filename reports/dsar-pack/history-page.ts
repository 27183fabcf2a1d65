import { evidenceExtensions } from '../../src/banners/evidence.ts';
import { readEvidenceFile } from '../../src/ledger/evidence-files.ts';
import type { BannerEvidence } from '../../src/store/queries/history-banners.ts';
import type { JudgedRow } from '../../src/store/queries/history-decisions.ts';
import { type Block, type Frame, fine, table } from '../render/blocks.ts';
import { renderHtml } from '../render/html.tsx';
import { bannerWord } from '../words.ts';
import {
  type GatheredPack,
  letterhead,
  type PackFile,
  type PackPart,
  withheldInWords,
  withholdingSource,
} from './gather.ts';
import { type HistoryWords, historyWords } from './history-words.ts';
import { packFileNames } from './letter.ts';
import { readmeTextsIn } from './readme-texts.ts';

/** The person's history as a page that opens in any browser, in the language of the letter. */
export const historyPage: PackPart = (context) => {
  if (context.disclosure !== 'full') return null;
  const words = historyWords(context);
  return {
    name: `${packFileNames(context).history}.html`,
    what: 'the consent decisions, to read',
    content: renderHtml(historyFrame(context, words), historyBlocks(context, words)),
  };
};

function historyFrame({ input, reference }: GatheredPack, { tag, texts, say, count }: HistoryWords): Frame {
  return {
    title: texts.title,
    owner: letterhead(input).split('\n')[0] ?? '',
    footer: say(texts.footer, { reference: input.case.case_id, document: reference, entry: count(input.asOf) }),
    language: tag,
    producer: `consent-ledger ${input.version}`,
    createdAt: input.generatedAt,
    watermark: input.sample ? 'SAMPLE' : null,
    kind: 'report',
  };
}

function* historyBlocks(context: GatheredPack, words: HistoryWords): Generator<Block> {
  const { input, found } = context;
  const { texts, say, count, tag } = words;
  const { columns } = texts;
  yield {
    block: 'title',
    text: texts.title,
    subtitle: say(texts.subtitle, { reference: input.case.case_id, entry: count(input.asOf) }),
  };
  yield {
    block: 'paragraph',
    text: say(texts.lead, { count: count(found.decisions), zone: input.timeZone }),
  };
  yield {
    block: 'table',
    caption: texts.decisions,
    columns: [
      { title: columns.when, share: 3 },
      { title: columns.decision, share: 2 },
      { title: columns.purposes, share: 5 },
      { title: columns.banner, share: 2 },
      { title: columns.policy, share: 3 },
      { title: columns.validUntil, share: 2 },
      { title: columns.knownFrom, share: 3 },
      { title: columns.entry, share: 1, align: 'right' },
    ],
    rows: rowsOf(context, words),
    empty: texts.noDecisions,
  };
  yield fine(texts.twice);
  yield* readingsHistory(context, words);
  yield* policyHistory(context, words);
  yield* bannerHistory(context, words);
  yield fine(readmeTextsIn(tag).noLegalAdvice);
}

/** Records of the person that the program reads differently than in an earlier answer. */
function* readingsHistory(
  { readings, input }: GatheredPack,
  { texts, say, time, count }: HistoryWords,
): Generator<Block> {
  const { reread } = texts;
  for (const { reading, entries } of readings) {
    const earlier = reading.documents.filter(({ caseId }) => caseId === input.case.case_id);
    const files = earlier.map(({ name, documentId, at }) => `${name} ${documentId} (${time(at)})`).join(', ');
    const since = { time: time(reading.at), entry: count(reading.seq), entries: entries.map(count).join(', ') };
    yield {
      block: 'paragraph',
      text: [
        say(entries.length === 1 ? reread.one : reread.several, since),
        earlier.length === 0 ? reread.inNone : say(reread.in, { files }),
      ].join(' '),
    };
  }
}

/** The policies that the decisions name, and their texts. */
function* policyHistory(context: GatheredPack, words: HistoryWords): Generator<Block> {
  const { policies, texts: found } = context;
  const { texts, say, time } = words;
  const { policies: said, texts: saidOfTexts, cells } = texts;
  yield { block: 'heading', level: 1, text: said.heading };
  yield table({
    caption: said.caption,
    columns: [
      { title: said.policy, share: 4, value: (policy) => policy.title ?? policy.policyType ?? policy.policyId },
      { title: said.version, share: 1, value: (policy) => policy.version ?? cells.notStated },
      { title: said.from, share: 3, value: (policy) => time(policy.from) },
      { title: said.until, share: 3, value: (policy) => (policy.until === null ? said.open : time(policy.until)) },
    ],
    rows: policies,
    empty: said.none,
  });
  yield {
    block: 'table',
    caption: saidOfTexts.caption,
    columns: [
      { title: saidOfTexts.text, share: 1 },
      { title: saidOfTexts.of, share: 4 },
      { title: saidOfTexts.previousSeen, share: 3 },
      { title: saidOfTexts.firstSeen, share: 3 },
      { title: saidOfTexts.sha256, share: 5, face: 'mono' },
    ],
    rows: found.map((text, place) => [
      `${place + 1}`,
      words.textOf(text),
      text.notBefore === null ? '–' : time(text.notBefore),
      time(text.firstSeen),
      text.textSha256 ?? saidOfTexts.noText,
    ]),
    empty: saidOfTexts.none,
  };
  if (found.length > 0) yield fine(say(saidOfTexts.note, { file: `${packFileNames(context).policyTexts}.txt` }));
}

async function* rowsOf(context: GatheredPack, words: HistoryWords): AsyncGenerator<string[]> {
  const { texts, say, time, count } = words;
  const { cells } = texts;
  const source = withholdingSource(context.input);
  const inWords = { template: cells.withheld, types: cells.withheldTypes };
  for await (const row of context.decisions()) {
    if (row.is_first !== 1 && row.conflicts !== 1) continue;
    const at = time(row.at);
    const cellsOfRow = [
      row.occurred_counts === 1 && row.occurred_basis !== 'received' ? at : say(cells.received, { time: at }),
      stateInWords(row, words),
      row.via === 'request' ? withdrawnInWords(row.withdraws, words) : words.choices(row.purposes),
      bannerInWords(row, context, words),
      policyInWords(row, context, words),
      row.expires_at === null ? cells.notStated : time(row.expires_at),
      cells.via[row.via],
      count(row.seq),
    ];
    yield cellsOfRow.map((cell) => withheldInWords(cell, source, inWords));
  }
}

/** `Partly withdrawn`, what a contradicting record says, or the case for which a withdrawal was carried out. */
function stateInWords(row: JudgedRow, { texts: { cells }, say }: HistoryWords): string {
  const state = cells.states[row.state];
  if (row.conflicts === 1) return say(cells.contradicts, { state });
  if (row.disputed === 1) return say(cells.disputed, { state: state.toLowerCase() });
  const label = cells.states[row.label];
  return row.case_id === null ? label : say(cells.ofCase, { state: label, case: row.case_id });
}

/** `Main site (banner-main), entry 42`. */
function bannerInWords(
  { banner_id: bannerId, at }: JudgedRow,
  { banner, input }: GatheredPack,
  { texts: { cells }, say, count }: HistoryWords,
): string {
  if (bannerId === null) return cells.notStated;
  const word = bannerWord(bannerId, input);
  const entries = banner.cite({ bannerId, at }).map(({ seq }) => count(seq));
  if (entries.length === 0) return banner.evidence.length === 0 ? word : `${word}, ${cells.notEvidenced}`;
  const shown = entries.length === 1 ? cells.shownIn : cells.shownInSeveral;
  return `${word}, ${say(shown, { entries: entries.join(', ') })}`;
}

/** `pol-1, version 3, text 2`. */
function policyInWords(row: JudgedRow, { cite, texts: found }: GatheredPack, words: HistoryWords): string {
  const { cells } = words.texts;
  if (row.policy_id === null) return cells.notStated;
  const { known, texts } = cite(row);
  const numbers = words.oneOf(texts.map((text) => `${found.indexOf(text) + 1}`));
  return [
    row.policy_id,
    ...(row.policy_version === null ? [] : [words.say(cells.version, { version: row.policy_version })]),
    ...(known === 'policy-not-stated' ? [] : [words.say(cells.text[known], { numbers })]),
  ].join(', ');
}

/** `withdrawn: analytics, marketing`. */
function withdrawnInWords(withdraws: string, { texts: { cells }, say, purposes }: HistoryWords): string {
  const names = JSON.parse(withdraws) as readonly string[];
  return names.length === 0 ? cells.nothingGranted : say(cells.withdrawn, { purposes: purposes(names) });
}

/** The path of an evidence file in the pack. */
export function evidenceName({ seq, mediaType }: BannerEvidence): string {
  return `banner-evidence/entry-${seq}.${evidenceExtensions[mediaType]}`;
}

/** The files that show the banners on which the person decided, byte for byte. A missing file is named, never replaced. */
export async function* bannerFiles(context: GatheredPack): AsyncGenerator<PackFile> {
  const { input, banner, disclosure } = context;
  if (disclosure !== 'full') return;
  const { texts, say, count } = historyWords(context);
  for (const one of banner.evidence) {
    const file =
      input.evidenceFolder === undefined
        ? { state: 'missing' as const }
        : await readEvidenceFile(input.evidenceFolder, one.sha256);
    const what = `the banner ${bannerWord(one.bannerId, input)} as it was shown (entry ${one.seq})`;
    if (file.state === 'sound') yield { name: evidenceName(one), what, content: bytesOf(file.bytes) };
    else
      yield {
        name: `banner-evidence/entry-${one.seq}-${file.state}.txt`,
        what: `${what}: its file is ${file.state}`,
        content: bytesOf(
          Buffer.from(`${say(texts.lostEvidence[file.state], { entry: count(one.seq), sha256: one.sha256 })}\r\n`),
        ),
      };
  }
}

async function* bytesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The banners as shown, for the history page. */
function* bannerHistory({ input, banner }: GatheredPack, words: HistoryWords): Generator<Block> {
  const { texts, say, time, count } = words;
  const { banners, columns, mediaTypes } = texts;
  yield { block: 'heading', level: 1, text: banners.heading };
  if (banner.evidence.length === 0) {
    yield { block: 'paragraph', text: banners.notEvidenced };
    return;
  }
  yield table({
    caption: banners.caption,
    columns: [
      { title: columns.entry, share: 1, align: 'right', value: (one) => count(one.seq) },
      {
        title: columns.banner,
        share: 3,
        value: (one) => [bannerWord(one.bannerId, input), ...(one.note === null ? [] : [one.note])].join(': '),
      },
      {
        title: banners.shown,
        share: 4,
        value: ({ from, to, addedAt }) => {
          const times = { from: time(from), added: time(addedAt) };
          return to === null ? say(banners.shownSince, times) : say(banners.shownUntil, { ...times, to: time(to) });
        },
      },
      { title: banners.file, share: 4, value: (one) => `${evidenceName(one)} (${mediaTypes[one.mediaType]})` },
      { title: banners.sha256, share: 5, face: 'mono', value: (one) => one.sha256 },
    ],
    rows: banner.evidence,
  });
  yield fine(banners.note);
}
