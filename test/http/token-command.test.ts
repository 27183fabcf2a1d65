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
  it('begins with a link to the address that people use', async () => {
    const serving = await startServing(await temporaryFolder(), { ADMIN_URL: 'https://ledger.acme.example' });
    await expect.poll(() => serving.errors()).toContain('set up    https://ledger.acme.example/join?token=');
  });

  it('works with the account that the printed link makes, and with a link from `token create`', async () => {
    const folder = await temporaryFolder();
    const env = { ADMIN_PORT: await freePort() };
    const serving = await startServing(folder, env);
    await expect.poll(() => serving.errors()).toContain('/join?token=');
    const printed = /(http:\S+)\/join\?token=(\S+)/.exec(serving.errors());
    expect(printed?.[1]).toBe(serving.adminUrl);
    const token = printed?.[2] ?? '';
    const owner = createVisitor(serving.adminUrl);
    await owner.get(`/join?token=${token}`);
    const first = {
      token,
      name: 'Olivia Owner',
      email: 'olivia@acme.example',
      password: 'plough amber tuesday kettle',
    };
    expect((await owner.post('/join', first)).status).toBe(303);
    expect((await owner.get('/')).text).toContain('Olivia Owner');

    const made = await runCli(folder, ['token', 'create', '--officer', 'Olga', '--minutes', '5', '--json'], env);
    expect([made.code, made.stderr]).toEqual([0, '']);
    const link = JSON.parse(made.stdout) as { url: string; officer: string; expiresAt: string };
    expect(link.url.startsWith(`${serving.adminUrl}/sign-in?token=`)).toBe(true);
    expect(Math.abs(Date.parse(link.expiresAt) - Date.now() - 5 * 60_000)).toBeLessThan(30_000);
    const olga = createVisitor(serving.adminUrl);
    expect((await olga.signIn(new URL(link.url).searchParams.get('token') ?? '')).status).toBe(303);
    expect((await olga.get('/')).text).toContain('Olga');
    expect(await serving.stop()).toBe(0);
    // The server logged neither link nor session, except in the line for the operator.
    const logged = serving
      .errors()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    for (const line of logged)
      for (const secret of [token, new URL(link.url).searchParams.get('token')]) expect(line).not.toContain(secret);
    // Once there is an account, a start prints no link.
    const address = 'https://ledger.acme.example';
    const again = await startServing(folder, { ADMIN_PORT: await freePort(), ADMIN_URL: address });
    await expect.poll(() => again.errors()).toContain(`  sign in   ${address}/sign-in`);
    expect(again.errors()).not.toContain('token=');
    expect(await again.stop()).toBe(0);
  });

  it('asks for the address if the port is unknown', async () => {
    const folder = await temporaryFolder();
    const refused = await runCli(folder, ['token', 'create']);
    expect([refused.code, refused.stderr.includes('--admin-url')]).toEqual([2, true]);
    const made = await runCli(folder, ['token', 'create', '--admin-url', 'https://ledger.example.org/']);
    expect(made.stdout).toMatch(/^https:\/\/ledger\.example\.org\/sign-in\?token=[\w-]{43}\nsigns operator in once/);
    for (const args of [
      ['--minutes', '0'],
      ['--officer', ' '],
      ['--officer', 'Olga (p-1a2b3c4d)'],
      ['--admin-url', 'ledger'],
    ]) {
      expect((await runCli(folder, ['token', 'create', ...args])).code).toBe(2);
    }
  });
});

describe('API tokens on the command line', () => {
  it('are made for an account, listed without the token, and revoked', async () => {
    const folder = await temporaryFolder();
    const env = { ADMIN_PORT: '18081' };
    const none = await runCli(folder, ['token', 'api', 'nobody@acme.example', '--for', 'x'], env);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('nobody@acme.example')]);
    await runCli(folder, ['people', 'invite', 'olga@acme.example', '--name', 'Olga', '--role', 'auditor'], env);
    const early = await runCli(folder, ['token', 'api', 'olga@acme.example', '--for', 'x'], env);
    expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('is not active')]);
    expect((await runCli(folder, ['token', 'list'], env)).stdout).toContain('No API tokens.');
    const gone = await runCli(folder, ['token', 'revoke', 't-00000000'], env);
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('token list')]);
  });
});
