import { describe, expect, it } from 'vitest';
import { isLong } from '../temporary.ts';
import { sorted } from './sorted-rows.ts';
import { until, workerWorld } from './worker-world.ts';

const PAGE_ROWS = 10;

describe('a worker that is killed', () => {
  it('after each page of a run ends with exactly the rows of the service, each once, and fetches no stored page again', async () => {
    const world = await workerWorld({ consentRows: 25, dialect: 'mixed', seed: 5 });
    const { watched } = world;
    const rows = world.rows();
    const pages = Math.ceil(rows.length / PAGE_ROWS);
    expect(pages).toBe(3);
    let cursor: string | null = null;
    for (let page = 1; page < pages; page += 1) {
      const before = watched.requests.length;
      // The current page arrives; the next one, requested ahead, never does.
      watched.letThrough(1);
      const worker = await world.startWorker(2);
      await until(async () => {
        if (watched.requests.length === before) await world.comeRound('sync');
        return (await world.bodies()).length === page * PAGE_ROWS && watched.waiting().length === 1;
      });
      await worker.kill();
      expect(watched.requests[before]?.get('cursor') ?? null).toBe(cursor);
      const [position] = await world.positions();
      cursor = position?.cursor ?? null;
      expect(cursor).toBe(watched.requests.at(-1)?.get('cursor'));
      expect(position).toMatchObject({ rows_total: page * PAGE_ROWS, last_success_at: null });
      expect(watched.requests.length - before).toBe(2);
    }

    watched.letThrough(Number.POSITIVE_INFINITY);
    const worker = await world.startWorker(2);
    await until(async () => {
      await world.comeRound('sync');
      return (await world.positions())[0]?.last_success_at != null;
    });
    expect(await worker.stop()).toBe(0);
    expect(sorted(await world.bodies())).toEqual(sorted(rows));
    expect(await world.status()).toMatchObject([{ bannerId: null, state: 'up-to-date', rows: rows.length, gap: null }]);
    expect((await world.command('ledger', 'verify')).code).toBe(0);
  });

  it('at random moments, with several banners pulled concurrently, ends with exactly the rows, each once', async () => {
    const world = await workerWorld(
      { clients: [{ slug: 'shop', banners: 4 }], consentRows: 300, dialect: 'nested' },
      { pageRows: PAGE_ROWS, delay: 30 },
    );
    const banners = world.client.banners.map(({ id }) => id);
    expect(banners).toHaveLength(4);
    Object.assign(world.env, { GIVEN: world.client.apiKey });
    const added = await world.command(
      ...[
        'source',
        'add',
        'shop',
        '--base-url',
        world.watched.baseUrl,
        '--api-key-env',
        'GIVEN',
        '--banner',
        ...banners,
      ],
    );
    expect(added.stderr + added.stdout).toContain('shop');
    Object.assign(world.env, { SERVICE_BASE_URL: '', SERVICE_API_KEY: '' });

    world.watched.letThrough(0);
    const first = await world.startWorker(2);
    await world.comeRound('sync');
    await until(() => world.watched.waiting().length >= 3);
    // In parallel, and only the first page of each banner.
    expect(new Set(world.watched.waiting().map((query) => query.get('banner_id'))).size).toBe(3);
    world.watched.letThrough(Number.POSITIVE_INFINITY);
    let worker = first;
    const isDone = async () => {
      const positions = await world.positions();
      return positions.length === 4 && positions.every((one) => one.last_success_at !== null);
    };
    for (const milliseconds of isLong ? [150, 400, 250, 700] : [150, 400]) {
      const before = world.watched.requests.length;
      await until(async () => {
        if (world.watched.requests.length > before || (await isDone())) return true;
        await world.comeRound('sync');
        return false;
      });
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      await worker.kill();
      worker = await world.startWorker(2);
    }
    await until(async () => {
      if (await isDone()) return true;
      await world.comeRound('sync');
      return false;
    });
    // A further scheduled sync may have started; it ends by itself.
    await until(async () => (await world.status()).every(({ job, state }) => job === null && state === 'up-to-date'));
    expect(await worker.stop()).toBe(0);
    expect(sorted(await world.bodies())).toEqual(sorted(world.rows()));
    const status = await world.status();
    expect(status.map(({ source, bannerId, state }) => [source, bannerId, state])).toEqual(
      [...banners].sort().map((banner) => ['shop', banner, 'up-to-date']),
    );
    expect(status.reduce((sum, { rows }) => sum + rows, 0)).toBe(world.rows().length);
  });

  it('is replaced if it only went silent, and adds nothing when it resumes', async () => {
    const world = await workerWorld({ consentRows: 75 });
    world.watched.letThrough(3);
    const silent = await world.startWorker(2);
    await world.comeRound('sync');
    await until(async () => (await world.bodies()).length === 3 * PAGE_ROWS);
    // In a separate transaction, so the worker holds no lock when it stops.
    await (await world.store()).transaction(async () => void silent.child.kill('SIGSTOP'));
    world.watched.letThrough(Number.POSITIVE_INFINITY);
    const other = await world.startWorker(2);
    await until(async () => (await world.positions())[0]?.last_success_at != null);
    silent.child.kill('SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await silent.stop()).toBe(0);
    expect(await other.stop()).toBe(0);
    expect(sorted(await world.bodies())).toEqual(sorted(world.rows()));
    expect((await world.positions())[0]).toMatchObject({
      rows_total: 75,
      run_id: null,
      cursor: null,
      last_error: null,
    });
  });
});

describe('a sync that a worker is running', () => {
  it('gives way to a sync from the command line, which finishes it: every row once', async () => {
    const world = await workerWorld({ consentRows: 75 });
    world.watched.letThrough(3);
    const worker = await world.workHere();
    await world.comeRound('sync');
    await until(async () => (await world.bodies()).length === 3 * PAGE_ROWS);
    const before = world.watched.requests.length;
    const byHand = world.json<{ banners: Record<string, unknown>[] }[]>('sync');
    await until(() => world.watched.requests.length > before);
    world.watched.letThrough(Number.POSITIVE_INFINITY);
    expect((await byHand)[0]?.banners).toHaveLength(1);
    await until(async () => (await world.positions())[0]?.last_success_at != null);
    await until(async () => (await world.status())[0]?.job === null);
    const [job] = await (await world.store()).read.selectFrom('jobs').selectAll().where('kind', '=', 'sync').execute();
    expect(job).toMatchObject({ state: 'done', attempts: 1, error: null });
    await worker.stop();
    expect(sorted(await world.bodies())).toEqual(sorted(world.rows()));
    expect((await world.positions())[0]).toMatchObject({ rows_total: 75, run_id: null, cursor: null });
  });

  it('shows its progress, can be cancelled, and the next one continues from there', async () => {
    const world = await workerWorld({ consentRows: 75 });
    world.watched.letThrough(3);
    const worker = await world.workHere();
    await world.comeRound('sync');
    await until(async () => (await world.bodies()).length === 3 * PAGE_ROWS);
    await until(async () => (await world.status())[0]?.job?.progress?.message === 'all banners: 30 rows, 30 new');
    expect(await world.status()).toMatchObject([
      {
        source: 'default',
        bannerId: null,
        state: 'running',
        rows: 30,
        watermark: null,
        run: { from: null, to: null },
        job: { kind: 'sync', state: 'running', progress: { message: 'all banners: 30 rows, 30 new' } },
      },
    ]);
    const seen = await world.command('sync', 'status');
    expect(seen.stdout).toContain('default: a worker syncs, all banners: 30 rows, 30 new');
    expect(seen.stdout).toMatch(/a run that began at \S+ reads from the beginning; its last page was stored \d+ s ago/);
    expect(seen.stdout).toContain('gap: the first run has not finished');

    expect(await world.json('sync', 'cancel')).toMatchObject([
      { kind: 'sync', source: 'default', outcome: 'requested' },
    ]);
    await until(async () => (await world.status())[0]?.job === null);
    const cancelled = await (await world.store()).read
      .selectFrom('jobs')
      .select('state')
      .where('kind', '=', 'sync')
      .execute();
    expect(cancelled).toEqual([{ state: 'cancelled' }]);
    expect((await world.command('sync', 'cancel')).stdout).toContain('No syncs or recounts are running');
    const [{ cursor } = expect.fail('there is no position')] = await world.positions();
    expect(cursor).toEqual(expect.any(String));
    expect(await world.status()).toMatchObject([{ state: 'interrupted', rows: 30, job: null }]);

    const before = world.watched.requests.length;
    world.watched.letThrough(Number.POSITIVE_INFINITY);
    await world.comeRound('sync');
    await until(async () => (await world.positions())[0]?.last_success_at != null);
    expect(world.watched.requests[before]?.get('cursor')).toBe(cursor);
    expect(sorted(await world.bodies())).toEqual(sorted(world.rows()));
    await worker.stop();
  });

  it('shows an error, and that it continued', async () => {
    const world = await workerWorld({ consentRows: 75 });
    world.sandbox.faults.set([{ name: 'payment-required', on: 'consent-logs', after: 2 }]);
    const worker = await world.workHere();
    await world.comeRound('sync');
    await until(async () => (await world.status())[0]?.state === 'failing');
    expect(await world.status()).toMatchObject([
      { state: 'failing', rows: 20, lastError: expect.stringContaining('subscription') as string, watermark: null },
    ]);
    expect((await world.command('sync', 'status')).stdout).toMatch(
      /failing[\s\S]*The subscription with the service has/,
    );
    world.sandbox.faults.set([]);
    await world.comeRound('sync');
    // The position is up to date a moment before its job has ended.
    await until(async () => {
      const [row] = await world.status();
      return row?.state === 'up-to-date' && row.job === null;
    });
    const [row] = await world.status();
    expect(row).toMatchObject({ state: 'up-to-date', rows: 75, lastError: null, run: null, job: null, gap: null });
    expect(row?.lagMs).toBeLessThan(120_000);
    await worker.stop();
    expect(sorted(await world.bodies())).toEqual(sorted(world.rows()));
  });
});

describe('the nightly recount', () => {
  it.each([
    ['where no banner is named', false],
    ['where the banners are named', true],
  ])('%s, finds rows that came days late and names missing rows', async (_, named) => {
    const world = await workerWorld({ clients: [{ slug: 'shop', banners: 2 }], consentRows: 75, dialect: 'enveloped' });
    const all = world.rows();
    // Some of the rows are not shown yet.
    world.sandbox.faults.set([{ name: 'late-rows', rate: 0.2, ms: 30 * 86_400_000 }]);
    const early = world.rows();
    const late = all.filter((row) => !early.includes(row));
    expect(late.length).toBeGreaterThan(3);
    let source = 'default';
    if (named) {
      source = 'shop';
      Object.assign(world.env, { GIVEN: world.client.apiKey });
      await world.command(
        ...['source', 'add', 'shop', '--base-url', world.watched.baseUrl, '--api-key-env', 'GIVEN', '--banner'],
        ...world.client.banners.map(({ id }) => id),
      );
      Object.assign(world.env, { SERVICE_BASE_URL: '', SERVICE_API_KEY: '' });
    }
    const worker = await world.workHere();
    const positions = named ? 2 : 1;
    await world.comeRound('sync');
    await until(async () => {
      const found = await world.positions();
      return found.length === positions && found.every((one) => one.last_success_at !== null);
    });
    expect(sorted(await world.bodies())).toEqual(sorted(early));

    world.sandbox.faults.set([]);
    const again = (await world.actions('sync.finished')).length;
    await world.comeRound('sync');
    await until(async () => (await world.actions('sync.finished')).length >= again + positions);
    // The look-back of a day does not reach the late rows.
    expect((await world.bodies()).length).toBeLessThan(all.length);
    const missing = all.length - (await world.bodies()).length;

    await world.comeRound('recount');
    await until(async () => (await world.actions('sync.recounted')).length >= positions);
    expect(sorted(await world.bodies())).toEqual(sorted(all));
    const counts = await world.actions('sync.recounted');
    expect(counts.reduce((sum, one) => sum + Number(one['found']), 0)).toBe(missing);
    expect(counts.every((one) => one['gone'] === 0 && one['actor'] === 'schedule')).toBe(true);
    const status = await world.status();
    expect(status.reduce((sum, { rows }) => sum + rows, 0)).toBe(all.length);
    expect(status.every((one) => one.source === source && one.recount !== null)).toBe(true);
    const shown = await world.command('sync', 'status');
    expect(shown.stdout).toMatch(/the recount of \S+ found \d+ rows? that no earlier run had fetched/);

    // Now some earlier rows are no longer shown.
    world.sandbox.faults.set([{ name: 'late-rows', rate: 0.2, ms: 30 * 86_400_000 }]);
    await world.comeRound('recount');
    await until(async () => (await world.actions('sync.recounted')).length >= 2 * positions);
    const second = (await world.actions('sync.recounted')).slice(positions);
    const gone = second.reduce((sum, one) => sum + Number(one['gone']), 0);
    // Rows of the last hour are not judged.
    expect(gone).toBeGreaterThan(0);
    expect(gone).toBeLessThanOrEqual(late.length);
    expect((await world.bodies()).length).toBe(all.length);
    await worker.stop();
  });
});
