import { evidenceKindText } from '../../src/banners/evidence.ts';
import { type BannerEvidence, createBannerCitation } from '../../src/store/queries/history-banners.ts';
import type { Period } from '../../src/store/queries/scope.ts';
import { formatCount, formatTime } from '../format.ts';
import { type Block, fine, table } from '../render/blocks.ts';
import type { ReportInput } from '../report.ts';
import { bannerWord } from '../words.ts';

/** A part of the period in which the same evidence showed a banner, and the decisions made on it then. */
interface BannerStretch {
  readonly bannerId: string | null;
  /** ISO 8601 UTC, `to` exclusive. */
  readonly from: string;
  readonly to: string;
  readonly decisions: number;
  /** Entries of the evidence; empty: the banner as shown is not evidenced. */
  readonly evidence: readonly number[];
}

export interface BannerAudit {
  readonly evidence: readonly BannerEvidence[];
  readonly stretches: readonly BannerStretch[];
  readonly evidenced: number;
  readonly notEvidenced: number;
}

/** Decisions of the whole period about one banner; null: those that name none. */
interface BannerCount {
  readonly bannerId: string | null;
  readonly decisions: number;
}

/** Which evidence each banner had in which part of the period (EDPB 05/2020 §108), and how many decisions rest on it. */
export async function loadBannerAudit(
  { history }: Pick<ReportInput, 'history'>,
  period: Period,
  byBanner: readonly BannerCount[],
): Promise<BannerAudit> {
  const all = await history.bannerEvidence(period);
  const evidence = all.filter(({ from, to }) => from < period.to && (to === null || to > period.from));
  const cite = createBannerCitation(evidence);
  const bounds = new Set([period.from]);
  for (const { from, to, retraction } of evidence) {
    if (retraction !== null) continue;
    if (from > period.from) bounds.add(from);
    if (to !== null && to < period.to) bounds.add(to);
  }
  const starts = [...bounds].sort();
  const stretches: BannerStretch[] = [];
  for (const [place, from] of starts.entries()) {
    const to = starts[place + 1] ?? period.to;
    const counts = starts.length === 1 ? byBanner : await history.decisionsByBanner({ ...period, from, to });
    for (const { bannerId, decisions } of counts) {
      const cited = cite({ bannerId, at: from }).map(({ seq }) => seq);
      const before = stretches.findLast((one) => one.bannerId === bannerId);
      // Join adjacent parts with the same evidence: the boundary between them was another banner's.
      if (before?.to === from && String(before.evidence) === String(cited))
        stretches[stretches.indexOf(before)] = { ...before, to, decisions: before.decisions + Number(decisions) };
      else stretches.push({ bannerId, from, to, decisions: Number(decisions), evidence: cited });
    }
  }
  stretches.sort((a, b) => {
    const [first, second] = [a.bannerId ?? '', b.bannerId ?? ''];
    return first < second ? -1 : first > second ? 1 : a.from < b.from ? -1 : 1;
  });
  const sum = (some: readonly BannerStretch[]) => some.reduce((total, { decisions }) => total + decisions, 0);
  return {
    evidence,
    stretches,
    evidenced: sum(stretches.filter((one) => one.evidence.length > 0)),
    notEvidenced: sum(stretches.filter((one) => one.evidence.length === 0)),
  };
}

/** Rows on a page; the JSON has all of them. */
const ROWS = 40;

export function* bannerBlocks(audit: BannerAudit, input: ReportInput): Generator<Block> {
  const time = (at: string) => formatTime(at, input.timeZone).replace(/, /, ',\n');
  const total = audit.evidenced + audit.notEvidenced;
  yield {
    block: 'paragraph',
    text:
      audit.evidenced === 0
        ? 'Banner as shown: not evidenced. No screenshot or text of a banner was added for this period; the records contain the choice, not the screen it was made on.'
        : `For ${formatCount(audit.evidenced)} of ${formatCount(total)} decisions there is evidence of the banner as it was shown. The ledger proves when a file was added; that the banner looked like this, and in which period, is the statement of the officer who added it.`,
  };
  if (audit.evidence.length === 0) return;
  yield table({
    caption: 'Decisions by banner evidence',
    columns: [
      { title: 'Banner', share: 3, value: ({ bannerId }) => bannerWord(bannerId, input) },
      { title: 'From', share: 2.6, value: ({ from }) => formatTime(from, input.timeZone) },
      { title: 'Until', share: 2.6, value: ({ to }) => formatTime(to, input.timeZone) },
      {
        title: 'Evidence',
        share: 3.6,
        value: ({ evidence }) =>
          evidence.length === 0 ? 'not evidenced' : evidence.map((seq) => `entry ${formatCount(seq)}`).join(', '),
      },
      { title: 'Decisions', share: 1.7, align: 'right', value: ({ decisions }) => formatCount(decisions) },
    ],
    rows: audit.stretches.slice(0, ROWS),
    total: ['All', '', '', '', formatCount(total)],
    empty: 'No decision was made in the period.',
  });
  yield table({
    caption: 'Files that show a banner',
    columns: [
      { title: 'Entry', share: 1, align: 'right', value: (one) => formatCount(one.seq) },
      {
        title: 'Banner and file',
        share: 4,
        value: (one) =>
          [
            bannerWord(one.bannerId, input),
            `${one.fileName} (${evidenceKindText[one.mediaType]})`,
            ...(one.note === null ? [] : [one.note]),
            ...(one.retraction === null ? [] : [`retracted: ${one.retraction.reason} (entry ${one.retraction.seq})`]),
          ].join('\n'),
      },
      { title: 'Shown', share: 2.6, value: (one) => `${time(one.from)}\n– ${one.to === null ? 'open' : time(one.to)}` },
      { title: 'Added', share: 2.8, value: (one) => `${time(one.addedAt)}\nby ${one.actor}` },
      { title: 'SHA-256 of the file', share: 4.8, face: 'mono', value: (one) => one.sha256 },
    ],
    rows: audit.evidence.slice(0, ROWS),
  });
  if (audit.stretches.length > ROWS || audit.evidence.length > ROWS)
    yield fine(`The first ${ROWS} rows of each table are shown; the JSON form has all.`);
}
