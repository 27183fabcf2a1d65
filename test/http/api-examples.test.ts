import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
import { tokenOf } from './api-caller.ts';
import { connectAssistant } from './assistant.ts';
import { createOfficeWorld } from './office-world.ts';

// The examples of docs/api.md, run as printed, with only addresses and secrets filled in.

const root = join(import.meta.dirname, '../..');
const page = await readFile(join(root, 'docs/api.md'), 'utf8');
const examples = (language: string) =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, of, text = '']) => (of === language ? [text] : []));

it('the documented curl command lists the open requests', async () => {
  const world = await createOfficeWorld();
  await world.event('dsar.submitted', { request_id: 'r-1', type: 'access', submitted_at: new Date().toISOString() });
  await world.context.projector.catchUp();
  const { secret } = await tokenOf(world, 'officer');
  const [command = ''] = examples('bash');
  const [, name = '', value = '', url = ''] = /^curl -H "([^:]+): ([^"]+)" (\S+)\n$/.exec(command) ?? [];
  const answer = await fetch(url.replace('http://127.0.0.1:8081', world.adminUrl), {
    headers: { [name]: value.replace('$TOKEN', secret) },
  });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ items: [{ source: 'default', kind: 'access' }] });
});

/** Runs the documented TypeScript program against an address. */
async function runProgram(url: string, token: string) {
  const [program = ''] = examples('ts');
  const filled = program
    .replace("'consent-ledger/client'", JSON.stringify(join(root, 'client/client.ts')))
    .replace('https://ledger.example', url);
  expect(filled).not.toContain('consent-ledger/client');
  const file = join(await temporaryFolder(), 'example.mts');
  await writeFile(file, filled);
  return promisify(execFile)(process.execPath, ['--import', 'tsx', file], {
    ...{ cwd: root, timeout: 60_000 },
    env: { ...process.env, LEDGER_TOKEN: token },
  });
}

it('the documented TypeScript client lists and records requests', async () => {
  const world = await createOfficeWorld();
  const { secret } = await tokenOf(world, 'officer', { scope: 'work' });
  const first = await runProgram(world.adminUrl, secret);
  const [, recorded] = /^recorded as (default-o\d{10})\n$/.exec(first.stdout) ?? [];
  expect(recorded).toBeDefined();
  // The second run lists the request that the first one recorded, and its key prevents a second record.
  const second = await runProgram(world.adminUrl, secret);
  expect(second.stdout).toMatch(new RegExp(`^${recorded} 2026-02-\\d\\d\\S*\nrecorded as ${recorded}\n$`));
});

it.each<[string, RequestListener]>([
  ['to everything', (_, response) => response.writeHead(502, { 'content-length': '0' }).end()],
  [
    'to what is recorded',
    ({ method }, response) =>
      method === 'GET'
        ? response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[],"nextCursor":null}')
        : response.writeHead(502, { 'content-length': '0' }).end(),
  ],
])('the documented TypeScript client ends with the reason if a proxy responds 502 %s', async (_, respond) => {
  const proxy = createServer(respond).listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy.once('listening', resolve));
  onTestFinished(() => void proxy.close());
  const run = runProgram(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, 'clt_x');
  await expect(run).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/responded 502 without content/),
  });
});

it('the documented settings connect an assistant with MCP over HTTP', async () => {
  const world = await createOfficeWorld();
  const { secret } = await tokenOf(world, 'auditor');
  const [, settings = ''] = examples('json');
  const { mcpServers } = JSON.parse(settings) as {
    mcpServers: Record<string, { type: string; url: string; headers: Record<string, string> }>;
  };
  const { type, url, headers } = mcpServers['consent-ledger'] ?? expect.fail('no server of this name');
  expect(type).toBe('http');
  const ask = await connectAssistant(
    url.replace('https://ledger.example', world.adminUrl),
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace('clt_…', secret)])),
  );
  expect((await ask('list_sources')).text).toContain('"slug":"default"');
});
