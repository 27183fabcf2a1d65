import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { ZipArchive } from 'archiver';

/** A file of an archive. Its content is only asked for when its turn has come. */
export interface ZipFile {
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Files as a ZIP archive, in the order given, all with the same date, so that the same files give the same bytes.
 * `date` is ISO 8601; the archive keeps it in UTC, to two seconds, and nothing before 1980.
 */
export async function* renderZip(
  files: Iterable<ZipFile> | AsyncIterable<ZipFile>,
  date: string,
): AsyncGenerator<Uint8Array> {
  // Loaded where it is used: most commands make no archive and start sooner without it.
  const { ZipArchive } = await import('archiver');
  const archive = new ZipArchive({ zlib: { level: 6 } });
  const feeding = feed(archive, files, new Date(date)).catch((error: unknown) => {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  try {
    for await (const chunk of archive) yield chunk as Uint8Array;
    await feeding;
  } finally {
    archive.destroy();
  }
}

async function feed(archive: ZipArchive, files: Iterable<ZipFile> | AsyncIterable<ZipFile>, date: Date): Promise<void> {
  const names = new Set<string>();
  for await (const { name, content } of files) {
    if (names.has(name)) throw new Error(`two files of the archive are named ${name}`);
    names.add(name);
    const source = Readable.from(content, { objectMode: false });
    // archiver pipes its sources, and a pipe does not carry errors.
    const failed = new Promise<never>((_, reject) => source.once('error', reject));
    const stored = once(archive, 'entry');
    stored.catch(() => {});
    archive.append(source, { name, date, mode: 0o644 });
    await Promise.race([stored, failed]);
  }
  await archive.finalize();
}
