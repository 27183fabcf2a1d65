import { changedPhrase } from '../src/core/reading-change.ts';
import type { AdoptedReading } from '../src/store/queries/history-readings.ts';
import { rangesIn } from '../src/store/queries/history-readings.ts';
import { counted, formatCount, formatTime } from './format.ts';
import { type Block, fine, table } from './render/blocks.ts';

/** Entries that are named in a sentence; the others are in the ledger entry that is cited. */
const RANGES_NAMED = 40;

/** What a later version of the program reads differently, and which earlier documents it concerns. Nothing if that never happened. */
export function* earlierReadingBlocks(readings: readonly AdoptedReading[], timeZone: string): Generator<Block> {
  if (readings.length === 0) return;
  yield { block: 'heading', level: 2, text: 'Records that are read differently since' };
  for (const reading of readings) {
    yield { block: 'paragraph', text: earlierReadingText(reading, timeZone) };
    if (reading.documentsBefore === 0) continue;
    yield table({
      caption: `Documents made with the earlier reading that cover such records: ${reading.documents.length === 0 ? 'none' : formatCount(reading.documents.length)} of ${formatCount(reading.documentsBefore)}`,
      columns: [
        { title: 'Document', share: 4, value: ({ name, caseId }) => (caseId === null ? name : `${name} (${caseId})`) },
        { title: 'Id', share: 4, face: 'mono', value: ({ documentId }) => documentId },
        { title: 'Made', share: 3, value: ({ at }) => formatTime(at, timeZone) },
        { title: 'Entry', share: 1, align: 'right', value: ({ seq }) => formatCount(seq) },
      ],
      rows: reading.documents,
      empty: 'None of them shows a record that is read differently.',
    });
  }
  yield fine(
    'The records themselves were not changed: what is in the ledger is what was received. Only what the program reads from them is different. Made again as of the same entry, a document that is named here shows the newer reading.',
  );
}

/** `On …, version 2 of the reading was put in force (entry 812). Of this source, 5 consents became refusals: entries 12–14, 19.` */
export function earlierReadingText({ at, seq, version, changes, entries }: AdoptedReading, timeZone: string): string {
  const ranges = rangesIn(entries);
  const named = ranges
    .slice(0, RANGES_NAMED)
    .map(({ from, to }) => (from === to ? formatCount(from) : `${formatCount(from)}–${formatCount(to)}`))
    .join(', ');
  const more = ranges.length > RANGES_NAMED ? ` and more, all listed in entry ${formatCount(seq)}` : '';
  const total = ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return `On ${formatTime(at, timeZone)}, version ${version} of the reading was put in force (entry ${formatCount(seq)}): ${changes
    .map(({ change, count }) => changedPhrase(change, count))
    .join(', ')}. ${counted(total, 'entry is', 'entries are')} concerned: ${named}${more}.`;
}
