import { createHash, createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { serveHere } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import { runHere, runProcess, untilThere } from './command-line.ts';

const KEY = createHash('sha256').update('what the service signs with').digest();
const hashed = (n: number) => createHash('sha256').update(`v${n}`).digest('hex');

it('`source discover` finds a hex secret and unusual field names while deliveries are refused, and deliveries are read once an officer accepts', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', GIVEN: KEY.toString('hex') };
  const run = async (...args: string[]) => {
    const ran = await runHere(folder, ['source', ...args, '--json'], env);
    return { ...ran, json: JSON.parse(ran.stdout || 'null') as Record<string, never> };
  };
  await run('add', 'shop', '--webhook-secret-env', 'GIVEN');
  const server = await serveHere(folder, env);
  const send = async (n: number, key: Buffer | string = KEY) => {
    const body = JSON.stringify({
      meta: { signal: 'choice_saved.v2' },
      stuff: {
        serial: `s-${1000 + n}`,
        digest: hashed(n),
        verdict: n % 2 === 0 ? 'agreed' : 'declined',
        moment: new Date(Date.now() - n * 60_000).toISOString(),
      },
    });
    const signature = createHmac('sha256', key).update(body).digest('hex');
    const response = await fetch(`${server.url}/webhooks/shop`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-service-signature': signature, 'x-sender': 'ada@example.org' },
    });
    return response.status;
  };
  // An unsigned delivery must not influence the mapping.
  expect(await send(99, 'a guess')).toBe(401);
  const waiting = runProcess(folder, ['source', 'discover', 'shop', '--deliveries', '6', '--for', '60s', '--json'], {
    env,
  });
  let hasEnded = false;
  const ended = waiting.finally(() => (hasEnded = true));
  for (let n = 0; !hasEnded; n += 1) {
    expect(await send(n)).toBe(401);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const ran = await ended;
  expect(ran.stderr).toContain('Listening for deliveries to shop');
  const found = JSON.parse(ran.stdout) as { proposal: { proposalId: string }; refusedNotLookedAt: number };
  expect(found).toMatchObject({
    arrivedMeanwhile: expect.any(Number) as number,
    refusedNotLookedAt: 1,
    fieldNames: {
      event: ['meta.signal'],
      recordId: ['stuff.serial'],
      subject: ['stuff.digest'],
      consentState: ['stuff.verdict'],
      consentedAt: ['stuff.moment'],
    },
    eventNames: { 'choice_saved.v2': 'consent.recorded' },
    proposal: { secretEncodings: { [secretId(found)]: 'hex' } },
  });
  for (const value of [hashed(1), 's-1001', 'ada@', KEY.toString('hex')]) expect(ran.stdout).not.toContain(value);

  expect((await runHere(folder, ['source', 'discover', 'shop', '--accept', 'another'], env)).code).toBe(2);
  const accepted = await run('discover', 'shop', '--accept', found.proposal.proposalId, '--officer', 'Jana Weiß');
  expect([accepted.code, accepted.json]).toMatchObject([0, { outcome: 'accepted' }]);
  expect((await run('discover', 'shop', '--accept')).json).toMatchObject({ outcome: 'unchanged' });
  await untilThere(async () => ((await send(20)) === 200 ? true : null));
  await server.stop();
  const readmitted = await runHere(folder, ['delivery', 'readmit', '--source', 'shop', '--json'], env);
  expect(readmitted.code).toBe(0);
  const listed = JSON.parse((await runHere(folder, ['delivery', 'list', '--json'], env)).stdout) as object[];
  expect(listed.length).toBeGreaterThan(6);
  for (const one of listed) expect(one).toMatchObject({ event: 'consent.recorded', outcome: 'read' });
  const people = await runHere(folder, ['source', 'discover', 'shop'], env);
  expect(people.stdout).toMatch(
    /consent\.recorded[\s\S]*stuff\.digest[\s\S]*hash, 64 hex digits[\s\S]*Nothing to propose/,
  );
  expect((await run('list')).stdout).toContain('"hex"');
});

it('`source change` refuses names that turn refusals into consent, unless that is typed', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', GIVEN: 'a-signing-secret-of-shop' };
  await runHere(folder, ['source', 'add', 'shop', '--webhook-secret-env', 'GIVEN'], env);
  const server = await serveHere(folder, env);
  for (let n = 0; n < 5; n += 1) {
    const body = JSON.stringify({
      event: 'consent.recorded',
      record_id: `r-${n}00`,
      visitor_id: hashed(n),
      decision: n < 3 ? 'rejected' : 'accepted',
      mood: 'yes',
      timestamp: '2026-07-01T10:00:00Z',
    });
    const signature = createHmac('sha256', env.GIVEN).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-service-signature': signature };
    expect((await fetch(`${server.url}/webhooks/shop`, { method: 'POST', body, headers })).status).toBe(200);
  }
  await server.stop();
  const change = ['source', 'change', 'shop', '--field-name', 'consentState=mood'];
  const refused = await runHere(folder, change, env);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(
    /3 refusals would become consent[\s\S]*entry \d+: read now: refused \| would be read: consent to everything[\s\S]*--alter-readings/,
  );
  expect((await runHere(folder, ['source', 'list', '--json'], env)).stdout).not.toContain('mood');
  expect((await runHere(folder, [...change, '--alter-readings'], env)).code).toBe(0);
  expect((await runHere(folder, ['source', 'list', '--json'], env)).stdout).toContain('mood');
});

function secretId(found: object): string {
  const { proposal } = found as { proposal: { secretEncodings: Record<string, string> } };
  return Object.keys(proposal.secretEncodings)[0] ?? 'none';
}
