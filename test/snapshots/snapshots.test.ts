import { describe, expect, it } from 'vitest';
import { createPolicyDeps } from '../../src/context/policies.ts';
import { loadPolicyTextIntervals } from '../../reports/policy-texts.ts';
import { createHistory } from '../../src/store/queries/history.ts';
import { sha256Hex } from '../../src/core/hash.ts';
import { textAt } from '../../src/core/text-versions.ts';
import { publishPolicy } from '../../src/policies/publish.ts';
import { compareWithRebuild } from '../../src/projections/rebuild.ts';
import { requestRoutineSnapshots } from '../../src/snapshots/routine.ts';
import { loadPolicyTexts, loadStoredText } from '../../src/snapshots/texts.ts';
import { answeringServer } from '../service/answering-server.ts';
import { createSnapshotWorld, everythingStored, looksOf, MINUTE } from './world.ts';

describe('the text of a policy after a change', () => {
  it('is fetched at once, which may show the old one, and again when the edge is past it, which counts', async () => {
    const world = await createSnapshotWorld();
    const { store, policy } = world;
    const embed = `embed:${policy.policyType}`;
    // Someone looked at the page: the edge keeps the old text for five minutes.
    await requestRoutineSnapshots(world.deps, [world.source]);
    world.pass(60 * MINUTE);
    await world.runDue();
    const before = await looksOf(store);
    expect(before.filter(({ target }) => target === embed)).toHaveLength(1);
    expect(before.every(({ phase, why }) => phase === 'settled' && why === 'schedule')).toBe(true);
    const oldText = before.find(({ target }) => target === embed)?.text;

    world.pass(2 * MINUTE);
    const publishedAt = world.now();
    await world.publish();
    expect(await world.trigger()).toBe(1);
    expect(await world.trigger()).toBe(0);
    await world.runDue();
    const soon = (await looksOf(store)).slice(before.length);
    expect(soon.map(({ target, phase, why }) => ({ target, phase, why }))).toEqual([
      { target: `hosted:${policy.id}`, phase: 'provisional', why: 'webhook' },
      { target: embed, phase: 'provisional', why: 'webhook' },
    ]);
    expect(soon[1]).toMatchObject({ text: oldText, unchanged: 1 });

    world.pass(5 * MINUTE);
    expect(await world.runDue()).toEqual([]);
    world.pass(MINUTE);
    expect(await world.runDue()).toHaveLength(1);
    const late = (await looksOf(store)).slice(before.length + soon.length);
    expect(late.map(({ target, phase }) => ({ target, phase }))).toEqual([
      { target: `hosted:${policy.id}`, phase: 'settled' },
      { target: embed, phase: 'settled' },
    ]);
    expect(late[1]?.text).not.toBe(oldText);
    expect(late[1]?.unchanged).toBe(0);

    const texts = await loadPolicyTexts(store.read, { source: 'default', policyId: policy.id });
    const versions = texts.find(({ target }) => target === embed)?.versions ?? [];
    expect(versions.map(({ textSha256 }) => textSha256)).toEqual([oldText, late[1]?.text]);
    const [earlier, later] = versions;
    // The look two minutes after the first was answered from the edge: it proves the old text of then, not of now.
    expect(Date.parse(earlier?.lastSeen ?? '')).toBeLessThan(publishedAt.getTime());
    expect(later?.notBefore).toBe(earlier?.lastSeen);
    expect(Date.parse(later?.firstSeen ?? '')).toBeGreaterThan(publishedAt.getTime());
    expect(later?.settled).toBe(true);
    expect(textAt(versions, publishedAt.toISOString())).toMatchObject({ outcome: 'between' });
    expect(textAt(versions, world.now().toISOString())).toMatchObject({ outcome: 'certain', version: { version: 2 } });
    expect(textAt(versions, '2020-01-01T00:00:00.000Z')).toMatchObject({ outcome: 'before-first' });
    // Nothing else is asked for.
    world.pass(60 * MINUTE);
    expect(await world.runDue()).toEqual([]);
  });

  it('is stored once while it stays the same, and each look at it is in the ledger with its time', async () => {
    const world = await createSnapshotWorld();
    const rounds = 4;
    for (let round = 0; round < rounds; round += 1) {
      await requestRoutineSnapshots(world.deps, [world.source]);
      world.pass(24 * 60 * MINUTE);
      await world.runDue();
    }
    const looks = await looksOf(world.store);
    const hosted = looks.filter(({ target }) => target === `hosted:${world.policy.id}`);
    expect(hosted).toHaveLength(rounds);
    expect(hosted.map(({ unchanged }) => unchanged)).toEqual([0, 1, 1, 1]);
    expect(new Set(hosted.map(({ bodySeq }) => bodySeq))).toEqual(new Set([hosted[0]?.seq]));
    const entries = await world.store.read
      .selectFrom('entries')
      .select(['seq', 'body', 'received_at'])
      .where(
        'seq',
        'in',
        hosted.map(({ seq }) => seq),
      )
      .orderBy('seq')
      .execute();
    const [first, ...others] = entries;
    const sha256 = sha256Hex(first?.body ?? Buffer.alloc(0));
    expect(first?.body?.toString('utf8')).toContain('<article');
    for (const { body } of others)
      expect(JSON.parse(body?.toString('utf8') ?? '')).toEqual({ unchanged: { seq: first?.seq, sha256 } });
    expect(new Set(entries.map(({ received_at }) => received_at)).size).toBe(rounds);
    const stored = await loadStoredText(world.store.read, 'default', hosted[3]?.seq ?? 0);
    expect(stored?.bytes).toEqual(first?.body);
    expect(stored?.bodySha256).toBe(sha256);
    const texts = await loadPolicyTexts(world.store.read, { source: 'default', policyId: world.policy.id });
    expect(texts[0]?.versions).toMatchObject([{ version: 1, sightings: rounds, firstSeq: hosted[0]?.seq }]);
  });

  it('that is gone is recorded as gone, and as the same when it comes back', async () => {
    const world = await createSnapshotWorld();
    let there = true;
    const { baseUrl } = await answeringServer((_request, response) =>
      there
        ? response.writeHead(200, { 'content-type': 'text/html' }).end('<p>the text</p>')
        : response.writeHead(404).end('{"error":{"code":"not_found"}}'),
    );
    const siteUrl = new URL(baseUrl).origin;
    const source = { ...world.source, siteUrl, apiKey: null };
    const { takeSnapshots } = await import('../../src/snapshots/take.ts');
    const { createHostedUrls } = await import('../../src/snapshots/hosted-url.ts');
    const urls = createHostedUrls(world.deps);
    for (const [round, state] of [true, false, false, true].entries()) {
      there = state;
      const taking = await takeSnapshots(world.deps, urls, {
        source,
        policyId: null,
        policyType: 'imprint',
        why: 'command',
        changedAt: null,
        fetchId: `round ${round}`,
      });
      expect(taking).toMatchObject({
        outcome: 'looked',
        looks: [{ outcome: 'taken', found: state ? 'present' : 'absent' }],
      });
      world.pass(60 * MINUTE);
    }
    await world.projector.catchUp();
    const [texts] = await loadPolicyTexts(world.store.read, {
      source: 'default',
      policyId: null,
      policyType: 'imprint',
    });
    const shas = texts?.versions.map(({ textSha256 }) => textSha256);
    expect(shas).toEqual([shas?.[0], null, shas?.[0]]);
    expect(texts?.versions[2]?.bodySeq).toBe(texts?.versions[0]?.bodySeq);
  });
});

describe('asking for texts', () => {
  it('comes together to one fetch per policy, and none is left to a fetch that begins too early for it', async () => {
    const world = await createSnapshotWorld();
    for (let change = 0; change < 5; change += 1) {
      await world.publish({ version: change });
      await world.trigger();
    }
    const waiting = await world.jobs.list({ kind: 'snapshot', state: 'waiting' });
    expect(waiting).toHaveLength(2);
    await world.runDue();
    world.pass(4 * MINUTE);
    await world.publish({ version: 9 });
    await world.trigger();
    await world.runDue();
    world.pass(2 * MINUTE);
    // Six minutes after the first changes, but two after the last one: it does not count yet.
    await world.runDue();
    const early = (await looksOf(world.store)).at(-1);
    expect(early?.phase).toBe('provisional');
    world.pass(4 * MINUTE);
    await world.runDue();
    expect((await looksOf(world.store)).at(-1)?.phase).toBe('settled');
    expect(await world.jobs.list({ kind: 'snapshot', state: 'waiting' })).toEqual([]);
  });

  it('loses no change when two processes look for changes at once, or one dies in between', async () => {
    const world = await createSnapshotWorld();
    await world.publish();
    const outcomes = await Promise.all([world.trigger(), world.trigger(), world.trigger()]);
    expect(outcomes.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await world.jobs.list({ kind: 'snapshot' })).toHaveLength(2);
    // The transaction of one that dies takes its position back with it.
    await world.publish({ version: 2, policy_id: 'other' });
    await expect(
      world.store.transaction(async (tx) => {
        await tx.query.updateTable('positions').set({ seq: 99 }).where('name', '=', 'snapshot-triggers').execute();
        throw new Error('killed');
      }),
    ).rejects.toThrow('killed');
    expect(await world.trigger()).toBe(1);
    expect(await world.jobs.list({ kind: 'snapshot' })).toHaveLength(4);
  });

  it('follows a publishing from here, and one of which nobody knows what came of it', async () => {
    const world = await createSnapshotWorld();
    const log = { warn: () => undefined } as never;
    const deps = createPolicyDeps({ ...world, clock: world.now, log });
    const request = { source: world.source, policyId: world.policy.id, actor: 'a test', maxWaitMs: 0 };
    expect((await publishPolicy(deps, request)).outcome).toBe('done');
    await world.projector.catchUp();
    expect(await world.trigger()).toBe(1);
    expect(await world.trigger()).toBe(0);
    await world.runDue();
    const looks = await looksOf(world.store);
    expect(looks.map(({ phase, why }) => [phase, why])).toEqual([
      ['provisional', 'publish'],
      ['provisional', 'publish'],
    ]);
    world.sandbox.faults.set([{ name: 'dropped-connection', on: 'publish' }]);
    expect((await publishPolicy(deps, request)).outcome).toBe('unknown');
    await world.projector.catchUp();
    expect(await world.trigger()).toBe(1);
    world.sandbox.faults.set([{ name: 'unauthorized', on: 'publish' }]);
    expect((await publishPolicy(deps, request)).outcome).toBe('refused');
    await world.projector.catchUp();
    expect(await world.trigger()).toBe(0);
  });

  it('leaves changes of before yesterday and what was only generated to the schedule', async () => {
    const world = await createSnapshotWorld();
    await world.publish();
    world.pass(25 * 60 * MINUTE);
    expect(await world.trigger()).toBe(0);
    await world.publish({ event: 'policy.created' });
    expect(await world.trigger()).toBe(0);
    await world.publish({ event: 'policy.deleted' });
    expect(await world.trigger()).toBe(1);
  });

  it('records a fetch once when the worker dies after the append, and goes on with what is left', async () => {
    const world = await createSnapshotWorld();
    await world.publish();
    await world.trigger();
    let fetches = 0;
    const dying = {
      ...world.deps,
      fetchEmbed: () => {
        throw new Error('killed');
      },
    };
    const counting = {
      ...world.deps,
      fetchHosted: (request: Parameters<typeof world.deps.fetchHosted>[0]) => {
        fetches += 1;
        return world.deps.fetchHosted(request);
      },
    };
    expect((await world.runDue(dying))[0]).toBeInstanceOf(Error);
    expect((await looksOf(world.store)).map(({ target }) => target)).toEqual([`hosted:${world.policy.id}`]);
    // The append asked for the fetch that counts, in the same transaction.
    expect(await world.jobs.list({ kind: 'snapshot', state: 'waiting' })).toHaveLength(2);
    world.pass(MINUTE);
    expect(await world.runDue(counting)).toEqual([
      { outcome: 'looked', entries: [expect.any(Number), expect.any(Number)] },
    ]);
    expect(fetches).toBe(0);
    expect((await looksOf(world.store)).map(({ target }) => target)).toEqual([
      `hosted:${world.policy.id}`,
      `embed:${world.policy.policyType}`,
    ]);
  });

  it('tries again after an error of the service, and gives up on what no repetition mends', async () => {
    const world = await createSnapshotWorld();
    world.sandbox.faults.set([{ name: 'server-error', on: 'embed', times: 1 }]);
    await world.publish();
    await world.trigger();
    expect((await world.runDue())[0]).toBeInstanceOf(Error);
    world.pass(MINUTE);
    expect(await world.runDue()).toEqual([expect.objectContaining({ outcome: 'looked' })]);
    const huge = {
      ...world.deps,
      fetchEmbed: async () =>
        ({ outcome: 'refused', kind: 'too-large', transient: false, sentence: 'It is over 5242880 bytes.' }) as const,
    };
    world.pass(6 * MINUTE);
    await world.runDue(huge);
    const [failed] = await world.jobs.list({ kind: 'snapshot', state: 'failed' });
    expect(failed?.error).toContain('over 5242880 bytes');
    expect(failed?.attempts).toBe(1);
  });
});

describe('an address that a delivery brings', () => {
  it.each([
    ['another host', 1, 'http://evil.example/policy/x/y?token=t'],
    ['the metadata service of a cloud', 1, 'http://169.254.169.254/latest/meta-data?token=t'],
    // Credentials in an address make it none for the reader of deliveries.
    ['the origin as user name', 0, (origin: string) => `${origin}@evil.example/x?token=t`],
    ['another port', 1, (origin: string) => `${origin.replace(/:\d+$/, ':9')}/policy/x?token=t`],
  ])('is not followed to %s, and the schedule says why', async (_what, tried, address) => {
    const world = await createSnapshotWorld({ apiKey: null });
    const origin = world.source.siteUrl ?? '';
    const asked: string[] = [];
    const hostedUrl = typeof address === 'string' ? address : address(origin);
    await world.publish({ policy_id: 'pol_x', hosted_url: hostedUrl });
    await world.trigger();
    const deps = {
      ...world.deps,
      fetchHosted: async (request: Parameters<typeof world.deps.fetchHosted>[0]) => {
        const fetched = await world.deps.fetchHosted(request);
        asked.push(fetched.outcome);
        return fetched;
      },
    };
    const [result] = await world.runDue(deps);
    expect(asked).toEqual(Array.from({ length: tried }, () => 'refused'));
    if (tried > 0) expect((result as Error).message).toContain(`not under ${origin}`);
    expect((await looksOf(world.store)).filter(({ target }) => target.startsWith('hosted:'))).toEqual([]);
  });

  it('is used where it lies under the configured origin and nothing else tells it', async () => {
    const world = await createSnapshotWorld({ apiKey: null });
    const shelf = world.sandbox.worlds[0]?.shelf;
    const url = `${world.source.siteUrl}${shelf?.path(world.policy)}`;
    await world.publish({ data: { hosted_url: url }, hosted_url: url });
    await world.trigger();
    await world.runDue();
    expect((await looksOf(world.store)).map(({ target, outcome }) => [target, outcome])).toEqual([
      [`hosted:${world.policy.id}`, 'present'],
      [`embed:${world.policy.policyType}`, 'present'],
    ]);
  });
});

it('a report over a period lists the texts that may have been in force in it, as of an entry', async () => {
  const world = await createSnapshotWorld();
  const target = `hosted:${world.policy.id}`;
  const look = async () => {
    await requestRoutineSnapshots(world.deps, [world.source]);
    world.pass(60 * MINUTE);
    await world.runDue();
  };
  await look();
  const firstDay = world.now();
  world.pass(48 * 60 * MINUTE);
  await world.publish();
  await look();
  const history = createHistory(world.store.read);
  const asOf = await world.projector.catchUp();
  const textsIn = async (from: Date, to: Date, upTo: number) => {
    const looks = history.textLooks({ source: 'default', asOf: upTo });
    const found = await loadPolicyTextIntervals(looks, from.toISOString(), to.toISOString());
    return found.filter((one) => one.target === target);
  };
  const day = 24 * 60 * MINUTE;
  const all = await textsIn(new Date(firstDay.getTime() - day), world.now(), asOf);
  expect(all).toHaveLength(2);
  expect(all[0]?.nextSeen).toBe(all[1]?.firstSeen);
  expect(all[1]).toMatchObject({ notBefore: all[0]?.lastSeen, settled: true });
  expect(await textsIn(new Date(firstDay.getTime() - 9 * day), new Date(firstDay.getTime() - day), asOf)).toEqual([]);
  expect(await textsIn(new Date(world.now().getTime() + day), new Date(world.now().getTime() + 2 * day), asOf)).toEqual(
    [all[1]],
  );
  const before = await textsIn(new Date(0), world.now(), (all[1]?.bodySeq ?? 0) - 1);
  expect(before).toEqual([{ ...all[0], nextSeen: null }]);
});

it('no token and no key stands in meta, jobs or read models', async () => {
  const world = await createSnapshotWorld();
  const shelf = world.sandbox.worlds[0]?.shelf;
  const path = shelf?.path(world.policy) ?? '';
  const token = new URL(path, 'http://x').searchParams.get('token') ?? '';
  expect(token.length).toBeGreaterThan(10);
  await world.publish({ hosted_url: `${world.source.siteUrl}${path}` });
  await world.trigger();
  await requestRoutineSnapshots(world.deps, [world.source]);
  world.pass(60 * MINUTE);
  await world.runDue();
  expect((await looksOf(world.store)).length).toBeGreaterThan(3);
  const stored = await everythingStored(world.store);
  for (const [where, text] of Object.entries(stored)) {
    expect(text.length, where).toBeGreaterThan(100);
    for (const secret of [token, world.source.siteKey ?? '', world.source.apiKey ?? ''])
      expect(text, where).not.toContain(secret);
  }
});

it('the read models are those of a rebuild', async () => {
  const world = await createSnapshotWorld();
  for (let round = 0; round < 3; round += 1) {
    await world.publish({ round });
    await world.trigger();
    await world.runDue();
    world.pass(7 * MINUTE);
    await world.runDue();
    await requestRoutineSnapshots(world.deps, [world.source]);
    world.pass(60 * MINUTE);
    await world.runDue();
  }
  expect((await looksOf(world.store)).length).toBeGreaterThan(15);
  for (const batchSize of [1, 3, 500])
    expect((await compareWithRebuild({ ...world.projection, batchSize })).differences).toEqual([]);
  // The two ways to the versions agree: the state table, and the fold of the history.
  const rows = await world.store.read
    .selectFrom('policy_texts')
    .selectAll()
    .where('target', '=', `hosted:${world.policy.id}`)
    .orderBy('version')
    .execute();
  const [texts] = await loadPolicyTexts(world.store.read, { source: 'default', policyId: world.policy.id });
  expect(rows.map((row) => [row.text_sha256, row.first_seen, row.last_seen, row.not_before])).toEqual(
    texts?.versions.map((one) => [one.textSha256, one.firstSeen, one.lastSeen, one.notBefore]),
  );
  expect(rows.length).toBeGreaterThanOrEqual(3);
  const asOf = rows[1]?.first_seq ?? 0;
  const [then] = await loadPolicyTexts(world.store.read, { source: 'default', policyId: world.policy.id, asOf });
  expect(then?.versions).toHaveLength(2);
});

it('a source without a public origin or a site key is told what is missing', async () => {
  const world = await createSnapshotWorld({ siteUrl: null });
  await world.publish();
  await world.trigger();
  const [result] = await world.runDue();
  expect(result).toMatchObject({ outcome: 'not-configured', reason: expect.stringContaining('SERVICE_SITE_URL') });
});
