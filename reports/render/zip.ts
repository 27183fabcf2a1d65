import { type PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ZipFile as ZipWriter } from 'yazl';

/** A file of an archive. Its content is requested only when its turn has come. */
export interface ZipFile {
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Writes files into a ZIP archive, in the order given and all with the same date, so that the same files give the same
 * bytes. `date` is ISO 8601; the archive stores it in UTC, to two seconds, not before 1980.
 */
export async function* renderZip(
  files: Iterable<ZipFile> | AsyncIterable<ZipFile>,
  date: string,
): AsyncGenerator<Uint8Array> {
  // Imported here because most commands make no archive and start faster without it.
  const { ZipFile: Writer } = await import('yazl');
  const writer = new Writer();
  // The declared type is narrower than the actual one.
  const output = writer.outputStream as PassThrough;
  const stop = new AbortController();
  writer.on('error', (error: Error) => output.destroy(error));
  const feeding = feed(writer, files, new UtcDate(date), stop.signal).catch((error: unknown) => {
    output.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  try {
    for await (const chunk of output) yield chunk as Uint8Array;
    await feeding;
  } finally {
    stop.abort();
    output.destroy();
  }
}

async function feed(
  writer: ZipWriter,
  files: Iterable<ZipFile> | AsyncIterable<ZipFile>,
  mtime: Date,
  signal: AbortSignal,
): Promise<void> {
  const names = new Set<string>();
  for await (const { name, content } of files) {
    if (names.has(name)) throw new Error(`two files of the archive are named ${name}`);
    names.add(name);
    const source = Readable.from(content, { objectMode: false, signal });
    const read = finished(source);
    // `forceDosTimestamp`: omit the extra field that repeats the time with zone and seconds.
    writer.addReadStream(source, name, { mtime, mode: 0o100644, compressionLevel: 6, forceDosTimestamp: true });
    await read;
  }
  writer.end();
}

/**
 * The format has no time zone and the library uses local time. This date returns UTC instead, so that the bytes do not
 * depend on the machine's zone.
 */
class UtcDate extends Date {
  override getFullYear = () => this.getUTCFullYear();
  override getMonth = () => this.getUTCMonth();
  override getDate = () => this.getUTCDate();
  override getHours = () => this.getUTCHours();
  override getMinutes = () => this.getUTCMinutes();
  override getSeconds = () => this.getUTCSeconds();
}
