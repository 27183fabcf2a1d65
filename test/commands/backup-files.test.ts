import { createHmac } from 'node:crypto';
import { renameSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Encrypter } from 'age-encryption';
import { pack } from 'tar-stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readArchive, wholeOf, writeArchive } from '../../src/backup/archive.ts';
import { outdated } from '../../src/backup/delete-old-backups.ts';
import { restoreBackup } from '../../src/backup/restore.ts';
import { loadConfig } from '../../src/config/config.ts';
import { keyPaths } from '../../src/config/key-files.ts';
import { VerificationFault } from '../../src/core/errors.ts';
import { deriveKeys } from '../../src/crypto/keys.ts';
import { createLog } from '../../src/log/log.ts';
import { createOfficeWorld } from '../http/office-world.ts';
import { startObjectStore, storageEnvironment } from '../outside/object-store.ts';
import { environment } from '../serving.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';
import { backUp, cli, emptyPlace, fill, keyPair, opened, type Place, restore } from './backup-world.ts';

/** A member: its name, and its content or a number of spaces. */
type Crafted = readonly [name: string, content: Buffer | number];

/** Writes what anyone who knows the recipient could write. */
async function craftArchive(path: string, recipient: string, members: readonly Crafted[]): Promise<void> {
  const tape = pack();
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  const add = async () => {
    for (const [name, content] of members) {
      const size = typeof content === 'number' ? content : content.length;
      const entry = tape.entry({ name, size });
      const pieces = typeof content === 'number' ? spaces(content) : [content];
      await pipeline(Readable.from(pieces), entry as unknown as NodeJS.WritableStream);
    }
    tape.finalize();
  };
  const [, cipherText] = await Promise.all([
    add(),
    buffer((tape as unknown as Readable).pipe(createGzip({ level: 1 }))).then((bytes) => encrypter.encrypt(bytes)),
  ]);
  await writeFile(path, cipherText);
}

function* spaces(size: number) {
  const piece = Buffer.alloc(1 << 20, 0x20);
  for (let done = 0; done < size; done += piece.length) yield piece.subarray(0, size - done);
}

const settings = (members: readonly Crafted[]) => members.filter(([name]) => name.startsWith('database/settings/'));

function macOf(manifest: string, appendKey: Buffer): Crafted {
  const mac = createHmac('sha256', appendKey).update(`consent-ledger/backup/v1\n${manifest}`).digest('hex');
  return ['manifest.mac', Buffer.from(`${mac}\n`)];
}

test('`restore` refuses a file that was altered, cut or made by someone else, wrong keys, and a place that is not empty', async () => {
  const home = await emptyPlace();
  const context = await opened(home);
  await fill(context, 600);
  await writeFile(join(home.folder, 'controller.yaml'), 'name: Acme GmbH\n');
  const { append } = context.keys.instance;
  await context.close();
  const { recipient, file } = await keyPair();
  const made = await backUp(home, recipient);
  const bytes = await readFile(made.path);
  const folder = await temporaryFolder();
  const altered = async (name: string, content: Buffer) => {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  };
  const flipped = Buffer.from(bytes);
  flipped[bytes.length - 5000] = (flipped[bytes.length - 5000] ?? 0) ^ 1;
  const target = await emptyPlace(home.folder);
  const refused = async (place: Place, path: string, identity: string, code: number, words: string) => {
    const ran = await cli(place, 'restore', path, '--identity', identity);
    expect(ran).toMatchObject({ code, stderr: expect.stringContaining(words) as string });
  };
  const isEmpty = async () => expect((await readdir(target.folder)).filter((name) => name !== 'keys')).toEqual([]);
  await refused(target, await altered('flipped', flipped), file, 3, 'it was altered or cut off after it was written');
  await refused(target, await altered('cut', bytes.subarray(0, -70_000)), file, 3, 'it was altered or cut off');
  await refused(target, await altered('none', Buffer.from('no backup')), file, 3, 'is not an age file');
  await refused(target, join(folder, 'missing'), file, 2, 'ENOENT');
  await refused(target, made.path, (await keyPair()).file, 2, 'None of the given identities opens');
  await refused(target, made.path, made.path, 2, 'contains no age private key');
  await isEmpty();

  // Anyone who knows the public key can encrypt; the manifest needs the instance key.
  const members: [string, Buffer][] = [];
  const identities = [(await readFile(file, 'utf8')).split('\n')[1] ?? ''];
  const { manifest } = await readArchive(made.path, {
    unlock: { identities },
    appendKey: append,
    onMember: async (name, content) => void members.push([name, await wholeOf(content)]),
  });
  const { members: _listed, ...facts } = manifest;
  const forge = (name: string, appendKey: Buffer, change: (name: string, content: Buffer) => Buffer) =>
    writeArchive(join(folder, name), {
      lock: { recipients: [recipient] },
      appendKey,
      madeAt: new Date(),
      produce: async (to) => {
        for (const [member, content] of members) await to.add(member, change(member, content));
        return facts;
      },
    });
  await forge('forged', deriveKeys(Buffer.alloc(32, 1)).append, (_, content) => content);
  await refused(target, join(folder, 'forged'), file, 3, 'not made with this INSTANCE_KEY');
  const path = join(folder, 'crafted');
  const crafted = async (words: string, ...content: Crafted[]) => {
    await craftArchive(path, recipient, content);
    await refused(target, path, file, 3, words);
  };
  await crafted('contains two members named "database/settings/000001.jsonl"', ...members, ...settings(members));
  await crafted('backup.json is larger than', ['backup.json', 300 << 20]);
  await crafted(
    'has a manifest that cannot be read',
    ...members,
    ['manifest.json', Buffer.from('{')],
    macOf('{', append),
  );
  // Without the key, not even a large table is read into memory: 459 KB became 1.45 GiB.
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
  const bomb: Crafted = ['database/people/000009.jsonl', 300 << 20];
  const others = deriveKeys(Buffer.alloc(32, 1)).append;
  await crafted(
    'not made with this INSTANCE_KEY',
    ...members,
    bomb,
    ['manifest.json', Buffer.from('{}')],
    macOf('{}', others),
  );
  await crafted('manifest.json is larger than', ...members, ['manifest.json', 300 << 20]);
  clearInterval(watch);
  expect((most - before) / (1 << 20)).toBeLessThan(150);
  await isEmpty();
  // Even with the key, the ledger itself has to verify.
  await forge('edited', append, (name, content) =>
    name.includes('entries') ? Buffer.from(content.toString('utf8').replace('"nth\\":7,', '"nth\\":8,')) : content,
  );
  await refused(target, join(folder, 'edited'), file, 3, 'entry 8: ');
  await isEmpty();

  const stranger = await emptyPlace();
  await refused(stranger, made.path, file, 2, 'INSTANCE_KEY does not belong to this backup');
  await writeFile(keyPaths(stranger.folder).instance, await readFile(keyPaths(home.folder).instance));
  await refused(stranger, made.path, file, 2, 'signing key does not belong to this database');
  await rm(keyPaths(stranger.folder).signing);
  await refused(stranger, made.path, file, 2, 'signing.pem is missing');
  await mkdir(join(target.folder, 'documents'));
  await refused(target, made.path, file, 2, 'is not empty (documents)');
  await rm(join(target.folder, 'documents'), { recursive: true });
  await restore(target, made.path, file);
  await refused(target, made.path, file, 2, 'The database is not empty');
  // The original installation is unchanged.
  expect((await cli(home, 'ledger', 'verify')).code).toBe(0);
});

test('`backup` encrypts with a passphrase, and refuses one that could be guessed', async () => {
  const home = await emptyPlace();
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'short'), 'secret\n');
  const ran = await cli(home, 'backup', '--out', folder, '--passphrase-file', join(folder, 'short'));
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('guessed') as string });

  const path = join(folder, 'file.age');
  const { append: appendKey } = deriveKeys(Buffer.alloc(32, 1));
  await writeArchive(path, {
    // A low work factor makes the test fast; the command accepts any that age accepts.
    lock: { passphrase: 'correct horse battery staple', workFactor: 8 },
    appendKey,
    madeAt: new Date(),
    produce: async (to) => {
      await to.add('a', Buffer.from('content'));
      return { said: 'so' };
    },
  });
  const read: string[] = [];
  const onMember = async (name: string, content: AsyncIterable<Buffer>) =>
    void read.push(`${name}: ${(await wholeOf(content)).toString()}`);
  const { manifest } = await readArchive(path, {
    unlock: { passphrase: 'correct horse battery staple' },
    appendKey,
    onMember,
  });
  expect(read).toEqual(['a: content']);
  expect(manifest).toMatchObject({ said: 'so', members: [{ name: 'a', bytes: 7 }] });
  const wrong = readArchive(path, { unlock: { passphrase: 'wrong horse battery staple' }, appendKey, onMember });
  await expect(wrong).rejects.toThrow('The passphrase does not open');
});

test('backups that begin in the same second do not destroy each other', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'consent-ledger-1-20260101T000000Z.tar.gz.age');
  const { append: appendKey } = deriveKeys(Buffer.alloc(32, 1));
  const write = () =>
    writeArchive(path, {
      lock: { passphrase: 'correct horse battery staple', workFactor: 8 },
      appendKey,
      madeAt: new Date(),
      produce: async (to) => {
        await to.add('a', Buffer.from('content'));
        return { said: 'so' };
      },
    });
  const written = await Promise.all([write(), write(), write()]);
  expect(written).toHaveLength(3);
  expect(await readdir(folder)).toEqual(['consent-ledger-1-20260101T000000Z.tar.gz.age']);
  const unlock = { passphrase: 'correct horse battery staple' };
  const onMember = async (_: string, content: AsyncIterable<Buffer>) => void (await wholeOf(content));
  expect((await readArchive(path, { unlock, appendKey, onMember })).manifest).toMatchObject({ said: 'so' });
});

test('`backup` keeps scheduled backups locked in a bucket, rotates backups that are no longer locked, and restores from there', async () => {
  const store = await startObjectStore();
  const home = await emptyPlace();
  const { recipient, file } = await keyPair();
  const env = {
    ...home.env,
    ...storageEnvironment(store.url),
    BACKUP_BUCKET: 's3://ledger/backups',
    BACKUP_LOCK: 'GOVERNANCE 2 days',
    BACKUP_RECIPIENTS: recipient,
    BACKUP_SCHEDULE: '10 2 * * *',
    BACKUP_KEEP: '1 daily',
  };
  const world = await createOfficeWorld(env);
  const { jobs, instance } = world.context;
  await world.event('dsar.submitted', { request_id: 'r-1', type: 'access', email: 'one@example.org' });
  const doctor = async () => {
    const { lines } = JSON.parse((await cli({ ...home, env }, 'doctor', '--json')).stdout) as {
      lines: { about: string; level: string; sentence: string }[];
    };
    return lines.filter(({ about }) => about === 'backup').map(({ level, sentence }) => `${level}: ${sentence}`);
  };
  expect(await doctor()).toEqual(['fault: There is no backup in s3://ledger/backups.']);

  // Older copies: one that is no longer locked and was hidden, one that is still locked, one of another installation.
  const nameOf = (of: string, day: string) => `consent-ledger-${of}-202501${day}T000000Z.tar.gz.age`;
  for (const name of [nameOf(instance, '01'), nameOf(instance, '02'), nameOf('0123456789', '01'), 'mine.txt'])
    store.add(`backups/${name}`, Buffer.from('old'));
  store.add(`backups/${nameOf(instance, '01')}`, null);
  const locked = store.versions.find(({ key }) => key.endsWith(nameOf(instance, '02')));
  if (locked !== undefined) locked.lock = { mode: 'COMPLIANCE', until: '2100-01-01T00:00:00Z' };
  expect(await doctor()).toEqual([expect.stringMatching(/^fault: The newest backup was made at 2025-01-02/)]);
  await mkdir(join(home.folder, 'erasures'));
  await writeFile(join(home.folder, 'erasures', 'one.json'), '{}');

  const { id } = await jobs.enqueue({ kind: 'backup', maxAttempts: 1 });
  await vi.waitFor(async () => expect((await jobs.find(id))?.state).toMatch(/done|failed/), PATIENTLY);
  const done = await jobs.find(id);
  expect(done).toMatchObject({
    state: 'done',
    result: { faults: [], removedFromBucket: [nameOf(instance, '01')], lockedInBucket: [nameOf(instance, '02')] },
  });
  const made = store.versions.find(
    ({ key }) => key.startsWith(`backups/consent-ledger-${instance}-2`) && !key.includes('-2025'),
  );
  expect(made?.lock?.mode).toBe('GOVERNANCE');
  expect(store.versions.map(({ key }) => key).filter((key) => key.endsWith(nameOf(instance, '01')))).toEqual([]);
  expect(store.versions.map(({ key }) => key)).toEqual(
    expect.arrayContaining(['backups/mine.txt', 'backups/erasures/one.json']),
  );
  // No copy is left in the data directory.
  expect(await readdir(join(home.folder, 'outgoing'))).toEqual([]);
  expect(await doctor()).toEqual([expect.stringMatching(/^ok: s3:\/\/ledger\/backups: The newest backup was made at/)]);

  const storage = storageEnvironment(store.url);
  const target = await emptyPlace(home.folder);
  const several = await cli(
    { ...target, env: { ...target.env, ...storage } },
    'restore',
    's3://ledger/backups/',
    '--identity',
    file,
  );
  expect([several.code, several.stderr]).toEqual([2, expect.stringContaining('contains backups of 2 installations')]);
  const from = `s3://ledger/${made?.key ?? ''}`;
  const restored = await cli({ ...target, env: { ...target.env, ...storage } }, 'restore', from, '--identity', file);
  // The records of erasures are restored too, and a planted one is recognised.
  expect(restored).toMatchObject({ code: 3, stdout: expect.stringContaining('one.json is not a record') as string });
  expect((await cli(target, 'ledger', 'verify')).code).toBe(0);
  store.versions.splice(0, store.versions.length, ...store.versions.filter(({ key }) => !key.includes('0123456789')));
  const another = await emptyPlace(home.folder);
  const newest = await cli(
    { ...another, env: { ...another.env, ...storage } },
    'restore',
    's3://ledger/backups/',
    '--identity',
    file,
  );
  expect(newest.code).toBe(3);
  const missing = await cli(
    { ...another, env: { ...another.env, ...storage } },
    'restore',
    's3://ledger/nothing.age',
    '--identity',
    file,
  );
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('the object does not exist')]);

  store.fault = 'busy';
  expect(await doctor()).toEqual([
    expect.stringMatching(/^fault: s3:\/\/ledger\/backups cannot be read: .*503 SlowDown/),
  ]);
  const failed = await cli({ ...home, env }, 'backup');
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('HTTP 503 SlowDown')]);
  expect(await readdir(join(home.folder, 'outgoing'))).toEqual([]);
});

test('`backup` makes scheduled backups in a worker, keeps some of each period, and doctor reports a missing one', async () => {
  const home = await emptyPlace();
  const { recipient, file } = await keyPair();
  const folder = join(await temporaryFolder(), 'backups');
  const env = {
    ...home.env,
    BACKUP_FOLDER: folder,
    BACKUP_RECIPIENTS: recipient,
    BACKUP_SCHEDULE: '10 2 * * *',
    BACKUP_KEEP: '2 daily',
  };
  const world = await createOfficeWorld(env);
  const { store, jobs, instance } = world.context;
  const scheduled = await store.read
    .selectFrom('schedules')
    .select(['kind', 'cron'])
    .where('name', '=', 'backup')
    .execute();
  expect(scheduled).toEqual([{ kind: 'backup', cron: '10 2 * * *' }]);
  const doctor = async () => {
    const { stdout } = await cli({ ...home, env }, 'doctor', '--json');
    const { lines } = JSON.parse(stdout) as { lines: { about: string; level: string; sentence: string }[] };
    return lines.filter(({ about }) => about === 'backup').map(({ level, sentence }) => `${level}: ${sentence}`);
  };
  const run = async () => {
    const { id } = await jobs.enqueue({ kind: 'backup', maxAttempts: 1 });
    await vi.waitFor(async () => expect((await jobs.find(id))?.state).toMatch(/done|failed/), PATIENTLY);
    return jobs.find(id);
  };
  expect(await doctor()).toEqual([expect.stringMatching(/^fault: .*ENOENT/)]);
  await mkdir(folder);
  const old = ['20250101T000000Z', '20250102T000000Z'].map((time) => `consent-ledger-${instance}-${time}.tar.gz.age`);
  const another = 'consent-ledger-0123456789-20250101T000000Z.tar.gz.age';
  for (const name of [...old, another, 'mine.txt']) await writeFile(join(folder, name), '');
  expect(await doctor()).toEqual([expect.stringMatching(/^fault: The newest backup was made at 2025-01-02/)]);
  await mkdir(join(home.folder, 'erasures'));
  await writeFile(join(home.folder, 'erasures', 'one.json'), '{}');
  const done = await run();
  expect(done).toMatchObject({ state: 'done', result: { faults: [], removed: [old[0]] } });
  const names = (await readdir(folder)).filter((name) => name.startsWith(`consent-ledger-${instance}`)).sort();
  expect(names).toHaveLength(2);
  expect(names[0]).toBe(old[1]);
  expect(await readdir(folder)).toEqual(expect.arrayContaining([another, 'mine.txt', 'erasures']));
  expect(await readdir(join(folder, 'erasures'))).toEqual(['one.json']);
  expect(await doctor()).toEqual([expect.stringMatching(/^ok: The newest backup was made at/)]);
  const target = await emptyPlace(home.folder);
  const restored = await cli(target, 'restore', join(folder, names[1] ?? ''), '--identity', file);
  // Anyone may have put a file next to the backups.
  expect(restored).toMatchObject({ code: 3, stdout: expect.stringContaining('one.json is not a record') as string });
  expect((await cli(target, 'ledger', 'verify')).code).toBe(0);

  await rm(folder, { recursive: true });
  await writeFile(folder, 'a file where the folder was');
  expect(await run()).toMatchObject({ state: 'failed' });
  expect(await doctor()).toEqual([
    expect.stringMatching(/^fault: The backup of .* failed: /),
    expect.stringMatching(/^fault: .*ENOTDIR/),
  ]);
});

test('`backup` keeps the newest backup of each of the last days, weeks and months', () => {
  const day = (nth: number) => new Date(Date.UTC(2026, 0, 1 + nth, 2));
  const backups = Array.from({ length: 400 }, (_, nth) => ({ name: `b${nth}`, madeAt: day(399 - nth) }));
  const keep = { daily: 7, weekly: 5, monthly: 12 };
  const gone = new Set(outdated(backups, keep));
  const kept = backups.filter((one) => !gone.has(one)).map(({ madeAt }) => madeAt.toISOString().slice(0, 10));
  expect(kept).toEqual([
    ...['2027-02-04', '2027-02-03', '2027-02-02', '2027-02-01', '2027-01-31', '2027-01-30', '2027-01-29'],
    // Sundays, then last days of months.
    ...['2027-01-24', '2027-01-17', '2027-01-10', '2026-12-31', '2026-11-30', '2026-10-31', '2026-09-30'],
    ...['2026-08-31', '2026-07-31', '2026-06-30', '2026-05-31', '2026-04-30', '2026-03-31'],
  ]);
  // Thinning out day by day leaves the same backups as doing it once at the end.
  let rolling: typeof backups = [];
  for (const one of [...backups].reverse()) {
    const all = [one, ...rolling];
    const old = new Set(outdated(all, keep));
    rolling = all.filter((backup) => !old.has(backup));
  }
  expect(rolling.map(({ madeAt }) => madeAt.toISOString().slice(0, 10))).toEqual(kept);
});

test('`restore` reads no more of a file that was replaced after it was checked than the checked one had', async () => {
  const home = await emptyPlace();
  const context = await opened(home);
  await fill(context, 20);
  await context.close();
  const { recipient, file: keyFile } = await keyPair();
  const made = await backUp(home, recipient);
  const size = (await stat(made.path)).size;
  const unlock = { identities: [(await readFile(keyFile, 'utf8')).split('\n')[1] ?? ''] };
  const members: [string, Buffer][] = [];
  const onMember = async (name: string, content: AsyncIterable<Buffer>) =>
    void members.push([name, await wholeOf(content)]);
  await readArchive(made.path, { unlock, appendKey: null, onMember });
  const [first, ...rest] = members;
  if (first === undefined) throw new Error('the backup is empty');
  const crafted = join(await temporaryFolder(), 'crafted');
  const checked = await readFile(made.path);
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
  onTestFinished(() => clearInterval(watch));
  for (const [changed, words] of [
    [[first, ['database/settings/000001.jsonl', 300 << 20]], 'database/settings/000001.jsonl is larger than before'],
    [[['backup.json', 300 << 20]], 'backup.json is larger than before'],
    [[first, ['database/people/000009.jsonl', 300 << 20]], 'database/people/000009.jsonl is new'],
    [[first, ...rest.slice(0, 2), ['files/log.vkey', 300 << 20]], 'files/log.vkey is larger than before'],
  ] satisfies [Crafted[], string][]) {
    await craftArchive(crafted, recipient, changed);
    await writeFile(made.path, checked);
    const target = await emptyPlace(home.folder);
    const restored = restoreBackup({
      ...{ config: loadConfig(environment(target.folder, target.env), target.folder), file: made.path, unlock },
      ...{ journal: null, erasures: null, despiteFaults: false, actor: 'test', owner: null },
      ...{ epoch: null, log: createLog('fatal'), clock: () => new Date() },
      onProgress: (step, done) => {
        if (step === 'bytes checked' && done === size) renameSync(crafted, made.path);
      },
    });
    await expect(restored).rejects.toThrow(`was replaced while it was read: ${words}`);
    await expect(restored).rejects.toBeInstanceOf(VerificationFault);
    expect((await readdir(target.folder)).filter((name) => name !== 'keys')).toEqual([]);
  }
  // The bytes that make such a file are made here, a mebibyte at a time.
  expect((most - before) / (1 << 20)).toBeLessThan(150);
});
