import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { webhookSecretOf } from '../../src/crypto/keys.ts';
import { serveHere, startServing } from '../serving.ts';
import { contentOf } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';
import { deliverTo, runHere, runIn, untilThere } from './command-line.ts';

interface Diagnosis {
  readonly diagnosed: readonly {
    readonly id: number;
    readonly source: string;
    readonly findings: readonly { readonly code: string; readonly remedy: string }[];
  }[];
}

interface ShownSource {
  readonly webhookSecrets: readonly string[];
  readonly retiring: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

const OLD = 'the-first-secret-of-the-shop-4711';
const NEW = 'the-second-secret-of-the-shop-4712';
const OTHER = 'the-secret-of-another-source-4713';
const API_KEY = 'pak_live_of_the_shop_4714';

it('nothing is lost when a secret changes at the service: deliveries are refused, diagnosed and, after the rotation, readmitted with the time of arrival', async () => {
  const folder = await temporaryFolder();
  const env = {
    DATA_DIR: folder,
    PORT: '0',
    ADMIN_PORT: '0',
    WEBHOOK_SECRETS: OTHER,
    LOG_LEVEL: 'trace',
    GIVEN_KEY: API_KEY,
  };
  const said: string[] = [];
  const run = async (args: readonly string[], input = '') => {
    const ran = await runIn(folder, args, { env, input });
    said.push(ran.stdout, ran.stderr);
    return ran;
  };
  const json = async <T>(args: readonly string[], input = ''): Promise<T> => {
    const { code, stdout, stderr } = await run([...args, '--json'], input);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as T;
  };

  const server = await startServing(folder, env);
  await writeFile(join(folder, 'secret'), `${OLD}\n`);
  const added = await json<{ source: { webhookSecrets: string[] } }>([
    'source',
    'add',
    'shop',
    '--webhook-secret-file',
    'secret',
    '--api-key-env',
    'GIVEN_KEY',
    '--base-url',
    'https://service.example/api/v1',
  ]);
  const oldId = added.source.webhookSecrets[0] ?? '';
  const url = `${server.url}/webhooks/shop`;
  // A running server picks up a new source by itself.
  await untilThere(async () => ((await deliverTo(url, OLD, '{"event":"ping","n":0}')).status === 200 ? true : null));

  const body = JSON.stringify({
    event: 'dsar.submitted',
    request_id: 'r1',
    request_type: 'access',
    email: 'ada@example.org',
    jurisdiction: 'DE',
  });
  const sentAt = Date.now();
  expect(await deliverTo(url, NEW, body)).toMatchObject({ status: 401 });
  expect(await deliverTo(url, OTHER, '{"event":"ping","n":1}')).toMatchObject({ status: 401 });

  const { diagnosed } = await untilThere(async () => {
    const found = await json<Diagnosis>(['delivery', 'diagnose', '--source', 'shop']);
    return found.diagnosed.length === 2 ? found : null;
  });
  const [ofOther, ofNew] = diagnosed;
  expect(ofOther?.findings[0]?.code).toBe('old-secret');
  expect(ofNew?.findings).toMatchObject([
    { code: 'no-match', remedy: expect.stringContaining('Copy the signing secret from the service again') as string },
  ]);
  expect((await run(['delivery', 'diagnose'])).stdout).toContain('which this source does not (or no longer) accept');

  // Readmitting before the rotation accepts nothing, and keeps the waiting deliveries.
  const early = await run(['delivery', 'readmit', '--id', String(ofNew?.id)]);
  expect([early.code, early.stdout]).toEqual([1, expect.stringContaining('the signature is still invalid')]);

  const rotated = await json<{ waiting: number; source: { webhookSecrets: string[] } }>(
    ['source', 'rotate', 'shop', '--webhook-secret-file', '-'],
    `${NEW}\n`,
  );
  expect(rotated).toMatchObject({ waiting: 1 });
  expect(rotated.source.webhookSecrets).toHaveLength(2);
  expect(
    (await json<Diagnosis>(['delivery', 'diagnose', '--id', String(ofNew?.id)])).diagnosed[0]?.findings[0]?.code,
  ).toBe('verifies');

  const results = await json<{ id: number; outcome: string; seq?: number }[]>([
    'delivery',
    'readmit',
    '--source',
    'shop',
  ]);
  expect(results).toMatchObject([
    { id: ofNew?.id, outcome: 'stored' },
    { id: ofOther?.id, outcome: 'mismatch' },
  ]);
  const shown = await json<{ receivedAt: string; bodyText: string; meta: object }>([
    'delivery',
    'show',
    String(results[0]?.seq),
  ]);
  expect(shown).toMatchObject({
    source: 'shop',
    event: 'dsar.submitted',
    bodyText: body,
    meta: { verdict: 'verified-late' },
  });
  expect(Math.abs(Date.parse(shown.receivedAt) - sentAt)).toBeLessThan(10_000);
  expect(await json<object[]>(['dsar', 'list'])).toHaveLength(1);
  expect(await json<object[]>(['delivery', 'readmit', '--source', 'shop'])).toHaveLength(1);

  // Both secrets are valid until the old one is retired.
  await untilThere(async () => ((await deliverTo(url, NEW, '{"event":"ping","n":2}')).status === 200 ? true : null));
  expect((await deliverTo(url, OLD, '{"event":"ping","n":3}')).status).toBe(200);
  await json(['source', 'rotate', 'shop', '--retire', oldId]);
  await untilThere(async () =>
    (await deliverTo(url, OLD, `{"event":"ping","at":${Date.now()}}`)).status === 401 ? true : null,
  );
  expect((await deliverTo(url, NEW, '{"event":"ping","n":4}')).status).toBe(200);

  for (const args of [
    ['source', 'list'],
    ['source', 'list', '--json'],
    ['delivery', 'list'],
    ['delivery', 'list', '--refused'],
    ['doctor'],
  ])
    await run(args);
  expect(await server.stop()).toBe(0);
  expect((await run(['ledger', 'verify'])).code).toBe(0);

  // No output, log or database holds a secret in clear.
  const content = await contentOf(folder);
  expect(content.join()).toContain('dsar.submitted'); // it can be read
  const places = [...said, server.errors(), ...content];
  expect(places.length).toBeGreaterThan(20);
  for (const secret of [OLD, NEW, OTHER, API_KEY]) expect(places.filter((text) => text.includes(secret))).toEqual([]);
});

it('`source rotate` changes the secret of the source from the environment, which a running server follows, and names the variables to remove', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', WEBHOOK_SECRETS: OLD };
  const server = await serveHere(folder, env);
  const url = `${server.url}/webhooks/default`;
  const status = async (secret: string, n: number) =>
    (await deliverTo(url, secret, `{"event":"ping","n":${n}}`)).status;
  const source = async (...args: string[]) => {
    const ran = await runIn(folder, ['source', ...args, '--json'], { env, input: `${NEW}\n` });
    return { ...ran, source: (JSON.parse(ran.stdout || '{}') as { source?: ShownSource }).source };
  };
  const oldId = webhookSecretOf(OLD).id;

  const rotated = await source('rotate', 'default', '--webhook-secret-file', '-', '--retire-after', '24h');
  expect([rotated.code, rotated.source?.webhookSecrets.at(-1), Object.keys(rotated.source?.retiring ?? {})]).toEqual([
    0,
    oldId,
    [oldId],
  ]);
  await untilThere(async () => ((await status(NEW, 0)) === 200 ? true : null));
  expect(await status(OLD, 1)).toBe(200);
  const retired = await source('retire', 'default', oldId);
  const left = `WEBHOOK_SECRETS still contains the signing secret ${oldId} of default`;
  expect([retired.code, retired.source?.warnings]).toEqual([
    0,
    expect.arrayContaining([expect.stringContaining(left) as string]) as string[],
  ]);
  await untilThere(async () => ((await status(OLD, 2)) === 401 ? true : null));
  await server.stop();

  // A restart does not revive it.
  const again = await serveHere(folder, env);
  expect((await deliverTo(`${again.url}/webhooks/default`, OLD, '{"event":"ping","n":3}')).status).toBe(401);
  expect((await deliverTo(`${again.url}/webhooks/default`, NEW, '{"event":"ping","n":4}')).status).toBe(200);
  expect((await runHere(folder, ['doctor'], env)).stdout).toContain(left);
  expect((await runHere(folder, ['ledger', 'verify'], env)).code).toBe(0);
  expect((await runHere(folder, ['source', 'list'], env)).stdout).toContain(left);
});

it('`delivery` lists repeated deliveries that may be two choices', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', WEBHOOK_SECRETS: OTHER };
  const server = await serveHere(folder, env);
  const send = (body: object) => deliverTo(`${server.url}/webhooks/default`, OTHER, JSON.stringify(body));
  const anonymous = { event: 'consent.recorded', banner_id: 'b', visitor_hash: 'v', status: 'accept_all' };
  const named = { ...anonymous, consent_id: 'c1', recorded_at: new Date().toISOString() };
  for (const body of [anonymous, named, anonymous, named, anonymous, { event: 'no.such.event' }])
    expect((await send(body)).status).toBe(200);
  await server.stop();

  const list = async (...flags: string[]) =>
    JSON.parse((await runHere(folder, ['delivery', 'list', '--json', ...flags], env)).stdout) as { seq: number }[];
  expect(await list('--ambiguous')).toMatchObject([{ source: 'default', repeats: 2, resolution: 'unresolved' }]);
  expect(await list()).toMatchObject([{ outcome: 'unknown-event', repeats: 0 }, { repeats: 1 }, { repeats: 2 }]);
  expect(await list('--event', 'consent.recorded', '--limit', '1')).toMatchObject([
    { event: 'consent.recorded', repeats: 1 },
  ]);
  // Stored, but nothing was read from it.
  expect(await list('--quarantine')).toMatchObject([{ event: 'no.such.event', reason: 'Unknown event.' }]);
});
