import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { requestRoutineSnapshots } from '../../src/policy-snapshots/request.ts';
import { loadPolicyTexts, loadStoredText } from '../../src/policy-snapshots/stored-texts.ts';
import { createHostedUrls, takeSnapshots } from '../../src/policy-snapshots/take.ts';
import { textAt } from '../../src/policy-texts/text-versions.ts';
import { answeringServer } from '../service/answering-server.ts';
import { createSnapshotWorld, looksOf, MINUTE } from './world.ts';

describe('the text of a policy after a change', () => {
  it('is fetched at once, which may show the old text, and again once the edge has expired it, which counts', async () => {
    const world = await createSnapshotWorld();
    const { store, policy } = world;
    const embed = `embed:${policy.policyType}`;
    // After a request for the page, the edge keeps the old text for five minutes.
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
    // The fetch two minutes after the first was answered from the edge: it proves the old text at that earlier time,
    // not now.
    expect(Date.parse(earlier?.lastSeen ?? '')).toBeLessThan(publishedAt.getTime());
    expect(later?.notBefore).toBe(earlier?.lastSeen);
    expect(Date.parse(later?.firstSeen ?? '')).toBeGreaterThan(publishedAt.getTime());
    expect(later?.settled).toBe(true);
    expect(textAt(versions, publishedAt.toISOString())).toMatchObject({ outcome: 'between' });
    expect(textAt(versions, world.now().toISOString())).toMatchObject({ outcome: 'certain', version: { version: 2 } });
    expect(textAt(versions, '2020-01-01T00:00:00.000Z')).toMatchObject({ outcome: 'before-first' });
    // No further fetch is requested.
    world.pass(60 * MINUTE);
    expect(await world.runDue()).toEqual([]);
  });

  it('is stored once while it stays the same, and each fetch is in the ledger with its time', async () => {
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

  it('is recorded as absent while it is gone, and as the same when it comes back', async () => {
    const world = await createSnapshotWorld();
    let there = true;
    const { baseUrl } = await answeringServer((request, response) =>
      there || request.url?.includes('type=hub')
        ? response.writeHead(200, { 'content-type': 'text/html' }).end('<p>the text</p>')
        : response.writeHead(404).end('{"error":{"code":"not_found"}}'),
    );
    const siteUrl = new URL(baseUrl).origin;
    const source = { ...world.source, siteUrl, apiKey: null };
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

describe('a public page that answers 404', () => {
  const list = (policyId: string, url: string | null) => ({
    outcome: 'listed' as const,
    policies: url === null ? [] : [{ policyId, policyType: null, url }],
  });
  const failed = { outcome: 'failed' as const, transient: false, sentence: 'The service refused the API key.' };

  it.each([
    ['says nothing of the text while the service lists the policy', 'listed', 'published', 'refused'],
    [
      'says nothing of the text where the list cannot be read: the token may be revoked',
      'failed',
      'published',
      'refused',
    ],
    ['is the absence of a text where the list no longer names the policy', 'not listed', 'published', 'absent'],
    ['is the absence of a text where the policy was deleted', 'failed', 'deleted', 'absent'],
  ] as const)('%s', async (_, listing, change, found) => {
    const world = await createSnapshotWorld();
    const { baseUrl } = await answeringServer((_, response) => response.writeHead(404).end('not found'));
    const siteUrl = new URL(baseUrl).origin;
    const { id } = world.policy;
    const url = `${siteUrl}/policy/imprint/${id}?token=revoked`;
    await world.publish({ hosted_url: url });
    if (change === 'deleted') await world.publish({ event: 'policy.deleted' });
    const lists = { listed: list(id, url), 'not listed': list(id, null), failed };
    const deps = { ...world.deps, listAddresses: () => Promise.resolve(lists[listing]) };
    const taking = await takeSnapshots(deps, createHostedUrls(deps), {
      source: { ...world.source, siteUrl, siteKey: null },
      policyId: id,
      policyType: null,
      why: 'command',
      changedAt: null,
      fetchId: 'once',
    });
    const look =
      found === 'absent'
        ? { outcome: 'taken', found }
        : { outcome: 'refused', sentence: expect.stringMatching('could not be read') };
    expect(taking).toMatchObject({ looks: [look] });
    expect(JSON.stringify(taking)).not.toContain('token=');
  });
});
