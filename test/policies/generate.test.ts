import { describe, expect, it } from 'vitest';
import { formASchema, formBSchema, generatePolicy } from '../../src/policies/generate.ts';
import { settleByOfficer, settleCalls } from '../../src/policies/settle-calls.ts';
import { loadCalls } from '../../src/policies/show.ts';
import type { FaultInput } from '../../src/sandbox/faults.ts';
import { answeringServer, sendJson } from '../service/answering-server.ts';
import { answering, createPolicyWorld, impatient, type PolicyWorld, patient, sourceFor } from './policy-world.ts';

const privacy = formASchema.parse({ policy_type: 'privacy-policy', jurisdiction: 'GB', business_name: 'Acme' });

async function callsOf(world: PolicyWorld) {
  await world.deps.catchUp();
  return loadCalls(world.store.read, { limit: 100 });
}

describe('a generation', () => {
  it('is recorded before it is sent and after it is answered, with the exact bytes both ways', async () => {
    const world = await createPolicyWorld();
    const ended = await generatePolicy(world.deps, { ...patient, source: world.source, form: privacy });
    expect(ended).toMatchObject({
      outcome: 'done',
      policy: { policyType: 'privacy-policy', jurisdiction: 'GB', remaining: 499 },
    });
    const [intent, result] = await world.entries();
    expect(intent?.meta).toMatchObject({
      call: 'intent',
      actor: 'test',
      operation: 'generate',
      path: '/policies/generate',
    });
    expect(String(intent?.body)).toBe('{"business_name":"Acme","jurisdiction":"GB","policy_type":"privacy-policy"}');
    expect(result?.meta).toMatchObject({
      call: 'result',
      outcome: 'done',
      status: 200,
      requestId: intent?.meta['requestId'],
    });
    const answer = JSON.parse(String(result?.body)) as { id: string; content: string };
    expect(answer.content).toContain('Privacy Policy');
    if (ended.outcome !== 'done') expect.unreachable();
    expect(ended.policy.id).toBe(answer.id);
    expect(await callsOf(world)).toMatchObject([{ state: 'done', policy_id: answer.id, answer_seq: ended.seq }]);
    expect(JSON.stringify(await world.entries())).not.toContain(world.source.apiKey);
  });

  it('can be requested in form B, with several jurisdictions, a tone and clauses', async () => {
    const world = await createPolicyWorld();
    const form = formBSchema.parse({
      type: 'cookie-policy',
      jurisdiction: ['DE', 'FR'],
      tone: 'plain',
      custom_clauses: ['We like bikes.'],
    });
    const ended = await generatePolicy(world.deps, { ...patient, source: world.source, form });
    expect(ended).toMatchObject({ outcome: 'done', policy: { policyType: 'cookie-policy', version: '1' } });
    if (ended.outcome !== 'done') expect.unreachable();
    expect(ended.policy.markdown).toContain('We like bikes.');
    expect(ended.policy.hostedUrl).not.toContain('token');
    expect(String((await world.entries())[0]?.body)).toContain('"type":"cookie_policy"');
  });

  it('that takes the service 100 seconds is waited for', async () => {
    const world = await createPolicyWorld({ generateMs: 100_000 });
    const before = world.now();
    const ended = await generatePolicy(world.deps, { ...patient, source: world.source, form: privacy });
    expect(ended.outcome).toBe('done');
    expect(world.now().getTime() - before.getTime()).toBe(100_000);
  });

  it.each<[FaultInput | 'no-api' | 'expired', string, RegExp]>([
    ['expired', 'payment-required', /subscription .* has lapsed .*nothing was generated.*Renew/s],
    ['no-api', 'forbidden', /may not do this; nothing was generated.*write scope/s],
    [{ name: 'unauthorized', on: 'generate' }, 'unauthorized', /does not accept the API key/],
  ])('that is refused (%j) changed nothing, and is not retried', async (fault, kind, words) => {
    const world = await createPolicyWorld(typeof fault === 'string' ? {} : { faults: [fault] });
    const [client] = world.sandbox.clients;
    if (client !== undefined && typeof fault === 'string') client.account = fault;
    const ended = await generatePolicy(world.deps, { ...patient, source: world.source, form: privacy });
    if (ended.outcome !== 'refused') expect.unreachable();
    expect(ended.error.kind).toBe(kind);
    expect(ended.error.message).toMatch(words);
    expect(await callsOf(world)).toMatchObject([{ state: 'refused', error_kind: kind }]);
    expect(world.generated()).toBe(0);
  });

  it('with a key that may only read is refused as forbidden', async () => {
    const world = await createPolicyWorld();
    const source = sourceFor(world.sandbox, 'default', { apiKey: world.sandbox.clients[0]?.readKey ?? '' });
    const ended = await generatePolicy(world.deps, { ...patient, source, form: privacy });
    expect(ended).toMatchObject({ outcome: 'refused', error: { kind: 'forbidden', status: 403 } });
  });

  it('that gets a 429 is sent again after the requested wait, with an entry per attempt', async () => {
    const world = await createPolicyWorld({
      faults: [{ name: 'too-many-requests', on: 'generate', times: 2, retryAfter: 7 }],
    });
    const before = world.now().getTime();
    const ended = await generatePolicy(world.deps, { ...patient, source: world.source, form: privacy });
    expect(ended.outcome).toBe('done');
    expect(world.now().getTime() - before).toBeGreaterThanOrEqual(14_000);
    expect((await callsOf(world)).map(({ state }) => state)).toEqual(['done', 'refused', 'refused']);
    expect(world.generated()).toBe(1);
  });

  it('that never left this machine is retried, and finally given up as refused', async () => {
    const world = await createPolicyWorld();
    const ended = await generatePolicy(world.deps, {
      ...patient,
      source: { ...world.source, baseUrl: 'http://no-such-host.invalid/api/v1' },
      form: privacy,
    });
    expect(ended).toMatchObject({ outcome: 'refused', error: { kind: 'network' } });
    if (ended.outcome === 'refused')
      expect(ended.error.message).toMatch(/could not be resolved \(DNS\); nothing was sent/);
    expect(await callsOf(world)).toHaveLength(4);
  });

  it('for a source without a key says what is missing, and writes nothing', async () => {
    const world = await createPolicyWorld();
    const source = { ...world.source, apiKey: null };
    const ended = await generatePolicy(world.deps, { ...patient, source, form: privacy });
    expect(ended).toEqual({ outcome: 'not-configured', reason: expect.stringContaining('no API key') as string });
    expect(await world.entries()).toEqual([]);
  });
});

describe('a generation whose outcome is unknown', () => {
  it('because of a bug in this program is recorded, and the bug is reported', async () => {
    const world = await createPolicyWorld();
    const broken = answering(world.deps, () => Promise.reject(new TypeError('a bug')));
    const request = { ...patient, source: world.source, form: privacy };
    await expect(generatePolicy(broken, request)).rejects.toThrow('a bug');
    expect(await callsOf(world)).toMatchObject([{ state: 'unknown', error_kind: 'fault' }]);
  });

  it.each<FaultInput>([
    { name: 'dropped-connection', on: 'generate' },
    { name: 'server-error', on: 'generate', status: 500 },
    { name: 'server-error', on: 'generate', status: 503 },
    { name: 'cut-off', on: 'generate' },
    { name: 'truncated-json', on: 'generate' },
    { name: 'web-page', on: 'generate' },
  ])('after %j stays unknown, and the same call is not sent again automatically', async (fault) => {
    const world = await createPolicyWorld({ faults: [{ ...fault, times: 1 }] });
    const request = { ...patient, source: world.source, form: privacy };
    const ended = await generatePolicy(world.deps, request);
    expect(ended.outcome).toBe('unknown');
    expect(await generatePolicy(world.deps, request)).toMatchObject({ outcome: 'unsettled' });
    expect((await callsOf(world)).map(({ state }) => state)).toEqual(['unknown']);
    expect((await generatePolicy(world.deps, { ...request, again: true })).outcome).toBe('done');
  });

  it('is not doubled by processes that send the same call at once, even if they had to wait first', async () => {
    const world = await createPolicyWorld({ limits: { generatePerMinute: 1000 } });
    const processes = [world.deps, world.another(), world.another(), world.another()];
    const ask = async (): Promise<{ sent: number; outcomes: string[] }> => {
      let sent = 0;
      let answer: () => void = () => undefined;
      const answered = new Promise<void>((resolve) => (answer = resolve));
      const send = async () => {
        sent += 1;
        await answered;
        return { status: 200, headers: new Headers(), bytes: Buffer.from('{"id":"pol_1"}'), serverDate: null };
      };
      const outcomes: string[] = [];
      const asking = processes.map(async (deps) => {
        const ended = await generatePolicy(answering(deps, send), { ...patient, source: world.source, form: privacy });
        outcomes.push(ended.outcome);
      });
      // No process gets a response before all of them have decided.
      while (sent + outcomes.length < processes.length) await new Promise((resolve) => setTimeout(resolve, 5));
      answer();
      await Promise.all(asking);
      return { sent, outcomes };
    };
    const one = { sent: 1, outcomes: ['unsettled', 'unsettled', 'unsettled', 'done'] };
    expect(await ask()).toEqual(one);
    // Other calls use up the slots, so all processes wait for the same moment.
    const other = formASchema.parse({ policy_type: 'imprint', jurisdiction: 'DE' });
    for (let nth = 0; nth < 19; nth += 1)
      await generatePolicy(world.deps, { ...patient, source: world.source, form: other });
    expect(await ask()).toEqual(one);
  });

  it('after a time-out keeps the little that is known', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'time-out', on: 'generate' }] });
    const ended = await generatePolicy(world.deps, { ...patient, source: world.source, form: privacy, timeoutMs: 100 });
    expect(ended).toMatchObject({ outcome: 'unknown', error: { kind: 'timeout', status: null } });
  });

  it('is settled by the policy.created event that belongs to it, and by no other', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'cut-off', on: 'generate', times: 1 }] });
    await generatePolicy(world.deps, { ...patient, source: world.source, form: privacy });
    await world.deliver(created(world, { policy_id: 'pol_other', policy_type: 'cookie-policy' }));
    await settleCalls(world.deps);
    expect(await callsOf(world)).toMatchObject([{ state: 'unknown' }]);
    await world.deliver(created(world, { policy_id: 'pol_it' }));
    expect(await settleCalls(world.deps)).toEqual({ lost: 0, settled: 1 });
    expect(await callsOf(world)).toMatchObject([
      { state: 'happened', policy_id: 'pol_it', settled_by: 'consent-ledger' },
    ]);
    expect((await world.entries()).at(-1)?.meta).toMatchObject({ call: 'settled', basis: 'webhook', happened: true });
    expect(await settleCalls(world.deps)).toEqual({ lost: 0, settled: 0 });
  });

  it('is not settled by a policy of another call, another business or another time', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'cut-off', on: 'generate', times: 1 }] });
    const request = { ...patient, source: world.source, form: privacy };
    await generatePolicy(world.deps, request);
    const second = await generatePolicy(world.deps, { ...request, again: true });
    if (second.outcome !== 'done') expect.unreachable();
    await world.deliver(created(world, { policy_id: second.policy.id }));
    await world.deliver(created(world, { policy_id: 'pol_b', brand_name: 'Somebody Else' }));
    const late = new Date(world.now().getTime() + 3_600_000).toISOString();
    world.pass(3_600_000);
    await world.deliver(created(world, { policy_id: 'pol_c', timestamp: late }));
    expect(await settleCalls(world.deps)).toEqual({ lost: 0, settled: 0 });
  });

  it('is left to the officer if a policy may belong to either of two calls', async () => {
    const world = await createPolicyWorld({ faults: [{ name: 'cut-off', on: 'generate', times: 2 }] });
    const request = { ...patient, source: world.source, form: privacy, again: true };
    const first = await generatePolicy(world.deps, request);
    await generatePolicy(world.deps, request);
    await world.deliver(created(world, { policy_id: 'pol_either' }));
    expect(await settleCalls(world.deps)).toEqual({ lost: 0, settled: 0 });
    if (first.outcome !== 'unknown') expect.unreachable();
    const said = { requestId: first.requestId, happened: false, actor: 'ada' };
    expect(await settleByOfficer(world.deps, said)).toMatchObject({ outcome: 'settled', left: 0 });
    expect(await settleByOfficer(world.deps, said)).toMatchObject({ outcome: 'not-open', state: 'not-happened' });
    expect((await callsOf(world)).map(({ state }) => state).sort()).toEqual(['happened', 'not-happened']);
  });

  it('includes a call whose process ended before recording the answer, once its time is up', async () => {
    const world = await createPolicyWorld();
    // The process that sent it never returns.
    const gone = answering(world.deps, () => new Promise(() => undefined));
    void generatePolicy(gone, { ...patient, source: world.source, form: privacy });
    while ((await world.entries()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await settleCalls(world.another())).toEqual({ lost: 0, settled: 0 });
    expect(await callsOf(world)).toMatchObject([{ state: 'sent' }]);
    const same = { ...patient, source: world.source, form: privacy };
    expect(await generatePolicy(world.another(), same)).toMatchObject({
      outcome: 'unsettled',
      call: { state: 'sent' },
    });
    world.pass(211_000);
    const others = [world.another(), world.another()];
    await Promise.all(others.map((deps) => settleCalls(deps)));
    expect(await callsOf(world)).toMatchObject([{ state: 'unknown', error_kind: 'lost' }]);
    expect((await world.entries()).map(({ meta }) => meta['call'])).toEqual(['intent', 'lost']);
  });
});

describe('the rate of generations', () => {
  it('is 20 a minute per key, whichever source or process calls, and the next one waits', async () => {
    const world = await createPolicyWorld({ limits: { generatePerMinute: 1000 } });
    const processes = [world.deps, world.another(), world.another()];
    const sources = [world.source, sourceFor(world.sandbox, 'other')];
    const asked = await Promise.all(
      Array.from({ length: 30 }, (_, nth) =>
        generatePolicy(processes[nth % 3] ?? world.deps, {
          ...impatient,
          source: sources[nth % 2] ?? world.source,
          form: privacy,
          again: true,
        }),
      ),
    );
    expect(asked.filter(({ outcome }) => outcome === 'done')).toHaveLength(20);
    expect(asked.filter(({ outcome }) => outcome === 'no-slot')).toHaveLength(10);
    expect(world.generated()).toBe(20);
    const began = world.now().getTime();
    const waits: string[] = [];
    const patientOne = await generatePolicy(world.deps, {
      ...patient,
      source: world.source,
      form: privacy,
      onWait: (_until, why) => waits.push(why),
    });
    expect(patientOne.outcome).toBe('done');
    expect(waits).toEqual(['20 generations a minute per API key']);
    expect(world.now().getTime() - began).toBeGreaterThanOrEqual(60_000);
  });

  it('counts another key separately', async () => {
    const world = await createPolicyWorld({ clients: 2 });
    const form = privacy;
    for (let nth = 0; nth < 20; nth += 1)
      await generatePolicy(world.deps, { ...impatient, source: world.source, form });
    expect((await generatePolicy(world.deps, { ...impatient, source: world.source, form })).outcome).toBe('no-slot');
    const other = sourceFor(world.sandbox, 'second', { apiKey: world.sandbox.clients[1]?.apiKey ?? '' });
    expect((await generatePolicy(world.deps, { ...impatient, source: other, form })).outcome).toBe('done');
  });

  it('keeps the service from ever answering 429', async () => {
    const world = await createPolicyWorld();
    for (let nth = 0; nth < 45; nth += 1)
      expect((await generatePolicy(world.deps, { ...patient, source: world.source, form: privacy })).outcome).toBe(
        'done',
      );
    expect((await callsOf(world)).every(({ state }) => state === 'done')).toBe(true);
    expect(world.generated()).toBe(45);
  });
});

it('`policy generate` reads answers that are wrapped, numbered or sparse, and refuses an answer without an id', async () => {
  const world = await createPolicyWorld();
  const answers = [
    '{"data":{"id":7,"type":"privacy_policy"}}',
    '{"policy":{"id":"p","content":"text"}}',
    '{"id":null}',
  ];
  const server = await answeringServer((_, response, nth) => sendJson(response, 201, answers[nth - 1] ?? '{}'));
  const request = { ...patient, source: { ...world.source, baseUrl: server.baseUrl }, form: privacy, again: true };
  expect(await generatePolicy(world.deps, request)).toMatchObject({
    policy: { id: '7', policyType: 'privacy-policy' },
  });
  expect(await generatePolicy(world.deps, request)).toMatchObject({ policy: { id: 'p', markdown: 'text' } });
  expect(await generatePolicy(world.deps, request)).toMatchObject({
    outcome: 'unknown',
    error: { kind: 'unreadable' },
  });
});

function created(world: PolicyWorld, more: Record<string, unknown>): Record<string, unknown> {
  return {
    event: 'policy.created',
    policy_type: 'privacy-policy',
    jurisdiction: 'GB',
    language: 'en',
    brand_name: 'Acme',
    timestamp: world.now().toISOString(),
    ...more,
  };
}
