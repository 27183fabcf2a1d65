import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CONTROLLER_NAME, PROFILES_FOLDER } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import { verifierKeyPath } from '../context/data-directory.ts';
import { readErasure } from '../core/erasure.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { parseTreeHead } from '../crypto/checkpoint.ts';
import type { Entry } from '../crypto/entry.ts';
import { EMPTY_FRONTIER, type Frontier, growFrontier, rootOf } from '../crypto/merkle.ts';
import { appendAction } from '../ledger/append-action.ts';
import { checkpointInName } from '../ledger/cosigned-checkpoints.ts';
import { createJournal } from '../ledger/journal.ts';
import { newestCheckpoint } from '../ledger/stored-checkpoints.ts';
import { actionIn } from '../ledger/verify/checks.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import type { Query } from '../store/store.ts';
import type { Adding, Lock } from './archive.ts';
import { backedUp, describeColumns, encodeRow, readRows, type TableRow } from './rows.ts';

export const BACKUP_FORMAT = 'consent-ledger/backup/1';

/** backup.json, the first member. */
export const headerSchema = z.object({
  format: z.string(),
  madeAt: z.string(),
  version: z.string(),
  instance: z.string(),
  epoch: z.number(),
  database: z.string(),
  schemaVersion: z.number(),
  fingerprints: z.object({ instance: z.string(), signing: z.string() }),
  seq: z.number(),
});
export type Header = z.infer<typeof headerSchema>;

export interface BackupOptions {
  readonly context: Pick<
    Context,
    'store' | 'keys' | 'ledger' | 'seal' | 'refusal' | 'clock' | 'config' | 'instance' | 'epoch' | 'version'
  >;
  readonly folder: string;
  readonly lock: Lock;
  readonly actor: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (step: 'written' | 'read back' | 'uploaded', done: number, total: number | null) => void;
}

export interface BackupReport {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly madeAt: string;
  /** Seq of the last entry in it. */
  readonly seq: number;
  /** Entries under the newest checkpoint it contains; 0: there is none. */
  readonly sealed: number;
  readonly files: number;
  /** Missing or mismatching files named by the ledger; the backup was made anyway. */
  readonly faults: readonly string[];
  /** The entry that records it; null: the ledger accepts no entries at the moment. */
  readonly entry: number | null;
}

/** Names of backups of one installation sort by time. */
function backupName(instance: string, madeAt: Date): string {
  return `consent-ledger-${instance}-${madeAt.toISOString().replace(/[-:]|\.\d+/g, '')}.tar.gz.age`;
}

/**
 * Writes the whole installation except its keys into one encrypted file, as of one moment; deliveries are accepted in
 * the meantime. The file gets its name once it has been synced, read back, decrypted and compared with what was
 * written; then an entry records it.
 */
export async function makeBackup(options: BackupOptions): Promise<BackupReport> {
  const { context, folder, lock, onProgress } = options;
  const { store, keys, clock, instance } = context;
  if (context.refusal() === null) await context.seal();
  const madeAt = clock();
  const path = join(folder, backupName(instance, madeAt));
  // Loaded here with its encryption, because serve loads this file at its start and rarely makes a backup.
  const { writeArchive } = await import('./archive.ts');
  const content = await store.snapshot(async (read) => {
    let said: Content | null = null;
    const written = await writeArchive(path, {
      lock,
      appendKey: keys.instance.append,
      madeAt,
      produce: async (to) => (said = await addEverything(options, read, madeAt, to)).manifest,
      onReadBack: (bytes) => onProgress?.('read back', bytes, null),
    });
    if (said === null) throw new Error('the backup is empty');
    return { ...(said as Content), ...written };
  });
  const { seq, sealed, files, faults, bytes, sha256 } = content;
  const report = { path, bytes, sha256, madeAt: madeAt.toISOString(), seq, sealed, files, faults };
  if (context.refusal() !== null) return { ...report, entry: null };
  const { seq: entry } = await appendAction(
    context.ledger,
    INSTALLATION,
    {
      action: 'backup.made',
      actor: options.actor,
      file: backupName(instance, madeAt),
      sha256,
      bytes,
      upTo: seq,
      sealed,
    },
    ['backup.made', instance, sha256],
    clock().toISOString(),
  );
  return { ...report, entry };
}

interface Content {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly seq: number;
  readonly sealed: number;
  readonly files: number;
  readonly faults: readonly string[];
}

async function addEverything(
  { context, signal, onProgress }: BackupOptions,
  read: Query,
  madeAt: Date,
  to: Adding,
): Promise<Content> {
  const { keys, instance, epoch, version, store, config } = context;
  const seq = await lastSeq(read);
  const facts: Header = {
    format: BACKUP_FORMAT,
    madeAt: madeAt.toISOString(),
    version,
    instance,
    epoch,
    database: store.engine,
    schemaVersion: (await store.inspect({ readThrough: false })).schemaVersion,
    fingerprints: keys.fingerprints,
    seq,
  };
  await to.add('backup.json', Buffer.from(`${JSON.stringify(facts, null, 2)}\n`));

  const walk = createWalk(await newestCheckpoint(read));
  const counts: Record<string, unknown> = {};
  for (const table of backedUp) {
    let rows = 0;
    const lines = createLines(to, `database/${table}`);
    for await (const page of readRows(read, table)) {
      signal?.throwIfAborted();
      if (table === 'entries') walk.entries(page);
      for (const row of page) await lines.add(encodeRow(row));
      rows += page.length;
      if (table === 'entries') onProgress?.('written', rows, seq);
    }
    await lines.end();
    counts[table] = { rows, columns: describeColumns(table) };
  }

  const faults = walk.faults();
  let files = 0;
  for (const name of walk.named()) {
    signal?.throwIfAborted();
    if (await to.addFile(`files/${name}`, join(config.dataDir, name))) files += 1;
    else faults.push(`${name}, to which an entry refers, is missing`);
  }
  for await (const { file, text } of journalFiles(config.dataDir, seq)) {
    await to.add(`files/journal/${file}`, Buffer.from(text));
    files += 1;
  }
  for (const name of await witnessedFiles(config.dataDir, epoch, seq))
    if (await to.addFile(`files/${name}`, join(config.dataDir, name))) files += 1;
  for (const folder of ['erasures', PROFILES_FOLDER])
    for (const name of await namesIn(join(config.dataDir, folder)))
      if (await to.addFile(`files/${folder}/${name}`, join(config.dataDir, folder, name))) files += 1;
  // It says who must approve what: without it, a restored installation would require no approval.
  if (await to.addFile(`files/${CONTROLLER_NAME}`, join(config.dataDir, CONTROLLER_NAME))) files += 1;
  if (await to.addFile('files/log.vkey', verifierKeyPath(config.dataDir))) files += 1;
  const { root, checkpoint, sealed } = walk.end();
  return { manifest: { ...facts, tables: counts, root, checkpoint }, seq, sealed, files, faults };
}

/** Writes lines in members of a few MiB, because a tar archive states the size before each member. */
function createLines(to: Adding, folder: string) {
  let lines: string[] = [];
  let length = 0;
  let count = 0;
  const flush = async () => {
    count += 1;
    const name = `${folder}/${String(count).padStart(6, '0')}.jsonl`;
    const content = Buffer.from(lines.join(''));
    lines = [];
    length = 0;
    await to.add(name, content);
  };
  return {
    async add(line: string) {
      lines.push(line);
      length += line.length;
      if (length >= 4 << 20) await flush();
    },
    async end() {
      if (lines.length > 0 || count === 0) await flush();
    },
  };
}

/** Computes from the entries as they pass: their tree, and the files that they name. */
export function createWalk(checkpoint: { readonly size: number; readonly root: Buffer; readonly note: string } | null) {
  const names = new Set<string>();
  const erased = new Set<string>();
  const faults: string[] = [];
  let frontier: Frontier = EMPTY_FRONTIER;
  const grow = (rows: readonly TableRow[]) => {
    frontier = growFrontier(
      frontier,
      rows.map((row) => row['leaf_hash'] as Buffer),
    );
  };
  return {
    entries(page: readonly TableRow[]): void {
      const until = Math.min(page.length, Math.max(0, (checkpoint?.size ?? 0) - frontier.size));
      grow(page.slice(0, until));
      if (until > 0 && frontier.size === checkpoint?.size && !rootOf(frontier).equals(checkpoint.root))
        faults.push(
          `the entries do not give the root of the checkpoint over ${checkpoint.size}: run \`consent-ledger ledger verify\``,
        );
      grow(page.slice(until));
      for (const row of page) {
        const entry = row as unknown as Pick<Entry, 'kind' | 'body'>;
        const erasure = entry.kind === 'erasure' ? readErasure(entry.body) : null;
        for (const { documentId, format } of erasure?.documents ?? []) erased.add(`documents/${documentId}.${format}`);
        for (const sha256 of erasure?.files ?? []) erased.add(`evidence/${sha256}`);
        const evidence = actionIn(entry, '"banner.evidence-added"');
        if (evidence?.action === 'banner.evidence-added') names.add(`evidence/${evidence.sha256}`);
        const document = actionIn(entry, '"document.produced"');
        if (document?.action !== 'document.produced') continue;
        const name = `${document.documentId}.${document.format}`;
        // The name becomes a path.
        if (/^[\w-]+(?:\.\w+)+$/.test(name)) names.add(`documents/${name}`);
        else faults.push(`an entry refers to the document ${JSON.stringify(name)}, which is not a valid file name`);
      }
    },
    faults: () => faults,
    named: () => [...names].filter((name) => !erased.has(name)),
    end: () => ({
      root: rootOf(frontier).toString('hex'),
      checkpoint: checkpoint?.note ?? null,
      sealed: checkpoint?.size ?? 0,
    }),
  };
}

/** The journal up to the last entry in the backup; later checkpoints concern entries that are not in it. */
export async function* journalFiles(dataDir: string, seq: number): AsyncGenerator<{ file: string; text: string }> {
  let file: string | null = null;
  let text = '';
  for await (const part of createJournal(join(dataDir, 'journal')).read()) {
    if (file !== null && part.file !== file && text !== '') yield { file, text };
    if (part.file !== file) text = '';
    file = part.file;
    if (!part.unfinished && (parseTreeHead(part.note)?.size ?? 0) <= seq) text += `${part.note}\n`;
  }
  if (file !== null && text !== '') yield { file, text };
}

/**
 * Files in DATA_DIR with the responses of witnesses about entries up to `seq`, and about all of earlier epochs; later
 * ones concern entries that are not in the backup.
 */
export async function witnessedFiles(dataDir: string, epoch: number, seq: number): Promise<readonly string[]> {
  const names = await namesIn(join(dataDir, 'witnessed'));
  const isIn = (name: string) => {
    const about = checkpointInName(name);
    return about === null || about.epoch < epoch || about.size <= seq;
  };
  return names.filter(isIn).map((name) => `witnessed/${name}`);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return found.flatMap((one) => (one.isFile() ? [one.name] : [])).sort();
}
