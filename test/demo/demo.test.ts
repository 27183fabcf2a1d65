import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import sqlite3 from 'sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConsentRecord } from '../../reports/consent-record.ts';
import type { DemoResult } from '../../src/commands/demo/run-demo.ts';
import { runIn } from '../cli/command-line.ts';
import { violationsOf } from '../consent/record-graph.ts';
import { cliPath } from '../serving.ts';

/** Runs another command on the installation of the demo. */
const run = (args: readonly string[], cwd: string) => runIn(cwd, args, { env: { DATABASE_URL: '' } });

let home: string;
let result: DemoResult;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'consent-ledger-demo-'));
  // The built program, as `npm run demo` does.
  const env = { PATH: process.env.PATH ?? '' };
  const { stdout } = await promisify(execFile)(process.execPath, [cliPath, 'demo', '--once', '--json'], {
    cwd: home,
    env,
  });
  result = JSON.parse(stdout) as DemoResult;
});
afterAll(() => rm(home, { recursive: true, force: true }));

test('the demo stores a month of signed deliveries for two clients, refuses forged ones, and its ledger is sound', () => {
  const { deliveries, verification, rows } = result;
  expect(deliveries.accepted).toBeGreaterThan(500);
  expect(deliveries.refused).toBeGreaterThan(0);
  expect(deliveries.accepted + deliveries.refused).toBe(deliveries.sent);
  expect(rows.pulled).toBeGreaterThan(500);
  expect(verification).toMatchObject({ faults: [], unsealed: 0 });
  expect(verification.checkpoints).toBeGreaterThan(25); // one a day
});

test('the demo says what needs attention in a data protection officer’s terms', () => {
  expect(result.attention).toMatch(
    /^\d+ requests?: (?:\d+ overdue, )?1 due in \d days?, 1 unmatched(?:, 1 opt-out)? · \d+ deliver(?:y|ies) not understood · \d+ decisions never delivered · \d+ contradictory decisions? · cookies set before consent on \d+ sites? · \d+ integrations? disconnected$/,
  );
});

test('the demo has evidence: policy texts, banners as shown, disputed decisions, a withdrawal by request', async () => {
  const { texts, banners, disputed, withdrawals } = result.evidence;
  expect(texts).toBeGreaterThan(20);
  expect(banners).toHaveLength(4);
  expect(withdrawals).toHaveLength(1);
  expect(disputed.length).toBeGreaterThan(0);
  const record = result.files.find((file) => file.endsWith('consent-record-disputed.json')) as string;
  expect(JSON.parse(readFileSync(record, 'utf8'))).toMatchObject({
    header: { record_id: disputed[0]?.decisionId },
    evidence: { disputed: true },
  });
  const { header, evidence } = JSON.parse(readFileSync(record, 'utf8')) as ConsentRecord;
  const missing = evidence.conformance.missing.map(({ section, part }) => `${section} ${part}`);
  expect(await violationsOf(JSON.parse(readFileSync(record, 'utf8')))).toEqual(
    [...(typeof header.schema_version === 'string' ? [] : ['8.1.1 schema version']), ...missing].sort(),
  );
  const { decisionId, source, at } = disputed[0] ?? { decisionId: '', source: '', at: '' };
  const shown = await run(
    ['consent', 'show', decisionId, '--source', source, '--at', at, '--text'],
    join(home, 'demo-output'),
  );
  expect(shown.stdout).toContain('contradicts');
  expect(shown.stdout).toMatch(/under {6}policy \S+, version \d+; text (?:seen before and after|one of two)/);
});

test('the letter in the pack is in the requester’s language', () => {
  const pack = result.files.find((file) => file.endsWith('.zip')) as string;
  const folder = join(home, 'letter');
  mkdirSync(folder);
  execFileSync('unzip', ['-q', pack, 'brief.pdf', '-d', folder]);
  expect(execFileSync('pdftotext', [join(folder, 'brief.pdf'), '-']).toString()).toContain('Antwort auf Ihre Anfrage');
});

test('the audit counts the withdrawals that follow from the raw bodies, purpose by purpose', async () => {
  const ledger = join(result.folder, 'data', 'ledger.sqlite');
  const database = new sqlite3.Database(ledger, sqlite3.OPEN_READONLY);
  const entries = await new Promise<{ kind: string; body: Buffer }[]>((resolve, reject) =>
    database.all<{ kind: string; body: Buffer }>(
      "select kind, body from entries where source = 'default' and kind in ('webhook', 'consent-log') order by seq",
      (error, rows) => (error === null ? resolve(rows) : reject(error)),
    ),
  );
  database.close();
  interface Told {
    readonly subject: string;
    readonly at: string;
    readonly choices: Readonly<Record<string, boolean>>;
  }
  const told = new Map<string, Told>();
  for (const { kind, body } of entries) {
    if (!body.includes('visitor_hash')) continue;
    const payload = JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>>;
    if (kind === 'webhook' && payload['event'] !== 'consent.recorded') continue;
    const id = String(payload['record_id'] ?? payload['id']);
    if (told.has(id)) continue;
    told.set(id, {
      subject: `${String(payload['visitor_hash'])} ${String(payload['banner_id'])}`,
      at: String(payload['timestamp'] ?? payload['created_at']),
      choices: payload['categories'] as Told['choices'],
    });
  }
  const granted = new Map<string, Set<string>>();
  let withdrawals = 0;
  for (const { subject, choices } of [...told.values()].sort((a, b) => (a.at < b.at ? -1 : 1))) {
    const before = granted.get(subject) ?? new Set();
    if (Object.entries(choices).some(([purpose, choice]) => !choice && before.has(purpose))) withdrawals += 1;
    granted.set(
      subject,
      new Set(Object.keys(choices).filter((purpose) => choices[purpose] && purpose !== 'necessary')),
    );
  }
  expect(withdrawals).toBe(40);
  const csv = parse<Record<string, string>>(readFileSync(join(result.folder, 'consent-audit-default.csv')), {
    bom: true,
    columns: true,
  }).filter((row) => row['first_of_decision'] === 'yes');
  // A withdrawal that the pulled log contradicts is disputed, and counted only as disputed.
  const counted = csv.filter((row) => row['way_in'] !== 'request' && row['withdraws'] !== '[]');
  expect(counted).toHaveLength(withdrawals);
  for (const row of counted) expect(row['judged']).toMatch(/withdrawn$|^disputed$/);
});

test('every page of every PDF is marked SAMPLE and contains text', () => {
  const pdfs = result.files.filter((file) => file.endsWith('.pdf'));
  expect(pdfs).toHaveLength(2);
  for (const file of pdfs) {
    const pages = execFileSync('pdftotext', ['-layout', file, '-']).toString().split('\f').slice(0, -1);
    expect(pages.length).toBeGreaterThan(2);
    for (const page of pages) expect(page).toContain('SAMPLE');
    expect(execFileSync('qpdf', ['--check', file]).toString()).toContain('No syntax or stream encoding errors');
  }
});

test('the pack matches its manifest, byte for byte', () => {
  const pack = result.files.find((file) => file.endsWith('.zip')) as string;
  const folder = join(home, 'pack');
  mkdirSync(folder);
  execFileSync('unzip', ['-q', pack, '-d', folder]);
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
    files: { name: string; sha256: string; bytes: number }[];
  };
  expect(manifest.files.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['brief.pdf', 'verlauf.html', 'decisions.csv', 'decisions.json']),
  );
  for (const { name, sha256, bytes } of manifest.files) {
    const content = readFileSync(join(folder, name));
    expect([name, content.length, createHash('sha256').update(content).digest('hex')]).toEqual([name, bytes, sha256]);
  }
});

test('a produced file is genuine until one byte has changed', async () => {
  const [file = ''] = result.files;
  const cwd = result.folder;
  expect((await run(['document', 'check', file], cwd)).code).toBe(0);
  const changed = join(home, 'changed.pdf');
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
  writeFileSync(changed, bytes);
  expect((await run(['document', 'check', changed], cwd)).code).toBe(3);
});

test('the other commands work in the demo’s folder; after tampering, verify names the altered entry and exits with 3', async () => {
  const cwd = result.folder;
  const list = await run(['dsar', 'list', '--json'], cwd);
  expect([list.code, list.stderr]).toEqual([0, '']);
  expect((JSON.parse(list.stdout) as unknown[]).length).toBeGreaterThan(3);
  expect((await run(['ledger', 'verify'], cwd)).code).toBe(0);

  const tampered = await run(['demo', 'tamper', '--json'], home);
  expect(tampered.code).toBe(3);
  const { altered } = JSON.parse(tampered.stdout) as { altered: { seq: number } };
  const verified = await run(['ledger', 'verify', '--json'], cwd);
  expect(verified.code).toBe(3);
  expect(JSON.parse(verified.stdout)).toMatchObject({ faults: [{ seq: altered.seq, fault: 'body-edited' }] });
});

test('the demo does not touch a folder that it did not create', async () => {
  const folder = join(home, 'mine');
  mkdirSync(folder);
  writeFileSync(join(folder, 'important.txt'), 'keep me');
  const refused = await run(['demo', '--once', '--folder', folder], home);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('--folder');
  expect(existsSync(join(folder, 'important.txt'))).toBe(true);
});
