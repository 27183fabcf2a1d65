import { describe, expect, it } from 'vitest';
import { requestRoutineSnapshots } from '../../src/policy-snapshots/request.ts';
import { createSnapshotWorld, everythingStored, looksOf, MINUTE } from './world.ts';

describe('an address in a delivery', () => {
  it.each([
    ['another host', 1, 'http://evil.example/policy/x/y?token=t'],
    ['the metadata service of a cloud', 1, 'http://169.254.169.254/latest/meta-data?token=t'],
    // The reader of deliveries refuses an address with credentials.
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

  it('is used if it is under the configured origin and no other source states one', async () => {
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

it('no token or key appears in meta, jobs or read models', async () => {
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
