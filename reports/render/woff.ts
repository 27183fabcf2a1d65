import { inflateSync } from 'node:zlib';

const HEADER_BYTES = 44;
const ENTRY_BYTES = 20;
const SFNT_HEADER_BYTES = 12;
const SFNT_ENTRY_BYTES = 16;

/**
 * The font that a WOFF file contains (WOFF File Format 1.0 §3 to §5), as a TrueType or OpenType file. fontkit reads WOFF too, but decompresses a
 * whole table for every glyph.
 */
export function unpackWoff(woff: Buffer): Buffer {
  const count = woff.readUInt16BE(12);
  const head = Buffer.alloc(SFNT_HEADER_BYTES + count * SFNT_ENTRY_BYTES);
  woff.copy(head, 0, 4, 8);
  head.writeUInt16BE(count, 4);
  // For a binary search of the directory.
  const power = Math.floor(Math.log2(count));
  head.writeUInt16BE(SFNT_ENTRY_BYTES << power, 6);
  head.writeUInt16BE(power, 8);
  head.writeUInt16BE((count - (1 << power)) * SFNT_ENTRY_BYTES, 10);
  const parts: Buffer[] = [head];
  let end = head.length;
  for (let i = 0; i < count; i += 1) {
    const entry = woff.subarray(HEADER_BYTES + i * ENTRY_BYTES);
    const [offset, packedLength, length] = [entry.readUInt32BE(4), entry.readUInt32BE(8), entry.readUInt32BE(12)];
    const packed = woff.subarray(offset, offset + packedLength);
    const table = packedLength < length ? inflateSync(packed) : packed;
    const at = SFNT_HEADER_BYTES + i * SFNT_ENTRY_BYTES;
    entry.copy(head, at, 0, 4);
    entry.copy(head, at + 4, 16, 20);
    head.writeUInt32BE(end, at + 8);
    head.writeUInt32BE(length, at + 12);
    // Tables begin at multiples of four.
    const padding = Buffer.alloc(-length & 3);
    parts.push(table, padding);
    end += table.length + padding.length;
  }
  return Buffer.concat(parts);
}
