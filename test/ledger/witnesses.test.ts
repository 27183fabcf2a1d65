import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { type Context, openContext } from '../../src/context/context.ts';
import { parseVerifierKey } from '../../src/crypto/checkpoint.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { byCheckpoint } from '../../src/ledger/cosigned-checkpoints.ts';
import { certificatesIn } from '../../src/ledger/timestamp.ts';
import { findNotes } from '../../src/ledger/verify/outside-checkpoints.ts';
import { verifyPublicly } from '../../src/ledger/verify/verify-publicly.ts';
import { createLog } from '../../src/log/log.ts';
import { longest } from '../../src/service/outgoing-http.ts';
import { createJobHandlers, startWorker } from '../../src/worker/worker.ts';
import { startObjectStore, storageEnvironment } from '../outside/object-store.ts';
import { environment } from '../serving.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';
import { openssl, serveAuthority } from './time-stamping-authority.ts';
import { createKey, startWitness, startWitnessWithKeys } from './witness-stand-in.ts';

/** An installation whose witness policy is outside its DATA_DIR. */
async function createWorld(more: Record<string, string> = {}) {
  const folder = await temporaryFolder();
  const [dataDir, policy] = [join(folder, 'data'), join(folder, 'policy')];
  let now = new Date();
  const config = loadConfig(environment(dataDir, { WITNESSES: policy, LOG_LEVEL: 'fatal', ...more }), folder);
  const context: Context = await openContext(config, createLog('fatal'), { clock: () => now });
  onTestFinished(() => context.close());
  let count = 0;
  return {
    folder,
    context,
    witnessed: join(dataDir, 'witnessed'),
    write: (...lines: string[]) => writeFile(policy, `${lines.join('\n')}\n`),
    later: (hours: number) => {
      now = new Date(now.getTime() + hours * 3_600_000);
    },
    async deliver() {
      count += 1;
      const rawBody = Buffer.from(JSON.stringify({ event: 'consent.recorded', data: { consent_id: `c-${count}` } }));
      const delivery = {
        source: 'default',
        rawBody,
        headers: {},
        secretId: 'aaaaaaaa',
        verdict: 'verified',
        contentType: null,
      } as const;
      return (await appendDelivery(context.ledger, delivery, now.toISOString())).seq;
    },
    /** The scheduled job. */
    run: async () =>
      createJobHandlers(context).witness?.(null, {} as never) as Promise<{
        quorum: boolean;
        witnesses: { name: string; outcome: string; reason?: string }[];
      }>,
    faults: async () => (await context.verify()).faults.map(({ fault, sentence }) => `${fault}: ${sentence}`),
    warned: async () => (await context.warnings()).map(({ code }) => code),
  };
}

test('a checkpoint is cosigned, time-stamped and copied elsewhere on schedule, and verify checks each statement', async () => {
  const world = await createWorld();
  const { context, folder, witnessed } = world;
  const share = join(folder, 'share');
  await mkdir(share);
  const authority = await serveAuthority();
  const lines = [
    `witness other ${await startWitness('witness.example/1', context.verifierKey)}`,
    `timestamp tsa ${authority.caFile} ${authority.url}`,
    `directory share ${share}`,
    'group all-of all other tsa share',
    'quorum all-of',
  ];
  await world.write(...lines);
  await world.deliver();
  expect(await world.run()).toMatchObject({
    quorum: true,
    witnesses: [{ outcome: 'cosigned' }, { outcome: 'stamped' }, { outcome: 'copied' }],
  });
  // With the entry that records what was signed before.
  const size = (await world.deliver()) + 1;
  expect(await world.run()).toMatchObject({ quorum: true });
  // A witness gets each checkpoint only once.
  expect((await world.run()).witnesses.map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged', 'unchanged']);
  expect(await context.verify()).toMatchObject({
    faults: [],
    cosignatures: 2,
    timestamps: 2,
    copies: 2,
    witnessed: size,
    unchecked: [],
  });
  expect(await readdir(share)).toHaveLength(2);

  // The files have the formats that other tools read.
  const stem = `1-${String(size).padStart(16, '0')}`;
  const verified = await openssl(
    witnessed,
    'ts',
    '-verify',
    '-data',
    `${stem}.note`,
    '-in',
    `${stem}.tsa.tsr`,
    '-CAfile',
    authority.caFile,
  );
  expect(verified.stdout + verified.stderr).toContain('Verification: OK');

  const path = (name: string) => join(witnessed, name);
  const spoil = async (name: string, spoilt: (bytes: Buffer) => Buffer | string | null) => {
    const bytes = await readFile(path(name));
    const other = spoilt(bytes);
    await (other === null ? rm(path(name)) : writeFile(path(name), other));
    const found = await world.faults();
    await writeFile(path(name), bytes);
    return found.join('\n');
  };
  const first = '1-0000000000000001';
  expect(await spoil(`${stem}.tsa.tsr`, () => null)).toContain('what tsa signed is missing from DATA_DIR/witnessed');
  expect(await spoil(`${stem}.txt`, () => null)).toContain('what other signed is missing from DATA_DIR/witnessed');
  const earlier = await readFile(path(`${first}.tsa.tsr`));
  expect(await spoil(`${stem}.tsa.tsr`, () => earlier)).toContain('it covers something else');
  expect(
    await spoil(`${stem}.txt`, (bytes) => bytes.toString().replace(/\n— witness\.example\/1 .*\n/, '\n')),
  ).toContain('has no cosignature');
  const cosigned = await readFile(path(`${first}.txt`), 'utf8');
  const line = /— witness\.example\/1 .*\n/.exec(cosigned)?.[0] ?? '';
  expect(await spoil(`${stem}.txt`, (bytes) => bytes.toString().replace(/— witness\.example\/1 .*\n/, line))).toContain(
    'or is for other content',
  );
  expect(await spoil(`${stem}.note`, (bytes) => bytes.toString().replace(`\n${size}\n`, `\n${size + 1}\n`))).toContain(
    'witness-invalid',
  );
  expect(await world.faults()).toEqual([]);

  // An attacker with every key rewrites the ledger and its checkpoints, but not the copies elsewhere.
  const copy = join(share, (await readdir(share)).sort()[1] ?? '');
  const note = await readFile(copy, 'utf8');
  await writeFile(copy, note.replace(/^[A-Za-z0-9+/]{43}=$/m, Buffer.alloc(32).toString('base64')));
  expect((await world.faults()).join('\n')).toContain('the checkpoint at share');
  await world.deliver();
  expect((await world.run()).witnesses[2]).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('is not a checkpoint of this ledger') as string,
  });
  await writeFile(copy, note);

  // The verifier without secrets accepts the same files.
  const key = parseVerifierKey(context.verifierKey);
  const roots = certificatesIn(await readFile(authority.caFile, 'utf8'));
  const publicly = async (bytes: Buffer) =>
    verifyPublicly({
      read: context.store.read,
      key: key as NonNullable<typeof key>,
      outside: findNotes(await readFile(path(`${stem}.txt`))).notes.map((found) => ({
        where: 'cosigned',
        note: found,
      })),
      timestamps: { tokens: [{ where: 'token', bytes }], roots },
    });
  expect(await publicly(await readFile(path(`${stem}.tsa.tsr`)))).toMatchObject({
    faults: [],
    stamped: [{ where: 'token', size }],
  });
  expect((await publicly(earlier)).faults).toMatchObject([
    { sentence: 'token: it covers none of the given checkpoints' },
  ]);

  // Cosignatures of witnesses without an address still count; those of unlisted witnesses do not.
  await world.write(...lines.slice(0, 2).map((one) => one.replace(/ http\S+$/, '')), lines[2] ?? '', 'quorum share');
  expect((await world.run()).witnesses.map(({ name }) => name)).toEqual(['share']);
  expect(await world.faults()).toEqual([]);
  await world.write('quorum none');
  expect((await world.faults()).join('\n')).toContain('not from an authority in WITNESSES');
});

test('a witness or an authority whose clock is ahead proves nothing, and verify names it', async () => {
  const world = await createWorld();
  const { context } = world;
  const authority = await serveAuthority();
  await world.write(
    `witness other ${await startWitness('witness.example/1', context.verifierKey)}`,
    `timestamp tsa ${authority.caFile} ${authority.url}`,
    'group all-of all other tsa',
    'quorum all-of',
  );
  await world.deliver();
  // The installation's clock is two days behind those of the others.
  world.later(-48);
  expect(await world.run()).toMatchObject({
    quorum: false,
    witnesses: [
      { outcome: 'failed', reason: expect.stringContaining('which has not come yet by the clock of this machine') },
      { outcome: 'failed', reason: expect.stringContaining('which has not come yet by the clock of this machine') },
    ],
  });
  world.later(48);
  expect(await world.run()).toMatchObject({ quorum: true });
  expect(await world.faults()).toEqual([]);
  world.later(-48);
  const faults = (await world.faults()).join('\n');
  expect(faults).toMatch(/witness-invalid: the cosignature of other in .* does not count: it states the time 20/);
  expect(faults).toMatch(/witness-invalid: the token .* does not count: it states the time 20/);
});

test('what witnesses signed is recorded under the next checkpoint, so that removing it with the state of the runs is found', async () => {
  const world = await createWorld();
  const { context, folder, witnessed } = world;
  await world.write(`witness other ${await startWitness('witness.example/1', context.verifierKey)}`, 'quorum other');
  const recorded = async () => {
    await context.projector.catchUp();
    const rows = await context.store.read
      .selectFrom('action_history')
      .select('object')
      .where('action', '=', 'checkpoint.witnessed')
      .execute();
    return rows.map(({ object }) => object);
  };
  await world.deliver();
  await world.run();
  // Nothing was appended since, so nothing is recorded, and nothing is witnessed again.
  await world.run();
  expect(await recorded()).toEqual([]);
  await world.deliver();
  await world.run();
  await world.run();
  expect(await recorded()).toEqual(['1-0000000000000001.txt']);
  expect(await world.faults()).toEqual([]);

  await rename(witnessed, join(folder, 'elsewhere'));
  await context.store.transaction(({ query }) =>
    query.deleteFrom('settings').where('name', '=', 'witnesses').execute(),
  );
  expect(await world.faults()).toEqual([
    'file-missing: entry 3 records what witnesses signed, but DATA_DIR/witnessed/1-0000000000000001.txt is missing',
  ]);
  await rename(join(folder, 'elsewhere'), witnessed);
  const file = join(witnessed, '1-0000000000000001.txt');
  await writeFile(file, (await readFile(file, 'utf8')).replace(/\n— witness\.example\/1 .*\n$/, '\n'));
  expect((await world.faults()).join('\n')).toContain('no longer holds all of it');
});

test('what a slow witness signed after a checkpoint was recorded is recorded with the next one', async () => {
  const world = await createWorld();
  const { context, witnessed } = world;
  const slow = createKey('witness.example/2', 'ed25519');
  await world.write(
    `witness other ${await startWitness('witness.example/1', context.verifierKey)}`,
    `witness slow ${slow.vkey}`,
    'quorum other',
  );
  const recorded = async () => {
    await context.projector.catchUp();
    const rows = await context.store.read
      .selectFrom('action_history')
      .select('details')
      .where('action', '=', 'checkpoint.witnessed')
      .orderBy('seq')
      .execute();
    return rows.map(({ details }) =>
      (JSON.parse(details) as { files: { name: string; sha256: string[] }[] }).files.map(
        ({ name, sha256 }) => `${name} ${sha256.length}`,
      ),
    );
  };
  await world.deliver();
  await world.run();
  await world.deliver();
  await world.run();
  const path = join(witnessed, '1-0000000000000001.txt');
  const cosigned = await readFile(path, 'utf8');
  const text = cosigned.slice(0, cosigned.indexOf('\n\n') + 1);
  await writeFile(path, `${cosigned}${slow.sign(text, { time: BigInt(Math.floor(Date.now() / 1000)) })}\n`);
  expect(await world.faults()).toEqual([]);
  await world.deliver();
  await world.run();
  await world.deliver();
  await world.run();
  expect(await recorded()).toEqual([
    ['1-0000000000000001.txt 1'],
    ['1-0000000000000001.txt 2', '1-0000000000000003.txt 1'],
    ['1-0000000000000005.txt 1'],
  ]);
  await writeFile(path, cosigned);
  expect((await world.faults()).join('\n')).toContain('1-0000000000000001.txt no longer holds all of it');
});

test('a failing witness does not hold up the others, and warnings say what has been waiting too long', async () => {
  const world = await createWorld();
  const { context, folder } = world;
  const share = join(folder, 'share');
  await mkdir(share);
  const before = longest.exchangeMs;
  longest.exchangeMs = 300;
  onTestFinished(() => {
    longest.exchangeMs = before;
  });
  const authority = await serveAuthority((answer) => answer.subarray(0, 40));
  await world.write(
    `witness silent ${await startWitness('witness.example/1', context.verifierKey, { silent: true })}`,
    `witness forger ${await startWitness('witness.example/2', context.verifierKey, { forge: true })}`,
    `timestamp tsa ${authority.caFile} ${authority.url}`,
    `directory gone ${join(folder, 'not-mounted')}`,
    `directory share ${share}`,
    'group both all silent share',
    'quorum both',
  );
  await world.deliver();
  const { quorum, witnesses } = await world.run();
  expect(quorum).toBe(false);
  expect(witnesses.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
    'silent failed',
    'forger failed',
    'tsa failed',
    'gone failed',
    'share copied',
  ]);
  expect(await world.warned()).not.toContain('witness-late');
  world.later(25);
  expect(await world.warned()).toContain('witness-late');
  await world.write(`directory share ${share}`, 'quorum share');
  await world.run();
  expect(await world.warned()).not.toContain('witness-late');
  expect((await context.seal()).outcome).toBe('unchanged');
});

test('a folder elsewhere is never overwritten, and reveals another history', async () => {
  const world = await createWorld();
  const share = join(world.folder, 'share');
  await mkdir(share);
  await world.write(`directory share ${share}`, 'quorum share');
  await world.deliver();
  await world.run();
  const [name = ''] = await readdir(share);
  const note = await readFile(join(share, name), 'utf8');
  await writeFile(join(share, name), `${note} `);
  const again = await world.context.witness({ again: true });
  expect(again).toMatchObject({
    quorum: false,
    results: [{ result: { outcome: 'forked', reason: `its ${name} is a different checkpoint` } }],
  });
  expect(await readFile(join(share, name), 'utf8')).toBe(`${note} `);
  expect(await world.warned()).toContain('witness-forked');

  // Unmounted: nothing is written in its place.
  await rename(share, `${share}-elsewhere`);
  await mkdir(share);
  expect(await world.context.witness({ again: true })).toMatchObject({
    results: [{ result: { outcome: 'failed', reason: expect.stringContaining('is it mounted?') as string } }],
  });
  expect(await readdir(share)).toEqual([]);

  // A copy over more entries than exist: entries were cut off.
  await rm(share, { recursive: true });
  await rename(`${share}-elsewhere`, share);
  await rename(join(share, name), join(share, name.replace(/\d{16}/, '0000000000000009')));
  expect(await world.context.witness({ again: true })).toMatchObject({
    results: [
      { result: { outcome: 'forked', reason: expect.stringContaining('entries are gone from the end') as string } },
    ],
  });
});

test('a bucket keeps locked copies, and verify finds hidden or overlaid copies and another history', async () => {
  const store = await startObjectStore();
  const world = await createWorld({ ...storageEnvironment(store.url), CHECKPOINT_LOCK: 'COMPLIANCE 3650 days' });
  const { context } = world;
  await world.write('bucket vault s3://ledger/checkpoints', 'quorum vault');
  for (let nth = 1; nth <= 4; nth += 1) {
    await world.deliver();
    expect(await world.run()).toMatchObject({ quorum: true, witnesses: [{ name: 'vault', outcome: 'copied' }] });
  }
  expect((await world.run()).witnesses).toEqual([{ name: 'vault', outcome: 'unchanged' }]);
  const size = store.versions.length;
  expect(store.versions.map(({ lock }) => lock?.mode)).toEqual(Array(size).fill('COMPLIANCE'));
  expect(Date.parse(store.versions[0]?.lock?.until ?? '')).toBeGreaterThan(Date.now() + 3649 * 86_400_000);
  expect(await context.verify()).toMatchObject({ faults: [], copies: size, unchecked: [] });
  // Adding a checkpoint does not require listing the earlier ones.
  const listed = store.asked.filter((one) => one.includes('key-marker')).length;
  expect(listed).toBeGreaterThan(0);

  const [first] = store.versions;
  const { key = '', body } = first ?? {};
  // Hidden behind a delete marker, the version still exists and is read.
  store.add(key, null);
  expect(await context.verify()).toMatchObject({ faults: [], copies: size });
  // Another checkpoint written over it.
  const other = (body ?? Buffer.alloc(0))
    .toString()
    .replace(/^[A-Za-z0-9+/]{43}=$/m, Buffer.alloc(32).toString('base64'));
  store.add(key, Buffer.from(other));
  expect((await world.faults()).join('\n')).toContain('the checkpoint at vault');
  store.versions.splice(-2);

  // The newest one, which adding the next checkpoint reads too.
  const last = store.versions.at(-1);
  store.add(last?.key ?? '', Buffer.from(other));
  await world.deliver();
  expect((await world.run()).witnesses[0]).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('is not a checkpoint of this ledger') as string,
  });
  store.versions.pop();
  store.add((last?.key ?? '').replace(/\d{16}/, '0000000000000009'), last?.body ?? null);
  expect((await world.run()).witnesses[0]).toMatchObject({
    outcome: 'forked',
    reason: expect.stringContaining('entries are gone from the end') as string,
  });
  expect(await world.warned()).toContain('witness-forked');
  store.versions.pop();

  // Emptied, and then down.
  const kept = store.versions.splice(0);
  expect((await world.run()).witnesses[0]).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('was it emptied') as string,
  });
  expect((await context.verify()).unchecked).toEqual(['the bucket of vault holds no checkpoint of this ledger']);
  store.versions.push(...kept);
  const before = { ...longest };
  Object.assign(longest, { pauseMs: 10 });
  onTestFinished(() => void Object.assign(longest, before));
  store.fault = 'busy';
  expect((await world.run()).witnesses[0]).toMatchObject({
    outcome: 'failed',
    reason: 'bucket ledger: HTTP 503 SlowDown',
  });
  expect((await context.verify()).unchecked).toEqual([
    'the bucket of vault cannot be read (bucket ledger: HTTP 503 SlowDown)',
  ]);
});

test('a worker sends the newest checkpoint on WITNESS_SCHEDULE', async () => {
  const world = await createWorld();
  const { jobs, store } = world.context;
  const share = join(world.folder, 'share');
  await mkdir(share);
  await world.write(`directory share ${share}`, 'quorum share');
  await world.deliver();
  const worker = await startWorker(world.context, { kinds: ['witness'] });
  onTestFinished(() => worker.stop());
  const schedule = await store.read
    .selectFrom('schedules')
    .selectAll()
    .where('name', '=', 'witness')
    .executeTakeFirst();
  expect(schedule).toMatchObject({
    kind: 'witness',
    cron: '7 * * * *',
    next_at: expect.stringMatching(/:07:00\.000Z$/) as string,
  });
  await jobs.enqueue({ kind: 'witness', key: 'witness', payload: null });
  await vi.waitFor(async () => expect(await readdir(share)).toHaveLength(1), PATIENTLY);
});

test('a witness that signs with ML-DSA-44 is asked, kept and verified like the others', async () => {
  const world = await createWorld();
  const { context, witnessed } = world;
  const pq = await startWitness('witness.example/1', context.verifierKey, { signs: ['ml-dsa-44'] });
  const forger = await startWitness('witness.example/2', context.verifierKey, { signs: ['ml-dsa-44'], forge: true });
  await world.write(`witness pq ${pq}`, `witness forger ${forger}`, 'quorum pq');
  await world.deliver();
  const { quorum, witnesses } = await world.run();
  expect([quorum, witnesses.map(({ name, outcome }) => [name, outcome])]).toEqual([
    true,
    [
      ['pq', 'cosigned'],
      ['forger', 'failed'],
    ],
  ]);
  const [file = ''] = (await readdir(witnessed)).filter((name) => name.endsWith('.txt'));
  const note = await readFile(join(witnessed, file), 'utf8');
  expect(note).toMatch(/\n— witness\.example\/1 \S{3244}\n$/);
  expect(await context.verify()).toMatchObject({ faults: [], cosignatures: 1 });
  // The note is found whole in a text for people.
  expect(findNotes(Buffer.from(`Our checkpoint:\n${note}Regards`)).notes).toEqual([note]);
  for (const [what, changed] of [
    [
      'a signature',
      note.replace(/(\S{1000})(.)(\S*\n)$/, (_, a: string, b: string, c: string) => a + (b === 'A' ? 'B' : 'A') + c),
    ],
    [
      'a time',
      note.replace(/(— witness\.example\/1 \S{12})(.)/, (_, a: string, b: string) => a + (b === 'A' ? 'B' : 'A')),
    ],
    ['a key id', note.replace(/(— witness\.example\/1 )(.)/, (_, a: string, b: string) => a + (b === 'A' ? 'B' : 'A'))],
    ['a length', note.replace(/\S{4}\n$/, '\n')],
  ] as const) {
    await writeFile(join(witnessed, file), changed);
    expect([what, await world.faults()]).toEqual([what, [expect.stringContaining('witness-invalid')]]);
  }
});

test('a witness with two keys is asked with each, and counts once in a group of them', async () => {
  const world = await createWorld();
  const { context, witnessed } = world;
  const keys = await startWitnessWithKeys('witness.example/1', context.verifierKey, {
    signs: ['ed25519', 'ml-dsa-44'],
  });
  const stranger = await startWitness('witness.example/2', context.verifierKey, { silent: true });
  const lines = [
    `witness old ${keys.ed25519}`,
    `witness new ${keys['ml-dsa-44']}`,
    `witness away ${stranger.split(' ')[0]}`,
  ];
  await world.write(...lines, 'group w any old new', 'group g 2 w away', 'quorum g');
  await world.deliver();
  expect(await world.run()).toMatchObject({ quorum: false });
  const [file = ''] = (await readdir(witnessed)).filter((name) => name.endsWith('.txt'));
  expect((await readFile(join(witnessed, file), 'utf8')).match(/\n— witness\.example\/1 /g)).toHaveLength(2);
  expect(await context.verify()).toMatchObject({ faults: [], cosignatures: 2 });
  // A policy that names one of them keeps that one only.
  await world.deliver();
  await world.write(lines[1] ?? '', 'quorum new');
  expect(await world.run()).toMatchObject({ quorum: true });
  const later = (await readdir(witnessed)).filter((name) => name.endsWith('.txt')).at(-1) ?? '';
  expect((await readFile(join(witnessed, later), 'utf8')).match(/\n— witness\.example\/1 /g)).toHaveLength(1);
});

test('what witnesses signed is recorded in the order of epochs, not of digits', () => {
  const name = (epoch: number, size: number) => `${epoch}-${String(size).padStart(16, '0')}.txt`;
  const names = [name(10, 3), name(9, 200), name(9, 30), name(1, 7), name(10, 4)];
  expect(names.toSorted(byCheckpoint)).toEqual([name(1, 7), name(9, 30), name(9, 200), name(10, 3), name(10, 4)]);
  expect(byCheckpoint('', name(1, 1))).toBeLessThan(0);
});
