import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { renderZip, type ZipFile } from '../../reports/render/zip.ts';
import type { Context } from '../context/context.ts';
import { isoNow } from '../core/clock.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { createTally } from '../crypto/hash.ts';
import type { JobHandler } from '../jobs/job.ts';
import type { NewJob } from '../jobs/jobs.ts';
import { appendAction } from '../ledger/append-action.ts';
import { exportEverything } from './export.ts';

/** Hours for which an export can be downloaded, because it is not encrypted. */
export const EXPORT_HOURS = 24;

const resultSchema = z.object({
  file: z.string().regex(/^[\w-]+\.zip$/),
  bytes: z.number(),
  sha256: z.string(),
  /** The last entry it contains. */
  upTo: z.number(),
  files: z.number(),
  /** Missing files named by entries, in sentences. */
  faults: z.array(z.string()),
});

/** An export as a file. */
export type ExportFile = z.infer<typeof resultSchema>;

type Needs = Pick<
  Context,
  | 'store'
  | 'seal'
  | 'refusal'
  | 'projector'
  | 'clock'
  | 'config'
  | 'sources'
  | 'verifierKey'
  | 'instance'
  | 'epoch'
  | 'version'
  | 'ledger'
>;

/** A job that exports everything as a ZIP. Enqueuing it again while one is pending or running gives the same job. */
export function exportJob(actor: string): NewJob {
  return { kind: 'export', key: 'export', payload: { actor }, maxAttempts: 2 };
}

/** The result of an export job; null if it has none. */
export function exportOf(result: unknown): ExportFile | null {
  return resultSchema.safeParse(result).data ?? null;
}

/** The path of an export. */
function exportPath(dataDir: string, { file }: Pick<ExportFile, 'file'>): string {
  return join(folderOf(dataDir), file);
}

/** The job that writes everything into a ZIP, like `export` into a folder. The previous one is removed. */
export function createExportJobs(context: Needs) {
  const { config, clock, instance, ledger } = context;
  return {
    async export(payload, { signal, progress, assertHeld }) {
      const actor = z.object({ actor: z.string() }).parse(payload).actor;
      const root = folderOf(config.dataDir);
      await rm(root, { recursive: true, force: true });
      await mkdir(root, { recursive: true, mode: 0o700 });
      const madeAt = isoNow(clock);
      const name = `consent-ledger-export-${instance}-${madeAt.slice(0, 16).replace(/[-:]/g, '')}`;
      const folder = join(root, name);
      try {
        const report = await exportEverything({
          context,
          folder,
          onProgress(done, total) {
            signal.throwIfAborted();
            progress({ done, total, message: 'entries written' });
          },
        });
        progress({ done: report.seq, total: report.seq, message: 'packing' });
        const draft = `${folder}.zip`;
        const { bytes, sha256 } = await writeZip({ folder, name, path: draft, date: madeAt }, signal);
        await assertHeld();
        const made = { file: `${name}.zip`, bytes, sha256, upTo: report.seq };
        await appendAction(
          ledger,
          INSTALLATION,
          { action: 'export.made', actor, ...made },
          ['export.made', sha256],
          isoNow(clock),
        );
        return { ...made, files: report.files, faults: [...report.faults] } satisfies ExportFile;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  } satisfies Record<string, JobHandler>;
}

async function writeZip(
  {
    folder,
    name,
    path,
    date,
  }: { readonly folder: string; readonly name: string; readonly path: string; readonly date: string },
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  function* members(): Generator<ZipFile> {
    for (const file of files) {
      const inside = file.slice(folder.length + 1).replaceAll('\\', '/');
      yield { name: `${name}/${inside}`, content: createReadStream(file) as AsyncIterable<Buffer> };
    }
  }
  const tally = createTally();
  const zip = tally.pass(renderZip(members(), date));
  await pipeline(zip, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
  return tally.total();
}

/** Records a download and opens the file; null if it is gone. */
export async function openExport(
  { config, ledger, clock }: Pick<Needs, 'config' | 'ledger' | 'clock'>,
  made: ExportFile,
  actor: string,
  id: string,
) {
  const file = await open(exportPath(config.dataDir, made), 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  const { file: name, bytes, sha256, upTo } = made;
  const action = { action: 'export.downloaded' as const, actor, file: name, bytes, sha256, upTo };
  try {
    await appendAction(ledger, INSTALLATION, action, ['export.downloaded', sha256, id], isoNow(clock));
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

/** Whether the file of an export still exists. */
export async function isThere(dataDir: string, made: ExportFile): Promise<boolean> {
  return stat(exportPath(dataDir, made)).then(
    () => true,
    () => false,
  );
}

/** Removes expired exports; returns their number. */
export async function removeOldExports(dataDir: string, now: Date): Promise<number> {
  const root = folderOf(dataDir);
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  let removed = 0;
  for (const name of names) {
    const path = join(root, name);
    if (now.getTime() - (await stat(path)).mtimeMs < EXPORT_HOURS * 3_600_000) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'exports');
}
