import { evidenceExtensions, evidenceKindText } from '../../src/banners/evidence.ts';
import { ALL_PURPOSES } from '../../src/core/consent-judgement.ts';
import { readEvidenceFile } from '../../src/ledger/evidence-files.ts';
import type { BannerEvidence } from '../../src/store/queries/history-banners.ts';
import type { JudgedRow } from '../../src/store/queries/history-decisions.ts';
import { noLegalAdvice } from '../create-report.ts';
import { formatCount, formatTime } from '../format.ts';
import { describeText } from '../policy-texts.ts';
import { type Block, fine, table } from '../render/blocks.ts';
import { renderHtml } from '../render/html.tsx';
import { bannerWord, basisWords, notStated, purposesInWords, stateWord, viaWords } from '../words.ts';
import { type GatheredPack, type PackFile, type PackPart, packFrame } from './gather.ts';

/** The person's history as a page that opens in any browser. */
export const historyPage: PackPart = (context) =>
  context.disclosure === 'full'
    ? {
        name: 'history.html',
        what: 'the consent decisions, to read',
        content: renderHtml(packFrame(context, 'Your consent history', 'report'), historyBlocks(context)),
      }
    : null;

function* historyBlocks(context: GatheredPack): Generator<Block> {
  const { input, found, policies, texts } = context;
  const zone = input.timeZone;
  yield {
    block: 'title',
    text: 'Your consent history',
    subtitle: `Case ${input.case.case_id}, as of entry ${formatCount(input.asOf)} of the ledger`,
  };
  yield {
    block: 'paragraph',
    text: `Each line is one decision as recorded: ${formatCount(found.decisions)} in all. Times are in ${zone}. What was granted is permitted until it is withdrawn; disputed records permit nothing. “Withdrawn” and “partly withdrawn”: a purpose granted before was denied.`,
  };
  yield {
    block: 'table',
    caption: 'Decisions, in the order in which they were recorded',
    columns: [
      { title: 'When', share: 3 },
      { title: 'Decision', share: 2 },
      { title: 'Purposes', share: 5 },
      { title: 'Banner', share: 2 },
      { title: 'Policy', share: 3 },
      { title: 'Valid until', share: 2 },
      { title: 'Known from', share: 3 },
      { title: 'Entry', share: 1, align: 'right' },
    ],
    rows: rowsOf(context, zone),
    empty: 'No decisions.',
  };
  yield fine(
    'A decision that the service reported twice (as a delivery and in its log) is listed once; the files decisions.csv and decisions.json have both records. “Contradicts” marks a record that differs from an earlier one of the same decision.',
  );
  yield* readingsHistory(context);
  yield { block: 'heading', level: 1, text: 'Policies at the time' };
  yield table({
    caption: 'As they were reported',
    columns: [
      { title: 'Policy', share: 4, value: (policy) => policy.title ?? policy.policyType ?? policy.policyId },
      { title: 'Version', share: 1, value: (policy) => policy.version ?? notStated },
      { title: 'From', share: 3, value: (policy) => formatTime(policy.from, zone) },
      {
        title: 'Until',
        share: 3,
        value: (policy) => (policy.until === null ? 'open' : formatTime(policy.until, zone)),
      },
    ],
    rows: policies,
    empty: 'No policy that these decisions name was reported.',
  });
  yield {
    block: 'table',
    caption: 'Their texts, as they were fetched',
    columns: [
      { title: 'Text', share: 1 },
      { title: 'Of', share: 4 },
      { title: 'Previous text last seen', share: 3 },
      { title: 'Seen first', share: 3 },
      { title: 'SHA-256 of the text', share: 5, face: 'mono' },
    ],
    rows: texts.map((text, place) => [
      `${place + 1}`,
      describeText(text),
      text.notBefore === null ? '–' : formatTime(text.notBefore, zone),
      formatTime(text.firstSeen, zone),
      text.textSha256 ?? 'no text',
    ]),
    empty: 'No text of a policy that these decisions name was fetched by then.',
  };
  if (texts.length > 0)
    yield fine(
      'The texts are in policy-texts.txt. “Text 1 or 2” beside a decision: the text changed around that time, between the last time the old one was seen and the first time the new one was seen. “Last one seen by then”: it has not been fetched since.',
    );
  yield* bannerHistory(context);
  yield fine(noLegalAdvice);
}

/** Records of the person that the program reads differently than in an earlier answer. */
function* readingsHistory({ readings, input }: GatheredPack): Generator<Block> {
  for (const { reading, entries } of readings) {
    const earlier = reading.documents.filter(({ caseId }) => caseId === input.case.case_id);
    const packs =
      earlier.length === 0
        ? 'No earlier file of this case shows them.'
        : `Files of this case made before show them as they were read then: ${earlier.map(({ name, documentId, at }) => `${name} ${documentId} (${formatTime(at, input.timeZone)})`).join(', ')}.`;
    yield {
      block: 'paragraph',
      text: `Since ${formatTime(reading.at, input.timeZone)} (entry ${formatCount(reading.seq)}), ${entries.length === 1 ? 'this record is' : 'these records are'} read differently: entries ${entries.map(formatCount).join(', ')}. ${packs}`,
    };
  }
}

async function* rowsOf(context: GatheredPack, zone: string): AsyncGenerator<string[]> {
  for await (const row of context.decisions()) {
    if (row.is_first !== 1 && row.conflicts !== 1) continue;
    const time = formatTime(row.at, zone);
    yield [
      row.occurred_counts === 1 && row.occurred_basis !== 'received' ? time : `${time} (${basisWords['received']})`,
      stateInWords(row),
      row.via === 'request' ? withdrawnInWords(row.withdraws) : purposesInWords(row.purposes),
      bannerInWords(row, context),
      policyInWords(row, context),
      row.expires_at === null ? notStated : formatTime(row.expires_at, zone),
      viaWords[row.via] ?? row.via,
      formatCount(row.seq),
    ];
  }
}

/** `Partly withdrawn`, what a contradicting record says, or the case for which a withdrawal was carried out. */
function stateInWords(row: JudgedRow): string {
  if (row.conflicts === 1) return `${stateWord(row.state)} (contradicts)`;
  if (row.disputed === 1) return `Disputed (states: ${stateWord(row.state).toLowerCase()})`;
  return row.case_id === null ? stateWord(row.label) : `${stateWord(row.label)} (case ${row.case_id})`;
}

/** `Main site (banner-main), entry 42`. */
function bannerInWords({ banner_id: bannerId, at }: JudgedRow, { banner, input }: GatheredPack): string {
  const word = bannerWord(bannerId, input);
  if (bannerId === null) return word;
  const seqs = banner.cite({ bannerId, at }).map(({ seq }) => formatCount(seq));
  if (seqs.length === 0) return banner.evidence.length === 0 ? word : `${word}, not evidenced`;
  return `${word}, ${seqs.length === 1 ? 'entry' : 'entries'} ${seqs.join(', ')}`;
}

/** `pol-1, version 3, text 2`. */
function policyInWords(row: JudgedRow, { cite, texts }: GatheredPack): string {
  if (row.policy_id === null) return notStated;
  const version = row.policy_version === null ? '' : `, version ${row.policy_version}`;
  const cited = cite(row);
  const numbers = cited.texts.map((text) => texts.indexOf(text) + 1).join(' or ');
  const text = {
    seen: `, text ${numbers}`,
    'last-seen': `, text ${numbers} (last one seen by then)`,
    changing: `, text ${numbers}`,
    'not-yet-fetched': ', text not fetched yet',
    'never-fetched': ', text not fetched',
    'policy-not-stated': '',
  }[cited.known];
  return `${row.policy_id}${version}${text}`;
}

/** `withdrawn: analytics, marketing`. */
function withdrawnInWords(withdraws: string): string {
  const purposes = JSON.parse(withdraws) as readonly string[];
  const names = purposes.map((purpose) => (purpose === ALL_PURPOSES ? 'every purpose' : purpose));
  return names.length === 0 ? 'nothing was granted' : `withdrawn: ${names.join(', ')}`;
}

/** The path of an evidence file in the pack. */
export function evidenceName({ seq, mediaType }: BannerEvidence): string {
  return `banner-evidence/entry-${seq}.${evidenceExtensions[mediaType]}`;
}

/** The files that show the banners on which the person decided, byte for byte. A missing file is named, never replaced. */
export async function* bannerFiles({ input, banner, disclosure }: GatheredPack): AsyncGenerator<PackFile> {
  if (disclosure !== 'full') return;
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
          Buffer.from(
            `The file of entry ${one.seq} is ${file.state} in the controller's store. Its SHA-256 is ${one.sha256}.\r\n`,
          ),
        ),
      };
  }
}

async function* bytesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The banners as shown, for the history page. */
function* bannerHistory({ input, banner }: GatheredPack): Generator<Block> {
  yield { block: 'heading', level: 1, text: 'Banners as they were shown' };
  if (banner.evidence.length === 0) {
    yield {
      block: 'paragraph',
      text: 'Banner as shown: not evidenced. The records contain the choice, not the screen it was made on.',
    };
    return;
  }
  const zone = input.timeZone;
  yield table({
    caption: 'Files in the folder banner-evidence, named by their entries',
    columns: [
      { title: 'Entry', share: 1, align: 'right', value: (one) => formatCount(one.seq) },
      {
        title: 'Banner',
        share: 3,
        value: (one) => [bannerWord(one.bannerId, input), ...(one.note === null ? [] : [one.note])].join(': '),
      },
      {
        title: 'Shown',
        share: 4,
        value: (one) =>
          `from ${formatTime(one.from, zone)}${one.to === null ? ' on' : ` until ${formatTime(one.to, zone)}`}; added ${formatTime(one.addedAt, zone)}`,
      },
      { title: 'File', share: 4, value: (one) => `${evidenceName(one)} (${evidenceKindText[one.mediaType]})` },
      { title: 'SHA-256 of the file', share: 5, face: 'mono', value: (one) => one.sha256 },
    ],
    rows: banner.evidence,
  });
  yield fine(
    'The Banner column of the decisions gives the entries that show the banner at that time; “not evidenced” if there is none. The ledger proves when a file was added; the period is the statement of the person who added it.',
  );
}
