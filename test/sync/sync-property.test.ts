import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { dialectChoices } from '../../src/sandbox/dialects.ts';
import { type FaultInput, type FaultName, faultSchema } from '../../src/sandbox/faults.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { createServiceClient } from '../../src/service/client.ts';
import type { Store } from '../../src/store/store.ts';
import { loadCompletedBanners } from '../../src/sync/banners.ts';
import { recountConsentLogs } from '../../src/sync/recount.ts';
import { type SyncRequest, syncSource } from '../../src/sync/sync-source.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { openFreshStore, runs, testKeys } from '../temporary.ts';
import { sorted } from './sorted-rows.ts';
import { sourceAt } from './syncing.ts';

/** For a longer run: PROPERTY_RUNS=1000 npx vitest run --project sqlite test/sync/sync-property.test.ts */
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? runs(32));
const START = Date.parse('2026-07-10T00:00:00.000Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const rate = fc.constantFrom(0.1, 0.3, 0.5);
const times = { times: fc.integer({ min: 1, max: 3 }), after: fc.integer({ min: 0, max: 6 }) };

function faultOf<Name extends FaultName>(
  name: Name,
  more: { [key: string]: fc.Arbitrary<unknown> } = {},
): fc.Arbitrary<FaultInput> {
  return fc.record(more).map((fields) => ({ name, on: 'consent-logs', ...fields }) as FaultInput);
}

/** Every sandbox fault for a page of the consent log. */
const faults: Readonly<Record<string, fc.Arbitrary<FaultInput>>> = {
  latency: faultOf('latency', { rate, ms: fc.integer({ min: 0, max: 15 }) }),
  'time-out': faultOf('time-out', { times: fc.constant(1), after: times.after }),
  'dropped-connection': faultOf('dropped-connection', { rate, carriedOut: fc.boolean() }),
  'too-many-requests': faultOf('too-many-requests', { rate, retryAfter: fc.constantFrom(0, null) }),
  'server-error': faultOf('server-error', { rate, status: fc.constantFrom(500, 502, 503) }),
  'bad-request': faultOf('bad-request', times),
  unauthorized: faultOf('unauthorized', times),
  'payment-required': faultOf('payment-required', times),
  forbidden: faultOf('forbidden', times),
  'truncated-json': faultOf('truncated-json', { rate }),
  'cut-off': faultOf('cut-off', { rate }),
  'invalid-json': faultOf('invalid-json', { rate }),
  'web-page': faultOf('web-page', { rate }),
  'repeated-page': faultOf('repeated-page', { rate }),
  'looping-cursor': faultOf('looping-cursor', {
    times: fc.integer({ min: 1, max: 8 }),
    after: times.after,
    disguised: fc.boolean(),
  }),
  'shifted-page': faultOf('shifted-page', { rate, by: fc.constantFrom(-4, -1, 1, 4) }),
  'reordered-page': faultOf('reordered-page', { rate }),
  'empty-page': faultOf('empty-page', { rate }),
  'expired-cursor': faultOf('expired-cursor', { ...times, status: fc.constantFrom(400, 404, 410) }),
  'cursor-expires-after': faultOf('cursor-expires-after', {
    rate: fc.constantFrom(0.5, 1),
    pages: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom(400, 404, 410, 500),
  }),
  'late-rows': faultOf('late-rows', { rate, ms: fc.constantFrom(HOUR, 10 * HOUR, 60 * DAY) }),
};

/** The steps between beginning and end. A run may be stopped between two pages, or its process dies before or after a commit. */
const step = fc.oneof(
  fc.record({ type: fc.constant('run' as const) }),
  fc.record({ type: fc.constant('full' as const) }),
  fc.record({ type: fc.constant('stop' as const), after: fc.integer({ min: 1, max: 8 }) }),
  fc.record({
    type: fc.constant('die' as const),
    at: fc.integer({ min: 1, max: 10 }),
    committed: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('period' as const),
    from: fc.integer({ min: 1, max: 5 }),
    to: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({ type: fc.constant('recount' as const) }),
  /** One banner is pulled by its name. */
  fc.record({ type: fc.constant('by name' as const), full: fc.boolean() }),
  /** Several visitors decide in one tick. */
  fc.record({ type: fc.constant('burst' as const), rows: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ type: fc.constant('wait' as const), hours: fc.integer({ min: 0, max: 40 }) }),
  /** The local clock is set; this matters if the service states its own time. */
  fc.record({ type: fc.constant('clock' as const), skewHours: fc.integer({ min: -30, max: 300 }) }),
);

const scenario = fc.record({
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  dialect: fc.constantFrom(...dialectChoices),
  consentRows: fc.integer({ min: 0, max: 90 }),
  pageRows: fc.constantFrom<number>(2, 3, 7, 20, 200),
  banners: fc.integer({ min: 1, max: 4 }),
  named: fc.boolean(),
  atOnce: fc.integer({ min: 1, max: 4 }),
  /**
   * How many hours the local clock is ahead of the service's. If the service does not state its time, a clock that is
   * ahead cannot be detected.
   */
  clock: fc.oneof(
    fc.record({ skewHours: fc.integer({ min: -30, max: 300 }), isTold: fc.constant(true) }),
    fc.record({ skewHours: fc.integer({ min: -30, max: 0 }), isTold: fc.constant(false) }),
  ),
  faults: fc
    .uniqueArray(fc.constantFrom(...Object.keys(faults)), { maxLength: 4 })
    .chain((names) => fc.tuple(...names.map((name) => faults[name] ?? fc.constant({ name: 'latency' })))),
  steps: fc.array(step, { maxLength: 6 }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

/** The number of times each fault happened, over all scenarios. */
const happened = new Map<string, number>();

it('these tests cover every consent-log fault of the sandbox', () => {
  const names = faultSchema.options.map(({ shape }) => shape.name.value).filter((name) => !name.startsWith('webhook-'));
  expect(Object.keys(faults).sort()).toEqual([...names].sort());
});

it('a sync ends with exactly the rows of the service, each once, for any rows, dialect, order, pages, ticks, banners, clocks, faults and crashes', {
  timeout: 3_600_000,
}, async () => {
  const calm = { seed: 3, consentRows: 60, pageRows: 7, banners: 2, atOnce: 2, clock: { skewHours: 1, isTold: true } };
  // Each fault at least once, with a process that is killed.
  const examples = Object.keys(faults).map((name, place): [Scenario] => {
    const drawn = fc.sample(faults[name] ?? expect.fail(), { numRuns: 1, seed: place + 1 });
    const steps: Scenario['steps'] = [
      { type: 'die', at: 2, committed: place % 2 === 0 },
      { type: 'burst', rows: 9 },
      { type: 'run' },
    ];
    const dialect = dialectChoices[place % dialectChoices.length] ?? 'plain';
    return [{ ...calm, dialect, named: place % 3 === 0, faults: drawn.map((one) => ({ ...one, rate: 0.5 })), steps }];
  });
  // The log as a whole is refused once, after a banner was pulled by name.
  examples.push([
    {
      ...calm,
      clock: { skewHours: 0, isTold: false },
      dialect: 'plain',
      named: false,
      faults: [{ name: 'bad-request', on: 'consent-logs', times: 1, after: 4 }],
      steps: [{ type: 'by name', full: false }, { type: 'full' }],
    },
  ]);
  // The log as a whole is interrupted after rows that a banner's own log had brought: it was not refused.
  const clock = { skewHours: 0, isTold: true };
  const interrupted: Scenario['steps'] = [
    { type: 'by name', full: false },
    { type: 'stop', after: 1 },
    { type: 'burst', rows: 2 },
  ];
  const few = { seed: 1, consentRows: 3, pageRows: 2, atOnce: 1, clock, dialect: 'plain' as const };
  examples.push([{ ...calm, ...few, named: false, faults: [], steps: interrupted }]);
  await fc.assert(fc.asyncProperty(scenario, play), { examples, numRuns: Math.max(RUNS, examples.length) });
  for (const name of Object.keys(faults)) expect(happened.get(name) ?? 0, name).toBeGreaterThan(0);
});

async function play(drawn: Scenario): Promise<void> {
  let now = START;
  const { sandbox, baseUrl } = await startSandbox({
    seed: drawn.seed,
    clock: () => new Date(now),
    startedAt: new Date(START - 5 * DAY),
    endsAt: new Date(START),
    clients: [{ slug: 'shop', banners: drawn.banners }],
    consentRows: drawn.consentRows,
    dialect: drawn.dialect,
    faults: drawn.faults,
  });
  const { store, close } = await openFreshStore();
  const ledger = createLedger({ store, keys: testKeys });
  try {
    const [{ client, log } = expect.fail('the sandbox has no client')] = sandbox.worlds;
    const source = sourceAt(baseUrl, { banners: drawn.named ? client.banners.map(({ id }) => id) : [] });
    const service = createServiceClient({
      destinations: ON_LOOPBACK,
      baseUrl,
      apiKey: client.apiKey,
      backOffMs: 0,
      retries: 2,
      timeoutMs: 250,
    });
    const serviceFor = (): Pick<typeof service, 'fetchConsentLogPage'> => ({
      fetchConsentLogPage: async (query, signal) => {
        const page = await service.fetchConsentLogPage(query, signal);
        return { ...page, serverDate: drawn.clock.isTold ? new Date(now) : null };
      },
    });
    let { skewHours } = drawn.clock;
    const clock = () => new Date(now + skewHours * HOUR);
    const request = { source, actor: 'test', pageRows: drawn.pageRows, atOnce: drawn.atOnce };
    const run = (more: Partial<SyncRequest> = {}, over: Mortal = { store, ledger }) =>
      syncSource(
        {
          ...over,
          clock,
          serviceFor,
          lookBackMs: 24 * HOUR,
          recipeOf: () => null,
          isKeyShared: () => false,
          catchUp: () => Promise.resolve(),
        },
        { ...request, ...more },
      );
    const rowsNow = () => {
      const page = { bannerId: null, from: null, to: null, limit: 100_000, position: null } as const;
      const { rows } = log.page({ ...page, now, order: 'oldest-first' });
      return rows.map((row) => JSON.stringify(sandbox.dialect.row(row)));
    };
    const recount = async () => {
      const failures: string[] = [];
      for (const bannerId of await loadCompletedBanners(store.read, source.slug)) {
        const deps = {
          store,
          ledger,
          clock,
          service: serviceFor(),
          lookBackMs: 24 * HOUR,
          catchUp: () => Promise.resolve(),
        };
        const counted = await recountConsentLogs(deps, { ...request, bannerId, days: 40 });
        if (counted.outcome === 'failed') failures.push(counted.error);
      }
      return failures;
    };

    for (const one of drawn.steps) {
      switch (one.type) {
        case 'run':
          await run();
          break;
        case 'full':
          await run({ full: true });
          break;
        case 'stop': {
          const controller = new AbortController();
          let pages = 0;
          const onProgress = () => {
            pages += 1;
            if (pages >= one.after) controller.abort(new Error('stopped'));
          };
          await run({ signal: controller.signal, onProgress });
          break;
        }
        case 'die': {
          const died = await run({}, mortal({ store, ledger }, one)).catch((error: unknown) => error);
          if (died instanceof Error) expect(died).toBeInstanceOf(StoreUnavailable);
          break;
        }
        case 'period': {
          const [from, to] = [now - one.from * DAY, now - one.to * HOUR].map((at) => new Date(at).toISOString());
          await run({ from, to });
          break;
        }
        case 'recount':
          await recount();
          break;
        case 'by name':
          await run({ banners: client.banners.slice(0, 1).map(({ id }) => id), full: one.full });
          break;
        case 'burst': {
          const [banner] = client.banners;
          for (let place = 0; place < one.rows; place += 1) {
            const decided = log.decisions.rowAt(place % Math.max(1, log.decisions.total));
            const bannerId = client.banners[place % client.banners.length]?.id ?? banner?.id ?? '';
            if (log.decisions.total > 0)
              log.record({
                ...decided,
                bannerId,
                recordId: `burst_${now}_${log.recorded().length}`,
                at: new Date(now),
              });
          }
          break;
        }
        case 'wait':
          now += one.hours * HOUR;
          break;
        case 'clock':
          if (drawn.clock.isTold) skewHours = one.skewHours;
          break;
      }
    }

    sandbox.faults.counts().forEach((count, place) => {
      const name = drawn.faults[place]?.name ?? '';
      happened.set(name, (happened.get(name) ?? 0) + count);
    });
    const shown = rowsNow().length;
    sandbox.faults.set([]);
    if (drawn.faults.some(({ name }) => name === 'late-rows'))
      happened.set('late-rows', (happened.get('late-rows') ?? 0) + rowsNow().length - shown);

    // A service that refused the log as a whole is tried again as a whole after a day.
    if (drawn.faults.some(({ name }) => name === 'bad-request')) now += 25 * HOUR;
    // Rows shown late are found by the next run that looks far back.
    now += 6 * HOUR;
    for (let runs = 1; ; runs += 1) {
      const result = await run();
      if (result.outcome === 'done' && result.banners.every(({ outcome }) => outcome === 'finished')) break;
      expect(runs, JSON.stringify(result)).toBeLessThan(12);
    }
    // No run can know of rows that the service itself left out or showed days late; a recount finds them.
    if (drawn.faults.some(isBeyondRuns)) expect(await recount()).toEqual([]);
    expect(sorted(await bodiesOf(store))).toEqual(sorted(rowsNow()));

    const last = await run();
    expect(last).toMatchObject({ outcome: 'done' });
    expect(
      last.outcome === 'done' && last.banners.every(({ outcome, stored }) => outcome === 'finished' && stored === 0),
    ).toBe(true);
    const { rows } = await store.read
      .selectFrom('sync_positions')
      .select((eb) => eb.fn.sum('rows_total').as('rows'))
      .executeTakeFirstOrThrow();
    if (!drawn.steps.some(({ type }) => type === 'recount')) expect(Number(rows)).toBe(rowsNow().length);
  } finally {
    await ledger.close();
    await close();
    await sandbox.close();
  }
}

interface Mortal {
  readonly store: Pick<Store, 'read' | 'transaction' | 'findSeqs'>;
  readonly ledger: Ledger;
}

/** Is killed at one of its commits: before it, or after it is on disk but before the commit returns. */
function mortal({ store, ledger }: Mortal, { at, committed }: { at: number; committed: boolean }): Mortal {
  let commits = 0;
  const died = new StoreUnavailable('the process died', { cause: new Error('killed') });
  const last = async <T>(commit: () => Promise<T>): Promise<T> => {
    commits += 1;
    if (commits > at || (commits === at && !committed)) throw died;
    const done = await commit();
    if (commits >= at) throw died;
    return done;
  };
  return {
    store: { ...store, transaction: (work) => last(() => store.transaction(work)) },
    ledger: { ...ledger, append: (entries, also) => last(() => ledger.append(entries, also)) },
  };
}

function isBeyondRuns(fault: FaultInput): boolean {
  if (fault.name === 'shifted-page') return (fault.by ?? -3) > 0;
  return fault.name === 'late-rows' && (fault.ms ?? 0) > 12 * HOUR;
}

/** Bodies of pulled rows, without pieces of broken pages. */
async function bodiesOf(store: Pick<Store, 'read'>): Promise<string[]> {
  const rows = await store.read
    .selectFrom('entries')
    .select(['body', 'meta'])
    .where('kind', '=', 'consent-log')
    .execute();
  return rows.flatMap(({ body, meta }) =>
    meta?.includes('"unreadable":') === true ? [] : [body?.toString('utf8') ?? ''],
  );
}
