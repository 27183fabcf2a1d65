import { PassThrough } from 'node:stream';
import { Command } from '@commander-js/extra-typings';
import { parse } from 'csv-parse/sync';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CommandIo } from '../../src/commands/command-io.ts';
import { registerIntegration, registerScan } from '../../src/commands/scan.ts';
import { runCli } from '../cli/command-line.ts';
import { createOfficeWorld } from '../http/office-world.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

afterEach(() => vi.unstubAllEnvs());

async function createInstallation() {
  const world = await createOfficeWorld({}, { worker: false });
  const folder = world.context.config.dataDir;
  for (const [name, value] of Object.entries(environment(folder, { TIME_ZONE: 'Europe/Berlin' })))
    vi.stubEnv(name, value);
  const run = async (...args: string[]) => {
    const stdout = new PassThrough();
    const io: CommandIo = {
      ...{ stdout, stderr: new PassThrough(), exitCode: 0 },
      untilStopped: () => new Promise(() => undefined),
    };
    const program = new Command().exitOverride();
    registerScan(program, io);
    registerIntegration(program, io);
    await program.parseAsync(['node', 'consent-ledger', ...args]);
    return { out: String(stdout.read() ?? ''), exitCode: io.exitCode };
  };
  const scanned = (finished_at: string, cookies: unknown) =>
    world.event('cookie_scan.completed', { domain: 'shop.example', finished_at, cookies });
  return { world, run, scanned };
}

describe('scan and integration', () => {
  it('uses the only source, whatever its name, and asks which one if there are several', async () => {
    const folder = await temporaryFolder();
    const cli = (...args: string[]) => runCli(folder, args, { DATA_DIR: folder, WEBHOOK_SECRETS: '' });
    const lists = ['scan list', 'scan show', 'integration list'].map((words) => [...words.split(' '), '--json']);
    expect((await cli('source', 'add', 'shop', '--name', 'Shop')).code).toBe(0);
    for (const list of lists) expect(await cli(...list)).toMatchObject({ code: 0, stdout: '[]\n' });
    expect((await cli('source', 'add', 'blog', '--name', 'Blog')).code).toBe(0);
    for (const list of lists) {
      const { code, stderr } = await cli(...list);
      expect([code, stderr]).toEqual([2, expect.stringContaining('choose one with --source (blog, shop)')]);
    }
  });

  it('shows the inventory at a time, items set before consent, the drift, and the number of unreadable items', async () => {
    const { run, scanned } = await createInstallation();
    expect((await run('scan', 'show')).out).toContain('No inventory yet');
    await scanned('2026-06-01T10:00:00Z', [{ name: '_ga', category: 'analytics' }, { name: 'old' }]);
    await scanned('2026-06-08T10:00:00Z', [
      { name: '_ga', category: 'marketing', before_consent: true },
      { name: '=cmd()', before_consent: true, category: 'necessary' },
      null,
    ]);
    const { out } = await run('scan', 'show');
    expect(out).toContain('2 cookies and trackers; 1 more could not be read');
    expect(out).toContain('1 needs consent and was set before it: _ga');
    expect(out).toContain('category changed: analytics → marketing');
    expect(out).toContain('gone, was category none');
    const rows = parse<Record<string, string>>((await run('scan', 'show', '--csv')).out, { bom: true, columns: true });
    expect(rows.map(({ record, name }) => `${record} ${name}`)).toEqual([
      "inventory '=cmd()",
      'inventory _ga',
      "new '=cmd()",
      'category-changed _ga',
      'gone old',
    ]);
    const then = JSON.parse((await run('scan', 'show', '--at', '2026-06-07', '--json')).out) as object[];
    expect(then).toMatchObject([
      { site: 'shop.example', comparedWith: null, inventory: [{ name: '_ga' }, { name: 'old' }] },
    ]);
    expect(JSON.parse((await run('scan', 'list', '--json')).out)).toMatchObject([
      { cookies: 3, beforeConsent: 1, notReadable: 1, isInventory: true },
      { cookies: 2, beforeConsent: null },
    ]);
    expect(await run('scan', 'show', '--site', 'other.example')).toMatchObject({ exitCode: 1 });
    await expect(run('scan', 'show', '--csv', '--json')).rejects.toThrow('not both');
  });

  it('lists integrations with their state, and every change', async () => {
    const { world, run } = await createInstallation();
    await world.event('integration.connected', {
      integration_id: 'i1',
      provider: 'Shop',
      connected_at: '2026-06-01T10:00:00Z',
    });
    await world.event('integration.disconnected', {
      integration_id: 'i1',
      reason: 'token expired',
      disconnected_at: '2026-06-02T10:00:00Z',
    });
    // A name that differs only by an invisible character must not look the same.
    await world.event('integration.connected', { integration_id: 'i2', provider: 'Sh\u200bop' });
    const { out } = await run('integration', 'list');
    expect(out).toContain('Sh\\u200bop');
    expect(out).toMatch(/Shop +site not named +lost +2026-06-02T12:00:00\+02:00 +token expired +2/);
    expect(JSON.parse((await run('integration', 'list', '--history', '--json')).out)).toMatchObject([
      { record: 'connected', name: 'Shop' },
      { record: 'lost', name: 'i1', reason: 'token expired' },
      { record: 'connected', name: 'Sh\u200bop' },
    ]);
  });
});
