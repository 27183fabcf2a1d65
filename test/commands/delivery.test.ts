import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { readDelivery } from '../../receivers/read.ts';
import { verifySignature } from '../../receivers/signature-node.ts';
import { deliverTo, runCli, runIn } from '../cli/command-line.ts';
import { createOfficeWorld } from '../http/office-world.ts';
import { cliPath, environment, SECRET } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

async function createInstallation() {
  const home = await temporaryFolder();
  const world = await createOfficeWorld({ DATA_DIR: home }, { worker: false });
  const cli = (args: readonly string[], more: Record<string, string> = {}) =>
    runCli(home, ['delivery', ...args], { DATA_DIR: home, ...more });
  return { home, world, cli };
}

/** A receiver that keeps its requests and responds as configured. */
async function createReceiver(answer: {
  status: number;
  body?: string;
  headers?: Record<string, string>;
  silent?: boolean;
}) {
  const got: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      got.push({ headers: request.headers, body });
      if (answer.silent !== true) response.writeHead(answer.status, answer.headers).end(answer.body ?? '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?x=1`, got };
}

test('`delivery` sends a stored delivery again: its bytes, its headers, and a signature that verifies', async () => {
  const { world, cli } = await createInstallation();
  // Spaces and escapes that parsing and serialising JSON would lose.
  const body = '{ "event":"consent.recorded",\n "data":{"subject":"\\u0068", "n":1.0} }';
  const answer = await deliverTo(`${world.url}/webhooks/default`, SECRET, body, { 'x-service-delivery': 'd-77' });
  const { seq } = JSON.parse(answer.text) as { seq: number };
  const receiver = await createReceiver({ status: 202, body: 'taken\u001b[2J' });
  const { code, stdout, stderr } = await cli(['resend', String(seq), '--to', receiver.url]);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/answered HTTP 202 after \d+ ms/);
  // Control characters from the other server cannot rewrite the screen.
  expect(stdout).toContain('taken\\u001b[2J');
  const [got] = receiver.got;
  expect(got?.body.toString()).toBe(body);
  expect(got?.headers['content-type']).toBe('application/json');
  expect(got?.headers['x-service-delivery']).toBe('d-77');
  const secrets = [{ id: 'main', value: SECRET }];
  expect(verifySignature({ headers: got?.headers ?? {}, rawBody: Buffer.from(body), secrets })).toMatchObject({
    outcome: 'verified',
    headersAgree: true,
  });
  expect(stdout + stderr).not.toContain(SECRET);

  expect((await cli(['resend', String(seq), '--to', receiver.url, '--unsigned'])).code).toBe(0);
  expect(Object.keys(receiver.got[1]?.headers ?? {}).filter((name) => name.includes('signature'))).toEqual([]);
  // At our own endpoint it is recognised as the same delivery.
  const again = await cli(['resend', String(seq), '--to', `${world.url}/webhooks/default`, '--json']);
  expect(JSON.parse(again.stdout)).toMatchObject({ seq, status: 200, bytes: body.length });
});

test('`delivery` says how a receiver failed, follows no redirect and respects the time-out', async () => {
  const { world, cli } = await createInstallation();
  const seq = String(await world.event('consent.recorded', { banner_id: 'b', subject: 'h', status: 'granted' }));
  const failing = await createReceiver({ status: 500, body: 'no' });
  const refused = await cli(['resend', seq, '--to', failing.url]);
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('HTTP 500')]);
  const other = await createReceiver({ status: 200 });
  const moved = await createReceiver({ status: 307, headers: { location: other.url } });
  expect(await cli(['resend', seq, '--to', moved.url])).toMatchObject({ code: 1 });
  expect(other.got).toEqual([]);
  const silent = await createReceiver({ status: 200, silent: true });
  const late = await cli(['resend', seq, '--to', silent.url, '--timeout', '1s']);
  expect([late.code, late.stderr]).toEqual([
    1,
    expect.stringMatching(/127\.0\.0\.1:\d+ does not answer \(HttpTimeout\)/),
  ]);
  const away = await cli(['resend', seq, '--to', 'http://127.0.0.1:1/']);
  expect([away.code, away.stderr]).toEqual([1, expect.stringContaining('does not answer (ECONNREFUSED)')]);
});

test('`delivery` refuses addresses and entries that it cannot or must not send', async () => {
  const { home, world, cli } = await createInstallation();
  const seq = await world.event('consent.recorded', { banner_id: 'b', subject: 'h', status: 'granted' });
  for (const to of ['file:///etc/passwd', 'ftp://example.org/', 'nowhere', 'http://user:word@127.0.0.1/'])
    expect(await cli(['resend', String(seq), '--to', to]), to).toMatchObject({ code: 2 });
  const clear = await cli(['resend', String(seq), '--to', 'http://dev.example.org/hook']);
  expect([clear.code, clear.stderr]).toEqual([2, expect.stringContaining('HTTP_ALLOWED_HOSTS')]);
  expect((await cli(['resend', '9999', '--to', 'http://127.0.0.1:1/'])).stderr).toContain('Entry 9999 does not exist');
  expect((await cli(['resend', String(seq), '--to', 'http://127.0.0.1:1/', '--timeout', '1h'])).code).toBe(2);
  const words = ['--yes', '--reason', 'mistake', '--law', 'eu-gdpr', '--officer', 'Olga'];
  expect((await runCli(home, ['ledger', 'erase', String(seq), ...words], { DATA_DIR: home })).code).toBe(0);
  expect((await cli(['resend', String(seq), '--to', 'http://127.0.0.1:1/'])).stderr).toContain('was erased');
  const action = await world.context.store.read
    .selectFrom('entries')
    .select('seq')
    .where('kind', '!=', 'webhook')
    .executeTakeFirstOrThrow();
  expect((await cli(['resend', String(action.seq), '--to', 'http://127.0.0.1:1/'])).stderr).toContain(
    'is not a delivery',
  );
});

test('`delivery` sends a signed test event to its own listener, which does not count as consent', async () => {
  const { world, cli } = await createInstallation();
  const { port } = new URL(world.url);
  const own = { HOST: '127.0.0.1', PORT: port };
  const first = await cli(['test'], own);
  expect([first.code, first.stdout], first.stderr).toEqual([
    0,
    expect.stringMatching(/\/webhooks\/default answered HTTP 200 after \d+ ms: \{"status":"stored","seq":\d+\}/),
  ]);
  const again = JSON.parse((await cli(['test', '--json'], { PUBLIC_URL: world.url })).stdout) as { answer: string };
  expect(again).toMatchObject({ source: 'default', status: 200, remedy: null });
  const { seq, status } = JSON.parse(again.answer) as { seq: number; status: string };
  expect(status).toBe('stored');
  const kept = JSON.parse((await cli(['show', String(seq), '--json'])).stdout) as object;
  expect(kept).toMatchObject({ event: 'consent-ledger.test', outcome: 'unknown-event' });
  const decisions = await world.context.store.read.selectFrom('decisions').selectAll().execute();
  expect(decisions).toEqual([]);
});

test('`delivery` signs the test event with the newest secret of the source, not with one about to end', async () => {
  const { world, cli } = await createInstallation();
  const { sources } = world.context;
  await sources.add({ slug: 'shop', name: 'Shop', webhookSecrets: ['hush-secret-one', 'hush-secret-two'] }, 'cli');
  const end = new Date(world.context.clock().getTime() + 60_000).toISOString();
  for (const secret of ['hush-secret-three', 'hush-secret-four'])
    await sources.rotateSecret('shop', secret, 'cli', secret.endsWith('three') ? { retireOthersAt: end } : {});
  const receiver = await createReceiver({ status: 200 });
  const sent = await cli(['test', '--source', 'shop', '--to', receiver.url, '--json']);
  expect(sent.code, sent.stderr).toBe(0);
  const [got] = receiver.got;
  const secrets = [{ id: 'newest', value: 'hush-secret-four' }];
  expect(
    verifySignature({ headers: got?.headers ?? {}, rawBody: got?.body ?? Buffer.alloc(0), secrets }),
  ).toMatchObject({
    outcome: 'verified',
  });
});

test('`delivery` says what to do if a test event is not accepted', async () => {
  const { world, cli } = await createInstallation();
  const to = `${world.url}/webhooks/default`;
  const other = await cli(['test', '--to', to], { WEBHOOK_SECRETS: 'whsec_of_somebody_else_0123456789abcdef' });
  expect([other.code, other.stdout]).toEqual([1, expect.stringMatching(/HTTP 401[^]*WEBHOOK_SECRETS/)]);
  const unknown = await cli(['test', '--to', `${world.url}/webhooks/nowhere`]);
  expect([unknown.code, unknown.stdout]).toEqual([1, expect.stringMatching(/HTTP 404[^]*source list/)]);
  const away = await cli(['test', '--to', 'http://127.0.0.1:1/webhooks/default', '--json']);
  expect([away.code, JSON.parse(away.stdout)]).toEqual([
    1,
    expect.objectContaining({
      status: null,
      error: expect.stringContaining('ECONNREFUSED') as string,
      remedy: expect.stringContaining('serve') as string,
    }),
  ]);
  expect(away.stdout + other.stdout).not.toContain(SECRET);
  expect(await cli(['test', '--to', 'file:///etc/passwd'])).toMatchObject({ code: 2 });
  expect((await cli(['test', '--source', 'default'], { WEBHOOK_SECRETS: '' })).code).toBe(2);
});

test('`delivery` lists deliveries from a time on, and those whose body contains a text', async () => {
  const { world, cli } = await createInstallation();
  world.setNow('2026-03-01T22:30:00Z');
  const first = await world.event('consent.recorded', { banner_id: 'b', subject: 'anna_1', status: 'granted' });
  world.setNow('2026-03-02T10:00:00Z');
  const second = await world.event('consent.recorded', {
    banner_id: 'b',
    subject: "50 % of o'neill",
    status: 'granted',
  });
  const third = await world.event('policy.published', { policy_id: 'pol_1' });
  const seqs = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli(['list', '--json', ...args], { TIME_ZONE: 'Europe/Berlin' });
    expect(code, stderr).toBe(0);
    return (JSON.parse(stdout) as { seq: number }[]).map(({ seq }) => seq);
  };
  expect(await seqs('--since', '2026-03-02')).toEqual([third, second]);
  expect(await seqs('--since', '2026-03-01')).toEqual([third, second, first]);
  expect(await seqs('--since', '2026-03-02T10:00:00Z', '--event', 'consent.recorded')).toEqual([second]);
  expect(await seqs('--search', 'anna_1')).toEqual([first]);
  // Searched literally: no pattern, and no quote that ends a statement.
  expect(await seqs('--search', 'annaX1')).toEqual([]);
  expect(await seqs('--search', "50 % of o'neill")).toEqual([second]);
  expect(await seqs('--search', 'ANNA_1')).toEqual([]);
  expect(await seqs('--search', '"event"', '--limit', '2')).toEqual([third, second]);
  expect((await cli(['list', '--search', 'nobody'])).stdout).toContain('No delivery matches.');
  expect(await cli(['list', '--since', 'yesterday'])).toMatchObject({ code: 2 });
  expect(await cli(['list', '--search', 'x', '--refused'])).toMatchObject({ code: 2 });
  expect(await cli(['list', '--search', ''])).toMatchObject({ code: 2 });
});

test('`delivery` shows deliveries as they arrive, refused ones too, until it is stopped', async () => {
  const { home, world } = await createInstallation();
  const event = (subject: string) => world.event('consent.recorded', { banner_id: 'b', subject, status: 'granted' });
  const [, second] = [await event('1'), await event('2')];
  const child = spawn(process.execPath, [cliPath, 'delivery', 'tail', '--lines', '1', '--json'], {
    env: environment(home, { DATA_DIR: home }),
    cwd: home,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
  expect(await next()).toMatchObject({ seq: second, event: 'consent.recorded', verdict: 'verified' });
  const [third, fourth] = [await event('3'), await event('4')];
  expect([(await next())['seq'], (await next())['seq']]).toEqual([third, fourth]);
  await deliverTo(`${world.url}/webhooks/default`, 'a-wrong-secret-of-the-tests', '{"event":"ping"}');
  await world.context.rejected.flush();
  expect(await next()).toMatchObject({ refused: true, source: 'default', reason: 'mismatch' });
  child.kill('SIGTERM');
  expect((await exited)[0]).toBe(0);
});

test('tail --to forwards each delivery as it arrives, and continues while the receiver is down', async () => {
  const { home, world } = await createInstallation();
  const receiver = await createReceiver({ status: 204 });
  const kept = await world.event('policy.updated', { policy_id: 'p1' });
  const tail = (to: string) =>
    runIn(home, ['delivery', 'tail', '--lines', '1', '--json', '--to', to], {
      env: environment(home, { DATA_DIR: home }),
      until: /\n/,
    });
  const sent = await tail(receiver.url);
  expect([sent.code, JSON.parse(sent.stdout)]).toMatchObject([
    0,
    { seq: kept, forwarded: { answered: expect.stringMatching(/^HTTP 204 after/) as string } },
  ]);
  const secrets = [{ id: 'main', value: SECRET }];
  const [got] = receiver.got;
  if (got === undefined) throw new Error('nothing arrived');
  expect(verifySignature({ headers: got.headers, rawBody: got.body, secrets }).outcome).toBe('verified');
  const away = await tail('http://127.0.0.1:1/');
  expect(JSON.parse(away.stdout)).toMatchObject({
    forwarded: { answered: expect.stringContaining('ECONNREFUSED') as string },
  });
});

test('fixture keeps structure, types, lengths and recognised values, but no personal data', async () => {
  const { world, cli } = await createInstallation();
  const person = { visitor_hash: 'ab12'.repeat(16), email: 'ada.lovelace@example.org', phone: 447700900123 };
  const consent = {
    ...person,
    banner_id: 'bnr_8Xk2Lq',
    status: 'granted',
    country: 'DE',
    timestamp: '2026-11-01T10:00:00.000Z',
    purposes: { analytics: true, marketing: false },
    page_url: 'https://shop.example/konto/Ada',
  };
  const request = {
    email: person.email,
    name: 'Ada Lovelace',
    request_type: 'erasure',
    message: 'Delete it, please. Ada',
  };
  const seqs = [await world.event('consent.recorded', consent), await world.event('dsar.submitted', request)];
  const { code, stdout, stderr } = await cli(['fixture', ...seqs.map(String), '--json']);
  expect([code, stderr]).toEqual([0, '']);
  // Random letters may contain her name, but hardly as a word.
  expect(stdout).not.toMatch(/\bada\b/i);
  for (const secret of ['lovelace', 'ab12ab12', '447700', '8Xk2', 'konto', SECRET])
    expect(stdout.toLowerCase()).not.toContain(secret.toLowerCase());
  const [first, second] = (JSON.parse(stdout) as { event: string; body: string }[]).map(({ event, body }) => ({
    event,
    body,
    json: (JSON.parse(body) as { data: Record<string, unknown> }).data,
  }));
  if (first === undefined || second === undefined) throw new Error('two were asked for');
  expect(first.event).toBe('consent.recorded');
  expect(first.json).toMatchObject({
    status: 'granted',
    country: 'DE',
    timestamp: '2026-11-01T10:00:00.000Z',
    purposes: { analytics: true, marketing: false },
    visitor_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    email: expect.stringMatching(/^\w{3}\.\w{8}@\w{7}\.\w{3}$/) as string,
    page_url: expect.stringMatching(/^https:\/\/\w{4}\.\w{7}\/\w{5}\/\w{3}$/) as string,
  });
  expect(first.json['phone']).toBeGreaterThan(99_999_999_999);
  expect(second.json).toMatchObject({ request_type: 'erasure', email: first.json['email'] });
  // It can be read like the original.
  const context = {
    receivedAt: '2026-11-02T10:00:00.000Z',
    options: { fieldNames: {}, assumedOffset: '+00:00', eventNames: {} },
  };
  expect(readDelivery(Buffer.from(first.body), context)).toMatchObject({
    outcome: 'read',
    fact: { region: 'DE', state: 'given' },
  });
  // Another run uses different replacement values, so the originals cannot be found by trial and error.
  const again = JSON.parse((await cli(['fixture', String(seqs[0]), '--json'])).stdout) as { body: string }[];
  expect(again[0]?.body).not.toBe(first.body);
  expect(again[0]?.body.length).toBe(first.body.length);
});
