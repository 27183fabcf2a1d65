import { crc32, deflateRawSync } from 'node:zlib';

/** A file of an archive, and what its headers say other than usual. */
export interface Part {
  readonly name: string;
  readonly content: Buffer;
  /** Default: 8, deflate. */
  readonly method?: number;
  readonly flags?: number;
  /** The packed bytes, if they are not what the method gives. */
  readonly packed?: Buffer;
  readonly extra?: Buffer;
  readonly comment?: string;
  readonly attributes?: number;
  /** In front of the local header. */
  readonly before?: Buffer;
  /** Sizes and checksum follow the content. */
  readonly descriptor?: boolean;
  /** Differences in the local header alone. */
  readonly local?: {
    readonly name?: string;
    readonly method?: number;
    readonly crc?: number;
    readonly packed?: number;
    readonly unpacked?: number;
    readonly extra?: Buffer;
  };
  /** Differences in the directory alone. `offset`: to be added. */
  readonly central?: { readonly name?: string; readonly unpacked?: number; readonly offset?: number };
  /** Differences in the descriptor. */
  readonly said?: { readonly unpacked: number };
  /** Left out of the directory. */
  readonly hidden?: boolean;
}

/** What surrounds the files. */
export interface Around {
  readonly before?: Buffer;
  /** Between files and directory. */
  readonly between?: Buffer;
  readonly beforeEnd?: Buffer;
  readonly comment?: string;
  readonly after?: Buffer;
  /** Added to the count of the end record. */
  readonly count?: number;
  /** Offsets are counted from the first file, not from the first byte. */
  readonly unadjusted?: boolean;
  /** The order of the directory. */
  readonly order?: (records: readonly Buffer[]) => readonly Buffer[];
}

const u16 = (...values: number[]) => Buffer.concat(values.map((value) => Buffer.from([value & 255, value >>> 8])));
const u32 = (...values: number[]) =>
  Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(value >>> 0);
      return bytes;
    }),
  );
const TIME = u16(0x6000, 0x5ceb);

/** Writes an archive byte by byte, so that every field can be wrong. */
export function zipBytes(parts: readonly Part[], around: Around = {}): Buffer {
  const pieces: Buffer[] = [around.before ?? Buffer.alloc(0)];
  const records: Buffer[] = [];
  const length = () => pieces.reduce((sum, piece) => sum + piece.length, 0);
  const origin = around.unadjusted === true ? length() : 0;
  for (const part of parts) {
    const { name, content, method = 8, descriptor = false, extra = Buffer.alloc(0), local = {}, central = {} } = part;
    const packed = part.packed ?? (method === 8 ? deflateRawSync(content) : content);
    const flags = (part.flags ?? 0x800) | (descriptor ? 8 : 0);
    const crc = crc32(content);
    pieces.push(part.before ?? Buffer.alloc(0));
    const offset = length() - origin + (central.offset ?? 0);
    const localName = Buffer.from(local.name ?? name);
    const localExtra = local.extra ?? extra;
    const sizes = descriptor
      ? u32(0, 0, 0)
      : u32(local.crc ?? crc, local.packed ?? packed.length, local.unpacked ?? content.length);
    pieces.push(
      ...[u32(0x04034b50), u16(20, flags, local.method ?? method), TIME, sizes],
      ...[u16(localName.length, localExtra.length), localName, localExtra, packed],
    );
    if (descriptor) pieces.push(u32(0x08074b50, crc, packed.length, part.said?.unpacked ?? content.length));
    if (part.hidden === true) continue;
    const centralName = Buffer.from(central.name ?? name);
    const comment = Buffer.from(part.comment ?? '');
    records.push(
      Buffer.concat([
        ...[u32(0x02014b50), u16(0x031e, 20, flags, method), TIME],
        ...[u32(crc, packed.length, central.unpacked ?? content.length)],
        ...[u16(centralName.length, extra.length, comment.length, 0, 0)],
        ...[u32(part.attributes ?? 0o100644 * 0x10000, offset), centralName, extra, comment],
      ]),
    );
  }
  pieces.push(around.between ?? Buffer.alloc(0));
  const begin = length() - origin;
  const directory = Buffer.concat([...(around.order?.(records) ?? records)]);
  const count = records.length + (around.count ?? 0);
  const comment = Buffer.from(around.comment ?? '');
  pieces.push(
    ...[directory, around.beforeEnd ?? Buffer.alloc(0), u32(0x06054b50), u16(0, 0, count, count)],
    ...[u32(directory.length, begin), u16(comment.length), comment, around.after ?? Buffer.alloc(0)],
  );
  return Buffer.concat(pieces);
}

/** An additional field of a header. */
export function extraField(id: number, content: Buffer): Buffer {
  return Buffer.concat([u16(id, content.length), content]);
}
