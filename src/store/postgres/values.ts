/** OIDs of the column types in use (pg_type.dat). */
export const oid = {
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  float4: 700,
  float8: 701,
  numeric: 1700,
} as const;

/** How a value of a type is read: numbers as numbers, bytes as a Buffer, anything else as the database's text. */
export function parserOf(type: number): (text: string) => unknown {
  switch (type) {
    case oid.int8:
    case oid.numeric:
      return safeNumber;
    case oid.int2:
    case oid.int4:
    case oid.float4:
    case oid.float8:
      return Number;
    case oid.bytea:
      return readBytes;
    default:
      return (text) => text;
  }
}

/**
 * Counts and sums come as text, because they may exceed a number's safe range. If so they stay text, which is at least
 * not a wrong number. None of our numbers is that large; this does not throw, so that `verify` can name the row that
 * someone altered.
 */
function safeNumber(text: string): number | string {
  const value = Number(text);
  return Math.abs(value) > Number.MAX_SAFE_INTEGER ? text : value;
}

function readBytes(text: string): Buffer {
  if (!text.startsWith('\\x')) throw new Error('bytea_output must be hex');
  return Buffer.from(text.slice(2), 'hex');
}

/**
 * A text as PostgreSQL can store it: U+0000 becomes U+FFFD, as lone surrogates do in UTF-8. Applied to stored values
 * and conditions alike, so that what was written under a key is found under it.
 */
export function storedText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

/**
 * An array in PostgreSQL's binary form, which `pg` sends unchanged. As text, bytes would double as hex and strings be
 * scanned for quotes. An array is one parameter, however long (a statement can have 65,535).
 */
export function binaryArray(type: number, values: readonly unknown[]): Buffer {
  const write = writerOf(type);
  const cells = values.map((value) => (value === null ? null : write(value)));
  const size = cells.reduce((sum, cell) => sum + 4 + (cell?.length ?? 0), 20);
  const packed = Buffer.allocUnsafe(size);
  packed.writeInt32BE(cells.length === 0 ? 0 : 1, 0);
  packed.writeInt32BE(cells.includes(null) ? 1 : 0, 4);
  packed.writeInt32BE(type, 8);
  if (cells.length === 0) return packed.subarray(0, 12);
  packed.writeInt32BE(cells.length, 12);
  packed.writeInt32BE(1, 16);
  let at = 20;
  for (const cell of cells) {
    at = packed.writeInt32BE(cell === null ? -1 : cell.length, at);
    if (cell !== null) {
      packed.set(cell, at);
      at += cell.length;
    }
  }
  return packed;
}

function writerOf(type: number): (value: unknown) => Uint8Array {
  switch (type) {
    case oid.text:
      return (value) => {
        if (typeof value !== 'string') throw new TypeError(`a text column cannot hold a ${typeof value}`);
        return Buffer.from(storedText(value), 'utf8');
      };
    case oid.int4:
      return (value) => {
        const cell = Buffer.allocUnsafe(4);
        cell.writeInt32BE(wholeNumber(value));
        return cell;
      };
    case oid.int8:
      return (value) => {
        const cell = Buffer.allocUnsafe(8);
        cell.writeBigInt64BE(BigInt(wholeNumber(value)));
        return cell;
      };
    case oid.float8:
      return (value) => {
        if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError(`not a number: ${String(value)}`);
        const cell = Buffer.allocUnsafe(8);
        cell.writeDoubleBE(value);
        return cell;
      };
    case oid.bytea:
      return (value) => {
        if (!(value instanceof Uint8Array)) throw new TypeError(`a column of bytes cannot hold a ${typeof value}`);
        return value;
      };
    default:
      throw new TypeError(`columns of type ${type} are not used`);
  }
}

function wholeNumber(value: unknown): number {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'number' || !Number.isSafeInteger(value))
    throw new TypeError(`not a whole number: ${String(value)}`);
  return value;
}
