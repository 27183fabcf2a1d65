import { describe, expect, it } from 'vitest';
import { createRereadJobs, rereadJob } from '../../src/context/reread-job.ts';
import type { Job, JobContext } from '../../src/jobs/job.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs } from './office-world.ts';

const mapping = {
  proposalId: 'p1',
  fieldNames: {},
  eventNames: { choice_saved: 'consent.recorded' },
  secretEncodings: {},
  samples: 3,
  including: [],
};

/** Three deliveries whose event has an unknown name, which is accepted afterwards. */
async function createWorld(options: { worker?: boolean } = {}): Promise<OfficeWorld & { readonly seqs: number[] }> {
  const world = await createOfficeWorld({}, options);
  const seqs: number[] = [];
  for (const visitor of ['ada', 'bob', 'eve'])
    seqs.push(
      await world.event('choice_saved', {
        record_id: `r-${visitor}`,
        visitor_id: visitor,
        banner_id: 'b-1',
        timestamp: '2026-11-01T10:00:00Z',
        purposes: { analytics: true },
      }),
    );
  const accepted = await world.context.sources.acceptMapping('default', mapping, 'test');
  expect(accepted.outcome).toBe('done');
  return { ...world, seqs };
}

const outcomes = async ({ context, seqs }: OfficeWorld & { readonly seqs: number[] }) =>
  (await context.store.read.selectFrom('delivery_history').select('outcome').where('seq', 'in', seqs).execute()).map(
    ({ outcome }) => outcome,
  );

const ended = (world: OfficeWorld) =>
  expect.poll(async () => (await world.context.jobs.list({ kind: 'reread' })).map(({ state }) => state));

describe('reading earlier deliveries again', () => {
  it('makes those readable that the accepted names explain, says how many, and records who asked', async () => {
    const world = await createWorld();
    await world.event('something_else', { a: 1 });
    const owner = await signedInAs(world, 'owner');
    const entry = await owner.get(`/entries/${world.seqs[0]}`);
    expect(entry.text).toContain('action="/sources/default/reread"');
    expect(entry.text).not.toContain('rebuild the read models');
    expect((await owner.get('/sources/default/fields?done=accepted')).text).toContain(
      'action="/sources/default/reread"',
    );
    expect((await owner.get('/sources/default')).text).toContain('Read earlier deliveries again');

    const pressed = await owner.post('/sources/default/reread', {});
    expect([pressed.status, pressed.headers.get('location')]).toEqual([303, '/sources/default#reading']);
    await ended(world).toEqual(['done']);
    const page = await owner.get('/sources/default');
    expect(page.text).toContain('3 deliveries that could not be read are now read.');
    expect(page.text).toContain('1 delivery still cannot be read');
    expect(await outcomes(world)).toEqual(['read', 'read', 'read']);
    const decisions = await world.context.store.read.selectFrom('decision_history').select('seq').execute();
    expect(decisions).toHaveLength(3);
    expect((await world.actions('source.reread')).map(({ actor, object }) => [actor.split(' (')[0], object])).toEqual([
      ['Pat owner', 'default'],
    ]);
    expect((await world.context.readModels.check()).differences).toEqual([]);
    // A second time there is nothing left to gain.
    await owner.post('/sources/default/reread', {});
    await ended(world).toEqual(['done', 'done']);
    expect((await owner.get('/sources/default')).text).toContain('Nothing changed');
  });

  it('is for owners and admins; an officer can tell an admin, and nobody reaches a hidden source', async () => {
    const world = await createWorld({ worker: false });
    await world.context.sources.add({ slug: 'bolt', name: 'Bolt' }, 'test');
    const admin = await signedInAs(world, 'admin', { email: 'ada@acme.example' });
    const officer = await signedInAs(world, 'officer');
    const bolt = await signedInAs(world, 'officer', { sources: ['bolt'] });
    for (const path of [`/entries/${world.seqs[0]}`, '/sources/default', '/sources/default/fields?done=accepted']) {
      const { text } = await officer.get(path);
      expect([
        path,
        text.includes('/reread'),
        text.includes('mailto:ada%40acme.example') || text.includes('mailto:ada@acme.example'),
      ]).toEqual([path, false, true]);
    }
    expect((await officer.post('/sources/default/reread', {})).status).toBe(403);
    expect((await bolt.post('/sources/default/reread', {})).status).toBe(403);
    expect((await admin.post('/sources/none/reread', {})).status).toBe(404);
    expect(await world.context.jobs.list({ kind: 'reread' })).toEqual([]);
  });

  it('is done once when two people ask at the same time, and shows both of them that it is in progress', async () => {
    const world = await createWorld({ worker: false });
    const owner = await signedInAs(world, 'owner');
    const admin = await signedInAs(world, 'admin');
    await Promise.all([owner.post('/sources/default/reread', {}), admin.post('/sources/default/reread', {})]);
    expect(await world.context.jobs.list({ kind: 'reread' })).toHaveLength(1);
    for (const visitor of [owner, admin]) {
      const { text } = await visitor.get('/sources/default');
      expect([text.includes('data-job='), text.includes('action="/sources/default/reread"')]).toEqual([true, false]);
    }
    const worker = await startWorker(world.context);
    await ended(world).toEqual(['done']);
    await worker.stop();
    expect(await world.actions('source.reread')).toHaveLength(1);
    expect(await outcomes(world)).toEqual(['read', 'read', 'read']);
  });

  it('waits for a rebuild that is running elsewhere, and does not end it', async () => {
    const world = await createWorld({ worker: false });
    const { store } = world.context;
    await store.foldTransaction((tx) => tx.insertMany('fold_positions', [{ name: 'rebuild', seq: 1 }]));
    const { id } = await world.context.jobs.enqueue(rereadJob('default', 'test'));
    const worker = await startWorker(world.context);
    await expect.poll(async () => (await world.context.jobs.find(id))?.progress?.message).toContain('elsewhere');
    const held = await store.read.selectFrom('fold_positions').selectAll().where('name', '=', 'rebuild').execute();
    expect(held.map(({ seq }) => Number(seq))).toEqual([1]);
    await store.foldTransaction((tx) => tx.query.deleteFrom('fold_positions').where('name', '=', 'rebuild').execute());
    await ended(world).toEqual(['done']);
    await worker.stop();
    expect(await outcomes(world)).toEqual(['read', 'read', 'read']);
  });

  it('completes after a restart in between, and records the request once', async () => {
    const world = await createWorld({ worker: false });
    const { reread } = createRereadJobs(world.context);
    const createdAt = new Date(Date.now() - 1000).toISOString();
    const attempt = (attempts: number, progress: JobContext['progress']) =>
      reread({ source: 'default', actor: 'test' }, {
        job: { attempts, createdAt } as Job,
        signal: new AbortController().signal,
        progress,
      } as JobContext);
    const killed = attempt(1, () => {
      throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
    expect(await world.actions('source.reread')).toHaveLength(1);
    const result = await attempt(2, () => undefined);
    expect(result).toMatchObject({ nowRead: { deliveries: 3, rows: 0 }, unread: { deliveries: 0, rows: 0 } });
    expect(await world.actions('source.reread')).toHaveLength(1);
    expect(await outcomes(world)).toEqual(['read', 'read', 'read']);
  });

  it('is started by a program whose token may administer, as a job with its result', async () => {
    const world = await createWorld();
    const path = '/api/v1/sources/default/reread';
    const worker = await tokenOf(world, 'admin', { scope: 'work' });
    expect((await worker.post(path, {})).status).toBe(403);
    const admin = await tokenOf(world, 'admin', { scope: 'administer', name: 'Ada Admin' });
    expect((await admin.post('/api/v1/sources/none/reread', {})).status).toBe(404);
    const started = await admin.post(path, {});
    expect([started.status, started.json]).toMatchObject([202, { kind: 'reread' }]);
    await ended(world).toEqual(['done']);
    const job = await admin.get(`/api/v1/jobs/${String(started.json['jobId'])}`);
    expect(job.json).toMatchObject({ state: 'done', result: { nowRead: { deliveries: 3 } } });
    expect((await admin.get('/api/v1/jobs?kind=reread')).json).toMatchObject({ items: [{ kind: 'reread' }] });
  });
});
