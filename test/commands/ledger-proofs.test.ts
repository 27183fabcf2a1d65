import { execFile } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { appendFile, chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { sealEntry } from '../../src/crypto/entry.ts';
import { deriveKeys } from '../../src/crypto/keys.ts';
import { createJournal } from '../../src/ledger/journal.ts';
import { sealLedger } from '../../src/ledger/seal.ts';
import { runCli, runHere } from '../cli/command-line.ts';
import { databaseOf, engine, serverVariables } from '../servers/databases.ts';
import { alter, bytes } from '../tampering.ts';
import { openStoreIn, temporaryFolder } from '../temporary.ts';

describe('proofs on the command line', () => {
  async function installation() {
    const folder = await temporaryFolder();
    const run = (...args: string[]) => runCli(folder, args);
    const open = async (name: string) => {
      const opened = await run(
        ...[
          'dsar',
          'open',
          '--kind',
          'access',
          '--received',
          '2026-06-01T10:00:00Z',
          '--name',
          name,
          '--channel',
          'letter',
          '--json',
        ],
      );
      expect(opened.stderr).toBe('');
      return (JSON.parse(opened.stdout) as { caseId: string }).caseId;
    };
    return { folder, run, open };
  }

  test('a letter for an altered request is refused with exit code 3, like packs and reports', async () => {
    const { folder, run, open } = await installation();
    const caseId = await open('Ada');
    await alter(folder, `update entries set meta = ${bytes('{}')} where seq = 1`);
    const letter = await run('dsar', 'letter', caseId, 'acknowledgement', '--language', 'en');
    expect([letter.code, letter.stdout]).toEqual([3, expect.stringContaining('Entry 1 cannot be relied on')]);
    expect((await run('dsar', 'letter', caseId, 'answer', '--text', join(folder, 'none'))).code).toBe(2);
  });

  test('prove writes the proofs of a case with key and policy, and prints the proof of one entry', async () => {
    const { folder, run, open } = await installation();
    const caseId = await open('Ada');
    const out = join(folder, 'out');
    const written = await run('ledger', 'prove', caseId, '--out', out, '--json');
    expect(written.code).toBe(0);
    const { entries, verifierKey } = JSON.parse(written.stdout) as {
      entries: { seq: number; bodyBase64: string }[];
      verifierKey: string;
    };
    const [{ seq = 0 } = {}] = entries;
    expect(JSON.parse(await readFile(join(out, `proofs/${seq}.body`), 'utf8'))).toMatchObject({ requesterName: 'Ada' });
    expect(await readFile(join(out, 'log.vkey'), 'utf8')).toBe(`${verifierKey}\n`);
    expect(await readFile(join(out, 'tlog-policy'), 'utf8')).toBe(`log ${verifierKey}\nquorum none\n`);
    const printed = await run('ledger', 'prove', String(seq));
    expect(printed.stdout).toBe(await readFile(join(out, `proofs/${seq}.tlog-proof`), 'utf8'));
    // With only the written files, then with a document next to the proof of its entry.
    const verify = promisify(execFile);
    const script = join(out, 'verify.mjs');
    expect((await verify(process.execPath, [script, out, '--key', verifierKey])).stdout).toContain(`✓ Entry ${seq}`);
    const period = ['--from', '2026-06-01', '--to', '2026-07-01'];
    const audit = join(folder, 'audit.html');
    const made = await run('report', 'dsar-register', ...period, '--format', 'html', '--out', audit, '--json');
    const { documentId } = JSON.parse(made.stdout) as { documentId: string };
    const proof = join(folder, 'proof');
    expect((await run('ledger', 'prove', documentId, '--out', proof)).code).toBe(0);
    expect((await verify(process.execPath, [script, audit, proof])).stdout).toContain(
      'audit.html: is byte for byte the document',
    );
    // The same in one file.
    const bundle = join(folder, 'evidence.zip');
    const bundled = await run('ledger', 'prove', documentId, '--out', bundle);
    expect(bundled.stdout).toContain('evidence.zip');
    expect((await verify(process.execPath, [script, bundle, '--key', verifierKey])).stdout).toContain(
      'nothing was changed',
    );
    expect((await verify(process.execPath, [script, audit, bundle])).stdout).toContain('audit.html: is byte for byte');
    const tampered = await readFile(bundle);
    await writeFile(bundle, Buffer.concat([tampered, Buffer.of(0)]));
    await expect(verify(process.execPath, [script, bundle])).rejects.toMatchObject({ code: 3 });
    await appendFile(audit, ' ');
    await expect(verify(process.execPath, [script, audit, proof])).rejects.toMatchObject({ code: 3 });
    expect((await run('ledger', 'prove', 'no-such-case')).code).toBe(2);
    expect((await run('ledger', 'prove', '999')).stderr).toContain('the entry is missing');
  });

  test('consistency connects an earlier checkpoint with the newest, and finds a fork and a cut', async () => {
    const { folder, run, open } = await installation();
    await open('Ada');
    const early = join(folder, 'early.json');
    await writeFile(early, (await run('ledger', 'checkpoint', '--json')).stdout);
    await open('Berta');
    await open('Carla');
    const late = join(folder, 'late.txt');
    await writeFile(late, (await run('ledger', 'checkpoint')).stdout);
    const proof = await run('ledger', 'consistency', early);
    expect(proof.stdout).toMatch(/^old \d+\n(?:[A-Za-z0-9+/]{43}=\n)+\nconsent-ledger\/[^\n]+\n\d+\n/);
    expect((await run('ledger', 'consistency', early, late)).stdout).toBe(proof.stdout);
    expect((await run('ledger', 'consistency', '1', late, '--json')).stdout).toContain('"consistent": true');
    expect((await run('ledger', 'consistency', late, early)).code).toBe(2);

    await alter(folder, `update entries set leaf_hash = ${bytes(Buffer.alloc(32))} where seq = 1`);
    const forked = await run('ledger', 'consistency', early);
    expect([forked.code, forked.stdout]).toEqual([3, expect.stringContaining('they were rewritten since')]);
    const size = (JSON.parse(await readFile(early, 'utf8')) as { size: number }).size;
    await alter(folder, `delete from entries where seq > ${size}`, `delete from checkpoints where size > ${size}`);
    const cut = await run('ledger', 'consistency', late);
    expect([cut.code, cut.stdout]).toEqual([3, expect.stringContaining('entries are gone from the end')]);
  });
});

describe('ledger verify --public', () => {
  /** An installation with checkpoints handed out as a note, as a JSON report and as a PDF; and its key. */
  async function handedOut(...reports: ('json' | 'pdf' | 'html')[]) {
    const folder = await temporaryFolder();
    const run = (...args: string[]) => runCli(folder, args);
    for (const name of ['Ada', 'Berta', 'Carla'])
      await run(
        'dsar',
        'open',
        '--kind',
        'access',
        '--received',
        '2026-06-01T10:00:00Z',
        '--name',
        name,
        '--channel',
        'letter',
      );
    const paths = Object.fromEntries(reports.map((format) => [format, join(folder, `audit.${format}`)]));
    const files: Record<string, string> = { note: join(folder, 'note.txt'), ...paths };
    await writeFile(files.note ?? '', (await run('ledger', 'checkpoint')).stdout);
    for (const format of reports)
      await run(
        'report',
        'dsar-register',
        '--from',
        '2026-06-01',
        '--to',
        '2026-07-01',
        '--format',
        format,
        '--out',
        paths[format] ?? '',
      );
    const key = (await run('ledger', 'key')).stdout.trim();
    // The way without secrets: no keys and no other file of the installation.
    const alone = await temporaryFolder();
    const database = ['--database', engine === 'postgres' ? databaseOf(folder) : `sqlite:${folder}/ledger.sqlite`];
    const verify = (...args: string[]) => runHere(alone, ['ledger', 'verify', '--public', ...database, ...args]);
    return { folder, run, files, key, verify };
  }

  test('confirms earlier checkpoints with the verifier key alone, without writing anything', async () => {
    const { folder, files, key, verify } = await handedOut('json', 'pdf', 'html');
    const before = await readdir(folder);
    const found = await verify('--key', key, '--checkpoint', ...Object.values(files), '--json');
    const { faults, confirmed, entries } = JSON.parse(found.stdout) as {
      faults: unknown[];
      confirmed: { where: string; size: number }[];
      entries: number;
    };
    expect(faults).toEqual([]);
    const { note, ...documents } = files;
    expect(confirmed.map(({ where }) => where).sort()).toEqual(
      [note, ...Object.values(documents).map((file) => `the checkpoint in ${file}`)].sort(),
    );
    expect(entries).toBeGreaterThan(5);
    expect(found.code).toBe(0);
    expect(await readdir(folder)).toEqual(before);
    const keyFile = await verify('--key', join(folder, 'log.vkey'));
    expect([keyFile.code, keyFile.stdout]).toEqual([0, expect.stringContaining('No outside checkpoint was given')]);
  });

  test.runIf(engine === 'sqlite')('reads a read-only copy', async () => {
    const { folder, files, key, verify } = await handedOut();
    const copy = join(await temporaryFolder(), 'copy');
    await mkdir(copy);
    await copyFile(`${folder}/ledger.sqlite`, `${copy}/a copy?.sqlite`);
    await chmod(`${copy}/a copy?.sqlite`, 0o400);
    await chmod(copy, 0o500);
    const found = await verify(
      '--database',
      `sqlite:${copy}/a copy?.sqlite`,
      '--key',
      key,
      '--checkpoint',
      files.note ?? '',
    );
    await chmod(copy, 0o700);
    expect([found.code, found.stdout]).toEqual([0, expect.stringContaining('nothing has changed in the')]);
    expect(await readdir(copy)).toEqual(['a copy?.sqlite']);
  });

  test('detects a rewritten and re-signed history by means of earlier checkpoints', async () => {
    const { folder, run, files, key, verify } = await handedOut('json', 'pdf', 'html');
    // With both keys, everything is recomputed and signed afresh.
    await rewriteHistory(folder, key);
    expect((await run('ledger', 'verify')).code).toBe(0);
    expect((await verify('--key', key)).code).toBe(0);
    for (const file of Object.values(files)) {
      const found = await verify('--key', key, '--checkpoint', file);
      expect([found.code, found.stdout]).toEqual([
        3,
        expect.stringContaining('they were rewritten after it was handed out'),
      ]);
    }
  });

  test('says that only the checkpoint in a document was checked, and refuses a note to which text was added', async () => {
    const { folder, run, files, key, verify } = await handedOut('pdf');
    const altered = join(folder, 'altered.pdf');
    await writeFile(altered, Buffer.concat([await readFile(files.pdf ?? ''), Buffer.from('% another answer')]));
    const found = await verify('--key', key, '--checkpoint', altered);
    expect(found.code).toBe(0);
    expect(found.stdout).toContain(`✓ the checkpoint in ${altered}: nothing has changed in the`);
    expect(found.stdout).toContain(`Only the checkpoint in ${altered} was checked, not the rest of the file`);

    const { note } = JSON.parse((await run('ledger', 'checkpoint', '--json')).stdout) as { note: string };
    const plain = join(folder, 'plain.txt');
    await writeFile(plain, note);
    expect((await verify('--key', key, '--checkpoint', plain)).stdout).toContain(`✓ ${plain}: nothing has changed`);
    const crlf = join(folder, 'mailed.txt');
    await writeFile(crlf, note.replaceAll('\n', '\r\n'));
    expect((await verify('--key', key, '--checkpoint', crlf)).code).toBe(0);
    for (const added of ['This checkpoint was withdrawn.\n', '\nThis checkpoint was withdrawn.\n', '— x y\n']) {
      await writeFile(plain, note + added);
      const refused = await verify('--key', key, '--checkpoint', plain);
      expect([refused.code, refused.stdout]).toEqual([3, expect.stringContaining('checkpoint-invalid')]);
    }
  });

  test('detects a truncated ledger', async () => {
    const { folder, files, key, verify } = await handedOut('pdf');
    await alter(folder, 'delete from entries where seq > 2', 'delete from checkpoints where size > 2');
    const found = await verify('--key', key, '--checkpoint', files.pdf ?? '');
    expect([found.code, found.stdout]).toEqual([
      3,
      expect.stringMatching(/the ledger ends at 2, but .* are gone from its end/),
    ]);
  });

  test.each([
    ['an edited body', `update entries set body = ${bytes('x')} where seq = 2`, 'entry 2: content-edited'],
    [
      'an edited time',
      `update entries set received_at = '2020-01-01T00:00:00.000Z' where seq = 2`,
      'entry 2: identity-edited',
    ],
    ['a missing entry', 'delete from entries where seq = 2', 'entry 2: missing'],
    [
      'an unrecorded erasure',
      'update entries set meta = null, body = null, salt = null where seq = 2',
      'entry 2: erased-without-record',
    ],
    ['a note of the database', `update checkpoints set note = 'x'`, 'checkpoint-invalid'],
  ])('reports %s', async (_, statement, sentence) => {
    const { folder, key, verify } = await handedOut();
    await alter(folder, statement);
    const found = await verify('--key', key);
    expect([found.code, found.stdout]).toEqual([3, expect.stringContaining(sentence)]);
  });

  test('refuses an invalid key and a file without a checkpoint, and reports a checkpoint of another key', async () => {
    const { folder, files, key, verify } = await handedOut();
    expect(await verify()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--public requires --key') as string,
    });
    const damaged = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
    expect((await verify('--key', damaged)).code).toBe(2);
    await writeFile(join(folder, 'none.txt'), 'nothing');
    expect((await verify('--key', key, '--checkpoint', join(folder, 'none.txt'))).stderr).toContain(
      'has no checkpoint',
    );
    const other = await handedOut();
    const found = await verify('--key', key, '--checkpoint', other.files.note ?? '', files.note ?? '');
    // On PostgreSQL both use the signing key of the test servers.
    const why = engine === 'sqlite' ? 'it is not signed with this key' : 'it is signed for "consent-ledger/';
    expect([found.code, found.stdout]).toEqual([3, expect.stringContaining(why)]);
  });
});

/** Rewrites the history as an attacker with the database, DATA_DIR and both keys would. */
async function rewriteHistory(folder: string, key: string): Promise<void> {
  // On PostgreSQL the keys are outside DATA_DIR.
  const given = serverVariables(folder);
  const secret = given.INSTANCE_KEY ?? (await readFile(join(folder, 'keys/instance.key'), 'utf8'));
  const keys = deriveKeys(Buffer.from(secret, 'base64'));
  const signingKey = createPrivateKey(
    await readFile(given.SIGNING_KEY_FILE ?? join(folder, 'keys/signing.pem'), 'utf8'),
  );
  const store = await openStoreIn(folder);
  const rows = await store.read.selectFrom('entries').selectAll().orderBy('seq').execute();
  await store.close();
  const statements = ['delete from checkpoints'];
  const first = rows[0];
  if (first?.meta == null || first.salt == null) throw new Error('no entry');
  const forged = {
    source: first.source,
    kind: first.kind,
    dedupeKey: first.dedupe_key,
    receivedAt: first.received_at,
    meta: first.meta,
    body: Buffer.from('{"forged":true}'),
  };
  const entry = sealEntry(forged, 1, 1, first.salt, keys.append);
  statements.push(
    `update entries set body = ${bytes(forged.body)}, commitment = ${bytes(entry.commitment)}, leaf_hash = ${bytes(entry.leafHash)}, mac = ${bytes(entry.mac)} where seq = 1`,
  );
  await alter(folder, ...statements);
  await rm(join(folder, 'journal'), { recursive: true });
  const [, instance = ''] = key.split(/[/+]/);
  const again = await openStoreIn(folder);
  const sealing = await sealLedger({
    store: again,
    journal: createJournal(join(folder, 'journal')),
    appendKey: keys.append,
    signingKey,
    instance,
    epoch: 1,
    clock: () => new Date(),
  });
  await again.close();
  expect(sealing.outcome).toBe('sealed');
}
