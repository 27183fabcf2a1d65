import { Writable } from 'node:stream';
import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import type { CommandIo } from '../../src/commands/command-io.ts';
import { registerSandbox } from '../../src/commands/sandbox.ts';
import { UsageError } from '../../src/core/errors.ts';
import { untilThere } from '../cli/command-line.ts';
import { type Json, withEndpoint } from './sandbox-world.ts';

interface Run {
  readonly io: CommandIo;
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<unknown>;
  stop(): void;
}

/** Runs the command line in this process until `stop`. */
function run(...args: string[]): Run {
  const texts = { out: '', err: '' };
  const sink = (name: 'out' | 'err'): Writable =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        texts[name] += chunk.toString();
        done();
      },
    });
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const io: CommandIo = { stdout: sink('out'), stderr: sink('err'), exitCode: 0, untilStopped: () => stopped };
  const program = new Command('consent-ledger')
    .exitOverride()
    .configureOutput({ writeErr: (text) => void io.stderr.write(text) });
  registerSandbox(program, io);
  const inherit = (command: CommandUnknownOpts): void =>
    command.commands.forEach((child) => {
      child.copyInheritedSettings(command);
      inherit(child);
    });
  inherit(program);
  const ended = program.parseAsync(['sandbox', ...args], { from: 'user' }).catch((error: unknown) => error);
  return { io, out: () => texts.out, err: () => texts.err, ended, stop };
}

async function until(condition: () => boolean): Promise<void> {
  await untilThere(async () => (condition() ? true : null));
}

describe('consent-ledger sandbox', () => {
  it('prints what a receiver needs, delivers the month to each client’s address, and ends when stopped', async () => {
    await withEndpoint(
      () => 200,
      async (url, received) => {
        const sandbox = run('--port', '0', '--rows', '30', '--traffic-to', url);
        await until(() => sandbox.err().includes('Ctrl-C'));
        expect(sandbox.out()).toMatch(/base URL +http:\/\/127\.0\.0\.1:\d+\/api\/v1/);
        expect(sandbox.out()).toMatch(/API key +pak_live_/);
        for (const what of ['site URL', 'MCP endpoint', 'seed', 'quota', 'limits', 'faults', 'dialect', 'window'])
          expect(sandbox.out()).toMatch(new RegExp(`\\b${what} +\\S`));
        for (const what of [
          'site key',
          'webhook secret',
          'webhook secret, previous',
          'visitor hash',
          'banners',
          'loaded',
        ])
          expect(sandbox.out()).toMatch(new RegExp(`\\b${what} +\\S`));
        expect(new Set(received.map(({ path }) => path))).toEqual(
          new Set(['/webhooks/nordlicht', '/webhooks/harbour-finch']),
        );
        expect(sandbox.err()).toMatch(/nordlicht: \d+ deliveries, \d+ accepted, 0 refused/);
        sandbox.stop();
        expect(await sandbox.ended).toBeInstanceOf(Command);
        expect(sandbox.err()).toContain('The sandbox has stopped');
      },
    );
  });

  it('prints one JSON document with --json, and accepts faults', async () => {
    const sandbox = run('--port', '0', '--clients', '1', '--json', '--fault', 'server-error:on=list,status=502');
    await until(() => sandbox.err().includes('Ctrl-C'));
    const document = JSON.parse(sandbox.out());
    const { apiKey } = document.clients[0];
    const ask = async (path: string): Promise<number> =>
      (await fetch(`${document.baseUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` } })).status;
    expect(await ask('/policies')).toBe(502);
    expect(await ask('/consent/logs')).toBe(200);
    sandbox.stop();
    await sandbox.ended;
  });

  it('accepts and prints a list form, header spelling, error form and rate limit', async () => {
    const settings = ['--list-form', 'cursor', '--rate-limit-headers', 'ratelimit', '--error-form', 'string'];
    const sandbox = run('--port', '0', '--clients', '1', '--json', '--other-limit', '7', ...settings);
    await until(() => sandbox.err().includes('Ctrl-C'));
    const document = JSON.parse(sandbox.out());
    const { apiKey } = document.clients[0];
    const answer = await fetch(`${document.baseUrl}/policies`, { headers: { authorization: `Bearer ${apiKey}` } });
    expect(Object.keys((await answer.json()) as object)).toEqual(['data', 'next_cursor']);
    expect(answer.headers.get('ratelimit-limit')).toBe('7');
    const refused = await fetch(`${document.baseUrl}/policies`);
    expect(await refused.json()).toEqual({ error: 'The Authorization header is missing.' });
    expect(document.choices).toMatchObject({
      'list of policies': '{data, next_cursor}',
      'rate limit headers': 'ratelimit',
      errors: '{"error": "…"}',
    });
    expect(document.limits.otherPerMinute).toBe(7);
    sandbox.stop();
    await sandbox.ended;
  });

  it('reports the choices of a seed for the mixed dialect, the same for the same seed', async () => {
    const tables: string[] = [];
    for (const seed of ['5', '5', '6']) {
      const sandbox = run('--port', '0', '--clients', '1', '--rows', '5', '--dialect', 'mixed', '--seed', seed);
      await until(() => sandbox.err().includes('Ctrl-C'));
      const drawn = sandbox
        .out()
        .split('\n')
        .filter((line) => line.includes('· '));
      expect(drawn.length).toBeGreaterThan(12);
      tables.push(drawn.join('\n'));
      sandbox.stop();
      await sandbox.ended;
    }
    expect(tables[1]).toBe(tables[0]);
    expect(tables[2]).not.toBe(tables[0]);
  });

  it('triggers events of a running sandbox', async () => {
    await withEndpoint(
      () => 200,
      async (url, received) => {
        const sandbox = run('--port', '0', '--clients', '1', '--json');
        await until(() => sandbox.err().includes('Ctrl-C'));
        const { siteUrl } = JSON.parse(sandbox.out());
        const trigger = run(
          'trigger',
          'dsar.submitted',
          '--sandbox',
          siteUrl,
          '--to',
          url,
          '--count',
          '2',
          '--set',
          'jurisdiction=BR',
          '--json',
        );
        await trigger.ended;
        expect(trigger.io.exitCode).toBe(0);
        expect(JSON.parse(trigger.out()).deliveries).toHaveLength(2);
        expect(received.map(({ body }) => JSON.parse(body.toString()).jurisdiction)).toEqual(['BR', 'BR']);
        sandbox.stop();
        await sandbox.ended;
      },
    );
  });

  it('shows the deliveries, and repeats one of them', async () => {
    let status = 500;
    await withEndpoint(
      () => status,
      async (url, received) => {
        const sandbox = run('--port', '0', '--clients', '2', '--json');
        await until(() => sandbox.err().includes('Ctrl-C'));
        const { siteUrl } = JSON.parse(sandbox.out());
        const tell = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
          const told = run(...args, '--sandbox', siteUrl);
          await told.ended;
          return { code: Number(told.io.exitCode), out: told.out(), err: told.err() };
        };
        expect((await tell('deliveries')).out).toContain('No such deliveries.');
        await tell('trigger', 'dsar.submitted', '--to', url, '--note', 'forged', '--json');
        status = 200;
        await tell('trigger', 'cookie_scan.completed', '--client', 'harbour-finch', '--to', url, '--json');

        const table = (await tell('deliveries')).out.split('\n');
        expect(table.find((line) => line.includes('dsar.submitted'))).toMatch(
          /^\d{4}-.*nordlicht .* 500 +refused +dlv_/,
        );
        const listed = async (...filter: string[]): Promise<Json[]> =>
          JSON.parse((await tell('deliveries', ...filter, '--json')).out).deliveries;
        expect((await listed()).map(({ event }) => event)).toEqual(['dsar.submitted', 'cookie_scan.completed']);
        expect((await listed('--client', 'harbour-finch')).map(({ event }) => event)).toEqual([
          'cookie_scan.completed',
        ]);
        expect((await listed('--event', 'dsar.submitted')).map(({ client }) => client)).toEqual(['nordlicht']);
        expect(await listed('--client', 'nordlicht', '--event', 'cookie_scan.completed')).toEqual([]);

        const [{ id }] = (await listed('--event', 'dsar.submitted')) as [Json];
        const before = received[0]!;
        const again = await tell('redeliver', id);
        expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/ 200 +accepted +dlv_/) as string });
        expect(received.at(-1)!.body.equals(before.body)).toBe(true);
        expect(received.at(-1)!.headers['x-service-delivery']).toBe(id);
        expect(JSON.parse((await tell('redeliver', id, '--to', url, '--json')).out)).toMatchObject({
          id,
          outcome: 'accepted',
        });
        expect(await listed('--event', 'dsar.submitted')).toHaveLength(3);

        expect(await tell('redeliver', 'dlv_nobody')).toMatchObject({
          code: 1,
          err: expect.stringContaining('No such delivery.') as string,
        });
        expect(await tell('redeliver', id, '--to', `${url}/elsewhere`)).toMatchObject({ code: 1 });
        sandbox.stop();
        await sandbox.ended;
      },
    );
  });

  it('says so if another service answers at the address of a sandbox', async () => {
    await withEndpoint(
      () => 200,
      async (url) => {
        for (const args of [['deliveries'], ['redeliver', 'x'], ['trigger', 'dsar.submitted']]) {
          const told = run(...args, '--sandbox', url);
          await told.ended;
          expect(told.io.exitCode).toBe(1);
          expect(told.err()).toContain('No sandbox answers');
        }
      },
    );
  });

  it('refuses an invalid address of a sandbox', async () => {
    expect(await run('deliveries', '--sandbox', 'localhost:4010').ended).toBeInstanceOf(CommanderError);
  });

  it('keeps generating events with --traffic until it is stopped', async () => {
    await withEndpoint(
      () => 200,
      async (url, received) => {
        const sandbox = run('--port', '0', '--clients', '1', '--rows', '0', '--traffic-to', url, '--traffic', '6000');
        await until(() => sandbox.err().includes('Live traffic'));
        const before = received.length;
        await until(() => received.length > before + 20);
        sandbox.stop();
        expect(await sandbox.ended).toBeInstanceOf(Command);
        expect(sandbox.err()).toMatch(/\d+ live events happened/);
      },
    );
  });

  it('says so if no sandbox answers', async () => {
    const trigger = run('trigger', 'dsar.submitted', '--sandbox', 'http://127.0.0.1:9');
    await trigger.ended;
    expect(trigger.io.exitCode).toBe(1);
    expect(trigger.err()).toContain('No sandbox answers');
  });

  it('says that a port is in use', async () => {
    const first = run('--port', '0', '--json');
    await until(() => first.err().includes('Ctrl-C'));
    const port = new URL(JSON.parse(first.out()).baseUrl).port;
    const error = await run('--port', port).ended;
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).problems[0]).toContain(`Port ${port} is in use`);
    first.stop();
    await first.ended;
  });

  it.each([
    ['--port', '70000'],
    ['--clients', '0'],
    ['--dialect', 'latin'],
    ['--traffic-to', 'ftp://127.0.0.1/'],
    ['--fault', 'nope'],
    ['--fault', 'latency:ms=soon'],
    ['--scenario', 'nope'],
    ['--traffic', '6001'],
    ['--traffic', '0'],
    ['--list-form', 'pages'],
    ['--rate-limit-headers', 'x'],
    ['--error-form', 'xml'],
    ['--other-limit', '-1'],
  ])('refuses %s %s', async (flag, value) => {
    expect(await run(flag, value).ended).toBeInstanceOf(CommanderError);
  });
});
