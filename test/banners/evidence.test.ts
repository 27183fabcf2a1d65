import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Command } from '@commander-js/extra-typings';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { registerBanner } from '../../src/commands/banner.ts';
import type { CommandIo } from '../../src/commands/command-io.ts';
import { registerLedger } from '../../src/commands/ledger.ts';
import { UsageError } from '../../src/core/errors.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { beginInstallation } from '../cli/command-line.ts';
import { serverVariables } from '../servers/databases.ts';
import { temporaryFolder } from '../temporary.ts';

afterEach(() => vi.unstubAllEnvs());

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('the banner of spring')]);

interface Run {
  readonly out: string;
  readonly exitCode: number;
  readonly json: Record<string, unknown>;
}

/** An installation with the default source, and its command line in this process. */
async function createInstallation() {
  const folder = await temporaryFolder();
  for (const [name, value] of Object.entries(serverVariables(folder))) vi.stubEnv(name, value);
  vi.stubEnv('DATA_DIR', folder);
  vi.stubEnv('TIME_ZONE', 'Europe/Berlin');
  vi.stubEnv('WEBHOOK_SECRETS', 'a-signing-secret-of-this-test-only-0123456789');
  await beginInstallation(folder, process.env as Record<string, string>);
  const run = async (...args: string[]): Promise<Run> => {
    const stdout = new PassThrough();
    const io: CommandIo = {
      stdout,
      stderr: new PassThrough(),
      exitCode: 0,
      untilStopped: () => new Promise(() => undefined),
    };
    const program = new Command().exitOverride();
    registerBanner(program, io);
    registerLedger(program, io);
    await program.parseAsync(['node', 'consent-ledger', ...args]);
    const out = String(stdout.read() ?? '');
    return { out, exitCode: io.exitCode, json: args.includes('--json') ? JSON.parse(out) : {} };
  };
  const file = join(folder, 'spring.png');
  await writeFile(file, png);
  const add = (...more: string[]) =>
    run('banner', 'evidence', 'add', '--banner', 'banner-main', '--file', file, '--json', ...more);
  const list = async () =>
    (await run('banner', 'evidence', 'list', '--json')).json as unknown as Record<string, unknown>[];
  return { folder, file, run, add, list, stored: join(folder, 'evidence', sha256Hex(png)) };
}

describe('banner evidence', () => {
  it('keeps the bytes under their hash and records banner, period and officer in the ledger', async () => {
    const { add, list, stored, run, folder } = await createInstallation();
    const added = await add('--from', '2026-03-01', '--to', '2026-06-30', '--note', 'first layer, German');
    expect(added.json).toMatchObject({ outcome: 'added', sha256: sha256Hex(png), mediaType: 'image/png' });
    expect(await readFile(stored)).toEqual(png);
    expect(await readdir(join(folder, 'evidence'))).toEqual([sha256Hex(png)]);
    // Days in the officer's time zone, the last one included.
    expect(await list()).toMatchObject([
      {
        seq: added.json['seq'],
        bannerId: 'banner-main',
        from: '2026-02-28T23:00:00.000Z',
        to: '2026-06-30T22:00:00.000Z',
        fileName: 'spring.png',
        note: 'first layer, German',
        actor: 'operator (command line)',
        retraction: null,
      },
    ]);
    const out = join(folder, 'written.png');
    const shown = await run('banner', 'evidence', 'show', String(added.json['seq']), '--out', out);
    expect(shown.exitCode).toBe(0);
    expect(await readFile(out)).toEqual(png);
  });

  it('records the same file for the same banner and period once, and again after it was retracted', async () => {
    const { add, list, run } = await createInstallation();
    const first = await add('--from', '2026-03-01');
    expect((await add('--from', '2026-03-01')).json).toMatchObject({ outcome: 'exists', seq: first.json['seq'] });
    const seq = String(first.json['seq']);
    await run('banner', 'evidence', 'retract', seq, '--reason', 'It shows the banner of another site.');
    expect(await list()).toMatchObject([{ retraction: { reason: 'It shows the banner of another site.' } }]);
    const twice = await run('banner', 'evidence', 'retract', seq, '--reason', 'again', '--json');
    expect(twice.json).toEqual({ outcome: 'retracted-before' });
    expect((await add('--from', '2026-03-01')).json).toMatchObject({ outcome: 'added' });
    expect((await list()).map(({ retraction }) => retraction === null)).toEqual([false, true]);
  });

  it('is verified with the ledger: an altered or missing file is a fault of its entry', async () => {
    const { add, run, stored } = await createInstallation();
    const { seq } = (await add('--from', '2026-03-01')).json;
    expect((await run('ledger', 'verify', '--json')).json).toMatchObject({ files: 1, faults: [] });
    await writeFile(stored, 'something else');
    const altered = await run('ledger', 'verify', '--json');
    expect([altered.exitCode, altered.json['faults']]).toMatchObject([3, [{ seq, fault: 'file-altered' }]]);
    const shown = await run('banner', 'evidence', 'show', String(seq), '--out', `${stored}.copy`);
    expect([shown.exitCode, shown.out.includes('does not match the ledger')]).toEqual([3, true]);
    await expect(readFile(`${stored}.copy`)).rejects.toThrow('ENOENT');
    await rm(stored);
    expect((await run('ledger', 'verify', '--json')).json['faults']).toMatchObject([{ seq, fault: 'file-missing' }]);
    // The officer still has the file: adding it again restores it.
    await add('--from', '2026-03-01');
    expect((await run('ledger', 'verify', '--json')).json['faults']).toEqual([]);
  });

  it('names a banner, uses the last name, and shows the id again when the name is removed', async () => {
    const { run, folder } = await createInstallation();
    const name = (...args: string[]) => run('banner', 'name', 'banner-main', ...args, '--json');
    expect((await name('Main site')).json).toMatchObject({ outcome: 'named', name: 'Main site' });
    expect((await name(' Main site ')).json).toMatchObject({ outcome: 'unchanged' });
    expect((await name()).json).toMatchObject({ outcome: 'named', name: null });
    expect((await run('ledger', 'verify', '--json')).json['faults']).toEqual([]);
    await expect(name('x'.repeat(101))).rejects.toThrow('longer than 100 characters');
    await expect(name('Main\u0007')).rejects.toThrow('control characters');
    await expect(run('banner', 'name', 'banner-main', 'Main', '--source', 'none')).rejects.toThrow(UsageError);
    expect(await readdir(folder)).not.toContain('evidence');
  });

  it('refuses other file types, files that are too large, and a period that ends before it begins', async () => {
    const { file, add, list, run, folder } = await createInstallation();
    await expect(add('--from', '2026-03-02', '--to', '2026-02-28')).rejects.toThrow('ends before it starts');
    await expect(add('--from', 'spring')).rejects.toThrow(UsageError);
    await writeFile(file, Buffer.from('504b030414000000', 'hex'));
    await expect(add('--from', '2026-03-01')).rejects.toThrow('PNG, JPEG, WebP, PDF, HTML or UTF-8 text');
    await writeFile(file, Buffer.alloc(10 * 1024 * 1024 + 1, 'a'));
    await expect(add('--from', '2026-03-01')).rejects.toThrow('larger than 10 MiB');
    await writeFile(file, '');
    await expect(add('--from', '2026-03-01')).rejects.toThrow('not empty');
    await expect(run('banner', 'evidence', 'retract', '1', '--reason', 'x')).rejects.toThrow('is not banner evidence');
    expect(await list()).toEqual([]);
    expect(await readdir(folder)).not.toContain('evidence');
  });
});
