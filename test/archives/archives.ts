import { crc32, deflateRawSync } from 'node:zlib';
import { type Around, extraField, type Part, zipBytes } from './zip-bytes.ts';

/** An archive of a pack, or of something made from one. */
export interface Archive {
  readonly what: string;
  readonly bytes: Buffer;
  /** Whether it holds exactly the files of the pack, in every program's eyes. */
  readonly isGenuine: boolean;
}

const FORGED = Buffer.from('%PDF-1.4 a forged letter');
const LOCATOR = Buffer.concat([Buffer.from('PK\x06\x07', 'latin1'), Buffer.alloc(16)]);
const utf8Name = (name: string, shown: string) => {
  const sum = Buffer.alloc(5, 1);
  sum.writeUInt32LE(crc32(Buffer.from(name)), 1);
  return extraField(0x7075, Buffer.concat([sum, Buffer.from(shown)]));
};

const junk = (name: string): Part => ({ name, content: Buffer.from('x') });

/** Archives on which everything that checks packs has to agree. `files`: those of a pack, by name; `zip`: the pack. */
export function archivesOf(files: ReadonlyMap<string, Buffer>, zip: Buffer): readonly Archive[] {
  const plain: Part[] = [...files].map(([name, content]) => ({ name, content }));
  const letter = 'letter.pdf';
  /** The same, with one file replaced, changed or left out. */
  const but = (name: string, change: (part: Part) => Part | null) =>
    plain.flatMap((part) => (part.name === name ? (change(part) ?? []) : part));
  const withLetter = (change: Partial<Part>) => but(letter, (part) => ({ ...part, ...change }));
  const forged: Part = { name: letter, content: FORGED };
  const altered = zipBytes(withLetter({ content: FORGED }));
  const genuine = (what: string, parts: readonly Part[], around?: Around): Archive => ({
    ...{ what, isGenuine: true, bytes: zipBytes(parts, around) },
  });
  const refused = (what: string, parts: readonly Part[], around?: Around): Archive => ({
    ...{ what, isGenuine: false, bytes: zipBytes(parts, around) },
  });
  const made = (what: string, bytes: Buffer): Archive => ({ what, isGenuine: false, bytes });
  const content = files.get(letter) ?? Buffer.alloc(0);
  const times = extraField(0x5455, Buffer.from([1, 0, 0, 0, 96]));
  const size = zipBytes(plain).length;
  return [
    { what: 'the pack itself', isGenuine: true, bytes: zip },
    genuine('zipped again', plain),
    genuine(
      'stored without compression',
      plain.map((part) => ({ ...part, method: 0 })),
    ),
    genuine(
      'with sizes after the content',
      plain.map((part) => ({ ...part, descriptor: true })),
    ),
    genuine('in another order', plain.toReversed()),
    genuine('in a folder', [
      { name: 'answer/', content: Buffer.alloc(0), method: 0, attributes: 0o040755 * 0x10000 + 0x10 },
      ...plain.map((part) => ({ ...part, name: `answer/${part.name}` })),
    ]),
    genuine(
      'in two folders',
      plain.map((part) => ({ ...part, name: `Für Zoë/answer/${part.name}` })),
    ),
    genuine(
      'with times in an additional field',
      plain.map((part) => ({ ...part, extra: times })),
    ),
    genuine('with what a file manager adds', [
      ...plain.map((part) => ({ ...part, name: `answer/${part.name}` })),
      { name: '__MACOSX/answer/._letter.pdf', content: Buffer.from('x') },
      { name: 'answer/.DS_Store', content: Buffer.from('x') },
    ]),

    genuine('with what systems and sticks add', [
      ...plain.map((part) => ({ ...part, name: `answer/${part.name}` })),
      ...['.DS_Store', '._answer', '__MACOSX/._answer', '__MACOSX/answer/._.DS_Store'].map(junk),
      ...['answer/._manifest.json', 'answer/proofs/._manifest.body', 'answer/.localized', 'answer/.directory'].map(
        junk,
      ),
      ...['answer/Thumbs.db', 'answer/proofs/ehthumbs.db', 'answer/desktop.ini'].map(junk),
    ]),

    made('followed by an altered copy', Buffer.concat([zip, altered])),
    made('zipped again and followed by an altered copy', Buffer.concat([zipBytes(plain), altered])),
    made('an altered copy followed by the pack', Buffer.concat([altered, zip])),
    refused('an altered copy in front, with offsets from the pack', plain, { before: altered, unadjusted: true }),
    refused('an altered copy in front, with offsets from the first byte', plain, { before: altered }),
    refused('a forged letter in front that the directory leaves out', [{ ...forged, hidden: true }, ...plain]),
    refused('a forged letter at the end that the directory leaves out', [...plain, { ...forged, hidden: true }]),
    refused('a forged letter as the first of two', [forged, ...plain]),
    refused('a forged letter as the second of two', [...plain, forged]),
    refused('a forged letter with capitals', [...plain, { ...forged, name: 'LETTER.PDF' }]),
    refused('a forged letter with a dot at the end', [...plain, { ...forged, name: 'letter.pdf.' }]),
    refused('a forged letter in a folder of its own', [...plain, { ...forged, name: './letter.pdf' }]),
    refused('a forged letter outside the folder', [...plain, { ...forged, name: '../letter.pdf' }]),
    refused('a forged letter at the root', [...plain, { ...forged, name: '/letter.pdf' }]),
    refused('a letter that is also a folder', [...plain, { ...forged, name: 'letter.pdf/letter.pdf' }]),
    refused('a forged file behind a backslash', [...plain, { ...forged, name: 'proofs\\1.body' }]),
    refused('a forged letter among what a file manager adds', [...plain, { ...forged, name: '__MACOSX/letter.pdf' }]),
    refused('a name that turns the direction of writing', [...plain, { ...forged, name: 'letter\u202efdp.exe' }]),
    refused('another name in front of the content', withLetter({ local: { name: 'lettes.pdf' } })),
    refused('another name in the directory', withLetter({ central: { name: 'lettes.pdf' } })),
    refused('another name in an additional field', [
      ...plain,
      { ...forged, name: '.DS_Store', extra: utf8Name('.DS_Store', letter) },
    ]),
    refused('another name in an additional field in front of the content', [
      ...plain,
      { ...forged, name: '.DS_Store', local: { extra: utf8Name('.DS_Store', letter) } },
    ]),
    refused('a name in an unknown encoding', [...plain, { ...forged, name: 'Zoë/.DS_Store', flags: 0 }]),
    refused('a size in an additional field', withLetter({ extra: extraField(1, Buffer.alloc(16)) })),
    refused('another size in front of the content', withLetter({ local: { unpacked: FORGED.length } })),
    refused('another packed size in front of the content', withLetter({ local: { packed: 5 } })),
    refused('another checksum in front of the content', withLetter({ local: { crc: 1 } })),
    refused('another method in front of the content', withLetter({ local: { method: 0 } })),
    refused('another size after the content', withLetter({ descriptor: true, said: { unpacked: 5 } })),
    refused('stored content that says later where it ends', withLetter({ method: 0, descriptor: true })),
    refused(
      'bytes after the compressed content',
      withLetter({ packed: Buffer.concat([deflateRawSync(content), FORGED]) }),
    ),
    refused('compressed content that is cut off', withLetter({ packed: deflateRawSync(content).subarray(0, -9) })),
    refused('a link in place of the letter', withLetter({ attributes: 0o120777 * 0x10000 })),
    refused('a letter marked as a folder', withLetter({ attributes: 0x10 })),
    refused('a folder with content', [...plain, { name: 'more/', content: FORGED }]),
    refused('an encrypted letter', withLetter({ flags: 0x801 })),
    refused('a method that few programs know', withLetter({ method: 12 })),
    refused('a comment', plain, { comment: 'see the other letter' }),
    refused('an end record in the comment', plain, { comment: altered.subarray(-22).toString('latin1') }),
    refused('a comment of a file', withLetter({ comment: 'see the other letter' })),
    refused('bytes behind the end', plain, { after: Buffer.from('x') }),
    refused('bytes in front', plain, { before: Buffer.from('PK\x03\x04', 'latin1') }),
    refused('bytes in front of a file', withLetter({ before: FORGED })),
    refused('bytes in front of the directory', plain, { between: FORGED }),
    refused('bytes in front of the end', plain, { beforeEnd: FORGED }),
    refused('a second directory for large archives', plain, { beforeEnd: LOCATOR }),
    refused('a directory in another order', plain, { order: (records) => records.toReversed() }),
    refused('a directory that counts one file less', plain, { count: -1 }),
    refused('a directory that counts one file more', plain, { count: 1 }),
    refused('two records for one run of bytes', [
      ...plain,
      { ...forged, name: 'more.txt', central: { offset: -size } },
    ]),
    refused('a size beyond every limit', withLetter({ central: { unpacked: 0xfffffff0 } })),

    refused('an altered letter', withLetter({ content: FORGED })),
    refused(
      'a missing letter',
      but(letter, () => null),
    ),
    refused('an additional file', [...plain, { name: 'more.txt', content: FORGED }]),
    refused(
      'an altered record',
      but('proofs/1.body', (part) => ({ ...part, content: FORGED })),
    ),
    refused(
      'a removed record',
      but('proofs/1.body', () => null),
    ),
    refused(
      'an altered proof',
      but('proofs/1.tlog-proof', (part) => ({ ...part, content: FORGED })),
    ),
    refused(
      'an altered proof of the list',
      but('proofs/manifest.tlog-proof', (part) => ({ ...part, content: addedTo(part) })),
    ),
    refused(
      'a removed proof of the list',
      but('proofs/manifest.tlog-proof', () => null),
    ),
    refused(
      'an altered entry of the list',
      but('proofs/manifest.body', (part) => ({ ...part, content: addedTo(part) })),
    ),
    refused(
      'another list',
      but('manifest.json', (part) => ({ ...part, content: addedTo(part) })),
    ),
    made('a pack that is cut off', zip.subarray(0, -40)),
    made('a pack with an altered byte', flipped(zip, Math.floor(zip.length / 3))),
  ];
}

const addedTo = ({ content }: Part) => Buffer.concat([content, Buffer.from(' ')]);

function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}
