import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { loadVerifier } from '../../reports/dsar-pack/proofs.ts';
import { renderCsv } from '../../reports/render/csv-json.ts';
import { controllerFileOf } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import { codeOf, UsageError } from '../core/errors.ts';
import { createTally } from '../crypto/hash.ts';
import { type ReadModelName, readModelNames } from '../projections/tables.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import { type Column, keyOf, tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { readByKey } from './copy-tables.ts';
import { createWalk, journalFiles, witnessedFiles } from './make-backup.ts';
import { describeColumns, readRows, type TableRow } from './rows.ts';

export interface ExportReport {
  readonly folder: string;
  /** Seq of the last entry. */
  readonly seq: number;
  /** Entries under the newest checkpoint. */
  readonly sealed: number;
  readonly tables: Readonly<Record<string, number>>;
  readonly files: number;
  readonly faults: readonly string[];
}

interface ExportOptions {
  readonly context: Pick<
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
  >;
  readonly folder: string;
  readonly onProgress: (done: number, total: number) => void;
}

/** Lines per file of entries. */
const LINES = 100_000;

/**
 * Writes everything that belongs to the owner into a folder, in open formats, with a description and a verifier that
 * does not depend on this program. Not encrypted. The folder gets its name when it is complete. Throws UsageError if
 * the name is taken, also by an export that is running.
 */
export async function exportEverything(options: ExportOptions): Promise<ExportReport> {
  const { context, folder, onProgress } = options;
  const there = await readdir(folder).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? [] : null));
  if (there === null || there.length > 0)
    throw new UsageError([`${folder} exists and is not empty: use a folder that does not exist yet.`]);
  if (context.refusal() === null) await context.seal();
  await context.projector.catchUp();
  const draft = `${folder}.part`;
  await mkdir(dirname(draft), { recursive: true, mode: 0o700 });
  await mkdir(draft, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new UsageError([
      `${draft} exists: another export to this folder is running, or one was stopped. If none is running, remove it: it is not encrypted.`,
    ]);
  });
  try {
    const report = await context.store.snapshot((read) => writeAll(context, read, draft, onProgress));
    if (there.length === 0) await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
    return { folder, ...report };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

type ExportContext = ExportOptions['context'];

async function writeAll(
  context: ExportContext,
  read: Query,
  folder: string,
  onProgress: ExportOptions['onProgress'],
): Promise<Omit<ExportReport, 'folder'>> {
  const output = createOutput(folder);
  const seq = await lastSeq(read);
  const notes = await read.selectFrom('checkpoints').select(['size', 'root', 'note']).orderBy('size').execute();
  const walk = createWalk(notes.at(-1) ?? null);
  await writeEntries(output, read, walk, (done) => onProgress(done, seq));
  const counts = await writeTables(output, read);
  await writeSources(output, read);
  const faults = [
    ...walk.faults(),
    ...(await writeProfiles(output, context)),
    ...(await copyNamedFiles(output, context.config.dataDir, walk.named())),
  ];
  await output.writeText('checkpoints.txt', notes.map(({ note }) => `${note}\n`).join(''));
  for await (const { file, text } of journalFiles(context.config.dataDir, seq))
    await output.writeText(`journal/${file}`, text);
  for (const name of await witnessedFiles(context.config.dataDir, context.epoch, seq))
    await output.write(name, bytesOf(join(context.config.dataDir, name)));
  const { root, sealed } = walk.end();
  await writeDescription(output, context, { seq, sealed, root });
  return { seq, sealed, tables: counts, files: output.files.length, faults };
}

/** Writes files into a folder, and records the size and hash of each. */
function createOutput(folder: string) {
  const files: { name: string; bytes: number; sha256: string }[] = [];

  async function write(name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const tally = createTally();
    await pipeline(tally.pass(content), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    files.push({ name, ...tally.total() });
  }

  return {
    files,
    write,
    writeText: (name: string, text: string) => write(name, Readable.from([Buffer.from(text)])),
    /** Removes a file that could not be written completely. */
    drop: (name: string) => rm(join(folder, name), { force: true }),
  };
}

type Output = ReturnType<typeof createOutput>;

async function writeEntries(
  output: Output,
  read: Query,
  walk: ReturnType<typeof createWalk>,
  onProgress: (seq: number) => void,
): Promise<void> {
  const pages = readRows(read, 'entries');
  let isMore = true;
  async function* nextLines() {
    for (let lines = 0; lines < LINES; ) {
      const next = await pages.next();
      isMore = next.done !== true;
      if (next.done === true) return;
      walk.entries(next.value);
      lines += next.value.length;
      yield Buffer.from(next.value.map(entryLine).join(''));
      onProgress(Number(next.value.at(-1)?.['seq'] ?? 0));
    }
  }
  for (let file = 1; isMore; file += 1)
    await output.write(`entries/${String(file).padStart(6, '0')}.jsonl`, nextLines());
}

/** Returns the number of rows of each table. */
async function writeTables(output: Output, read: Query): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const table of readModelNames) {
    counts[table] = 0;
    const rows = async function* () {
      for await (const page of readByKey(read, table, keyOf(table))) {
        counts[table] = (counts[table] ?? 0) + page.length;
        yield* page;
      }
    };
    const columns = Object.keys(tables[table].columns).map((title) => ({
      title,
      value: (row: TableRow) => cellOf(row[title]),
    }));
    await output.write(`tables/${table}.csv`, renderCsv(columns, rows(), 'program'));
  }
  return counts;
}

/** Writes the sources without their credentials. */
async function writeSources(output: Output, read: Query): Promise<void> {
  const rows = await read
    .selectFrom('sources')
    .select(['slug', 'name', 'base_url', 'site_url', 'options', 'created_at', 'offboarded_at'])
    .orderBy('slug')
    .execute();
  const sources = rows.map(({ options, ...source }) => ({ ...source, options: withoutSalt(options) }));
  await output.writeText('sources.json', jsonText(sources));
}

/** Copies the controller profiles in use: the installation's, and those of single sources. Returns a sentence for each that cannot be read. */
async function writeProfiles(output: Output, { config, sources }: ExportContext): Promise<readonly string[]> {
  const own = sources.list().filter(({ options }) => options.controllerFile !== null);
  const unread: string[] = [];
  for (const source of [null, ...own]) {
    const { path, isNamed } = controllerFileOf(config, source);
    const name = source === null ? 'controller.yaml' : `profiles/${source.slug}.yaml`;
    const text = await readFile(path).catch((error: unknown) => {
      if (isNamed || codeOf(error) !== 'ENOENT')
        unread.push(`the controller profile ${path} cannot be read (${codeOf(error)})`);
      return null;
    });
    if (text !== null) await output.write(name, Readable.from([text]));
  }
  return unread;
}

/** Copies the files that entries name. Returns a sentence for each that is missing. */
async function copyNamedFiles(output: Output, dataDir: string, names: Iterable<string>): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const name of names) {
    await output.write(name, bytesOf(join(dataDir, name))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      missing.push(`${name}, to which an entry refers, is missing`);
      return output.drop(name);
    });
  }
  return missing;
}

/** Writes keys, schemas, verifiers and a README, and last the list of all files. */
async function writeDescription(
  output: Output,
  { instance, verifierKey, version, clock }: ExportContext,
  { seq, sealed, root }: { readonly seq: number; readonly sealed: number; readonly root: string },
): Promise<void> {
  await output.writeText('log.vkey', `${verifierKey}\n`);
  await output.writeText('entries.schema.json', jsonText(entrySchema));
  await output.writeText('tables.schema.json', jsonText(tableSchemas()));
  const { script, exportScript } = await loadVerifier();
  await output.writeText('verify.mjs', script);
  await output.writeText('verify-export.mjs', exportScript);
  const madeAt = clock().toISOString();
  await output.writeText('README.md', readme(instance, madeAt, seq));
  const format = 'consent-ledger/export/1';
  const files = [...output.files];
  const manifest = { format, madeAt, version, instance, seq, sealed, root, verifierKey, files };
  await output.writeText('manifest.json', jsonText(manifest));
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Opens the file only when read, so that a failure reaches the reader. */
async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path) as AsyncIterable<Buffer>;
}

function entryLine(row: TableRow): string {
  const hex = (value: unknown) => (value as Buffer).toString('hex');
  const base64 = (value: unknown) => (value === null ? null : (value as Buffer).toString('base64'));
  const body = row['body'] as Buffer | null;
  const text = body?.toString('utf8') ?? null;
  const isText = body !== null && text !== null && Buffer.from(text, 'utf8').equals(body);
  return `${JSON.stringify({
    seq: row['seq'],
    source: row['source'],
    sourceSeq: row['source_seq'],
    kind: row['kind'],
    receivedAt: row['received_at'],
    meta: row['meta'] === null ? null : (row['meta'] as Buffer).toString('utf8'),
    ...(isText || body === null ? { body: text } : { bodyBase64: base64(body) }),
    salt: row['salt'] === null ? null : hex(row['salt']),
    dedupeKey: hex(row['dedupe_key']),
    commitment: hex(row['commitment']),
    leafHash: hex(row['leaf_hash']),
  })}\n`;
}

function cellOf(value: unknown): string | number | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return Buffer.isBuffer(value) ? value.toString('hex') : JSON.stringify(value);
}

/** With the salt, anyone could test guesses of who a subject is. */
function withoutSalt(options: string): unknown {
  return JSON.parse(options, (name, value: unknown) => (name === 'salt' ? undefined : value));
}

const hexOf = (bytes: number) => ({ type: 'string', pattern: `^[0-9a-f]{${bytes * 2}}$` });

const entrySchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'A line of entries/*.jsonl: one entry of the ledger',
  type: 'object',
  required: ['seq', 'source', 'sourceSeq', 'kind', 'receivedAt', 'meta', 'salt', 'dedupeKey', 'commitment', 'leafHash'],
  properties: {
    seq: { type: 'integer', minimum: 1, description: 'position in the ledger, without gaps' },
    source: { type: 'string' },
    sourceSeq: { type: 'integer', minimum: 1, description: 'position within the source, without gaps' },
    kind: { enum: ['webhook', 'consent-log', 'call', 'snapshot', 'action', 'erasure'] },
    receivedAt: { type: 'string', format: 'date-time' },
    meta: { type: ['string', 'null'], description: 'exact text; null: erased' },
    body: { type: ['string', 'null'], description: 'exact bytes as UTF-8; null: erased' },
    bodyBase64: {
      type: 'string',
      contentEncoding: 'base64',
      description: 'in place of body, where the bytes are not UTF-8',
    },
    salt: { anyOf: [hexOf(32), { type: 'null' }] },
    dedupeKey: hexOf(32),
    commitment: hexOf(32),
    leafHash: hexOf(32),
  },
  additionalProperties: false,
};

function tableSchemas() {
  const schemaOf = (table: ReadModelName) => ({
    type: 'object',
    properties: Object.fromEntries(
      Object.entries<Column<unknown>>(tables[table].columns).map(([name]) => [
        name,
        {
          type:
            describeColumns(table)[name] === 'bytes'
              ? 'string'
              : describeColumns(table)[name] === 'text'
                ? 'string'
                : describeColumns(table)[name],
        },
      ]),
    ),
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Rows of tables/*.csv, by table. An empty field is null; bytes are hex',
    $defs: Object.fromEntries(readModelNames.map((table) => [table, schemaOf(table)])),
  };
}

function readme(instance: string, madeAt: string, seq: number): string {
  return `# Export of consent-ledger ${instance}

Made at ${madeAt}, up to entry ${seq}. It is not encrypted and holds personal data.

| file | content |
|---|---|
| entries/*.jsonl | every entry of the ledger, one JSON object per line (entries.schema.json): the evidence itself |
| tables/*.csv | what was read from the entries: decisions (decision_history), requests (cases, case_history), policies (policy_history), scans (scan_history), the audit trail (action_history) and more; UTF-8, RFC 4180 (tables.schema.json). Every value is as it was read, also one that a spreadsheet would run as a formula: import all columns as text |
| sources.json | the accounts of the service, without credentials |
| controller.yaml, profiles/*.yaml | the controller profile, and those of individual sources |
| documents/, evidence/ | files that entries refer to by SHA-256 |
| checkpoints.txt, journal/, log.vkey | signed tree heads (C2SP tlog-checkpoint) and the key that checks them |
| witnessed/ | responses of outside witnesses: checkpoints with their signatures, time stamps (RFC 3161) |
| manifest.json | size and SHA-256 of every file here |

To check it offline and without this program, with Node.js 20 or later:

    node verify-export.mjs .

It recomputes each commitment, each leaf hash and the tree, compares them with every checkpoint, and each file with its entry or the manifest. The tables are derived from the entries and only compared with the manifest, which is not signed; so are the responses of witnesses, whose signatures anyone can check with the witnesses’ keys. Compare log.vkey with the key that you obtained through another channel.
`;
}
