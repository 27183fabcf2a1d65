import { evidenceExtensions, evidenceKindText } from '../../src/banners/media-type.ts';
import { readEvidenceFile } from '../../src/ledger/evidence-files.ts';
import type { BannerEvidence } from '../../src/store/queries/history-banners.ts';
import { formatCount, formatTime } from '../format.ts';
import type { Block } from '../render/blocks.ts';
import type { PackContext, PackFile } from './context.ts';

/** Where a piece of evidence lies in the pack. */
export function evidenceName({ seq, mediaType }: BannerEvidence): string {
  return `banner-evidence/entry-${seq}.${evidenceExtensions[mediaType]}`;
}

/** The files that show the banners on which the person decided, byte for byte. One that is not there any more is named, never replaced. */
export async function* bannerFiles({ input, banner, disclosure }: PackContext): AsyncGenerator<PackFile> {
  if (disclosure !== 'full') return;
  for (const one of banner.evidence) {
    const file =
      input.evidenceFolder === undefined
        ? { state: 'missing' as const }
        : await readEvidenceFile(input.evidenceFolder, one.sha256);
    const what = `the banner ${one.bannerId} as it was shown (entry ${one.seq})`;
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

/** The banners as they were shown, for the page of the history. */
export function* bannerHistory({ input, banner }: PackContext): Generator<Block> {
  yield { block: 'heading', level: 1, text: 'Banners as they were shown' };
  if (banner.evidence.length === 0) {
    yield {
      block: 'paragraph',
      text: 'Banner as shown: not evidenced. The records hold the choice, not the screen on which it was made.',
    };
    return;
  }
  const zone = input.timeZone;
  yield {
    block: 'table',
    caption: 'Files in the folder banner-evidence, named by their entries',
    columns: [
      { title: 'Entry', share: 1, align: 'right' },
      { title: 'Banner', share: 3 },
      { title: 'Shown', share: 4 },
      { title: 'File', share: 4 },
      { title: 'SHA-256 of the file', share: 5, face: 'mono' },
    ],
    rows: banner.evidence.map((one) => [
      formatCount(one.seq),
      one.note === null ? one.bannerId : `${one.bannerId}: ${one.note}`,
      `from ${formatTime(one.from, zone)}${one.to === null ? ' on' : ` until ${formatTime(one.to, zone)}`}; added ${formatTime(one.addedAt, zone)}`,
      `${evidenceName(one)} (${evidenceKindText[one.mediaType]})`,
      one.sha256,
    ]),
    empty: '',
  };
  yield {
    block: 'paragraph',
    look: 'fine',
    text: 'The column Banner of the decisions names the entries that show it at that time; “not evidenced” where none does. When a file was added is proven; the period is the word of the person who added it.',
  };
}
