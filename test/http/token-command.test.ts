import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';
import { createVisitor } from './office-world.ts';

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

describe('signing in to a running server', () => {
  it('works with the link that it prints at its start, and with one of `token create` beside it', async () => {
    const folder = await temporaryFolder();
    const env = { ADMIN_PORT: await freePort() };
    const serving = await startServing(folder, env);
    await expect.poll(() => serving.errors()).toContain('/sign-in?token=');
    const printed = /(http:\S+)\/sign-in\?token=(\S+)/.exec(serving.errors());
    expect(printed?.[1]).toBe(serving.adminUrl);
    const operator = createVisitor(serving.adminUrl);
    expect((await operator.signIn(printed?.[2] ?? '')).status).toBe(303);
    expect((await operator.get('/')).text).toContain('operator');

    const made = await runCli(folder, ['token', 'create', '--officer', 'Olga', '--minutes', '5', '--json'], env);
    expect([made.code, made.stderr]).toEqual([0, '']);
    const link = JSON.parse(made.stdout) as { url: string; officer: string; expiresAt: string };
    expect(link.url.startsWith(`${serving.adminUrl}/sign-in?token=`)).toBe(true);
    expect(Math.abs(Date.parse(link.expiresAt) - Date.now() - 5 * 60_000)).toBeLessThan(30_000);
    const olga = createVisitor(serving.adminUrl);
    expect((await olga.signIn(new URL(link.url).searchParams.get('token') ?? '')).status).toBe(303);
    expect((await olga.get('/')).text).toContain('Olga');
    expect(await serving.stop()).toBe(0);
    // Neither link nor session is in what the server logged besides the line for the operator.
    const logged = serving
      .errors()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    for (const line of logged) expect(line).not.toContain(new URL(link.url).searchParams.get('token'));
  });

  it('is told how, where the port is not known', async () => {
    const folder = await temporaryFolder();
    const refused = await runCli(folder, ['token', 'create']);
    expect([refused.code, refused.stderr.includes('--admin-url')]).toEqual([2, true]);
    const made = await runCli(folder, ['token', 'create', '--admin-url', 'https://ledger.example.org/']);
    expect(made.stdout).toMatch(/^https:\/\/ledger\.example\.org\/sign-in\?token=[\w-]{43}\nsigns operator in once/);
    for (const args of [
      ['--minutes', '0'],
      ['--officer', ' '],
      ['--admin-url', 'ledger'],
    ]) {
      expect((await runCli(folder, ['token', 'create', ...args])).code).toBe(2);
    }
  });
});
