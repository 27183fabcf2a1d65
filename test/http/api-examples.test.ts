import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
import { connectAssistant } from './assistant.ts';
import { tokenOf } from './api-caller.ts';
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

it('the documented TypeScript client lists and records requests', async () => {
  const world = await createOfficeWorld();
  const { secret } = await tokenOf(world, 'officer', { scope: 'work' });
  const [program = ''] = examples('ts');
  const filled = program
    .replace("'consent-ledger/client'", JSON.stringify(join(root, 'client/client.ts')))
    .replace('https://ledger.example', world.adminUrl);
  expect(filled).not.toContain('consent-ledger/client');
  const file = join(await temporaryFolder(), 'example.mts');
  await writeFile(file, filled);
  const run = () =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', file], {
      ...{ cwd: root, timeout: 60_000 },
      env: { ...process.env, LEDGER_TOKEN: secret },
    });
  expect(await run()).toEqual({ stdout: '', stderr: '' });
  // The second run lists the request that the first one recorded, and its key prevents a second record.
  expect((await run()).stdout).toMatch(/^default-o\d{10} 2026-02-\d\d\S*\n$/);
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
