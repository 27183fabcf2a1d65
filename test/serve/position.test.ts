import { expect, test } from 'vitest';
import { createLog } from '../../src/log/log.ts';
import { runCli } from '../cli/command-line.ts';
import { deliver, type Serving, serveHere, startServing } from '../serving.ts';
import { alter } from '../tampering.ts';
import { PATIENTLY, runsAll, temporaryFolder } from '../temporary.ts';

const requested = (id: string) =>
  JSON.stringify({ event: 'dsar.submitted', request_id: id, request_type: 'access', email: `${id}@example.org` });

/** Ways in which somebody changes how far the read models claim to be, how doctor reports them, and where the server of the test runs. */
const changes = [
  [
    'ahead of the ledger',
    `update fold_positions set seq = seq + 1000 where name = 'projector'`,
    /are 100\d entries ahead of the ledger/,
    'process',
  ],
  [
    'set back',
    `update fold_positions set seq = 1 where name = 'projector'`,
    /position was set back or removed/,
    'here',
  ],
  ['removed', 'delete from fold_positions', /position was set back or removed/, 'here'],
] as const;

/** The requesters, once per case, and the quarantine. */
async function seen(folder: string) {
  const json = async (...args: string[]) => JSON.parse((await runCli(folder, [...args, '--json'])).stdout) as unknown;
  const cases = (await json('dsar', 'list')) as { requesterEmail: string }[];
  const quarantine = (await json('delivery', 'list', '--quarantine')) as unknown[];
  return { requests: cases.map(({ requesterEmail }) => requesterEmail.split('@')[0]).sort(), quarantine };
}

/** A server and what it logs: of the built program, which folds in a thread, or here. */
async function serve(where: 'process' | 'here', folder: string) {
  if (where === 'process') {
    const { url, errors, stop } = await startServing(folder);
    return { url, logged: errors, stop: async () => expect(await stop()).toBe(0) };
  }
  let lines = '';
  const log = createLog('warn', { write: (line) => void (lines += line) });
  const { url, stop } = await serveHere(folder, {}, log);
  return { url, logged: () => lines, stop };
}

// How each is found does not depend on the database.
test.each(runsAll ? changes : changes.slice(0, 1))(
  'each request opens one case while the position is %s, before a start and under a running server',
  async (_how, change, said, where) => {
    const folder = await temporaryFolder();
    const send = async (server: Pick<Serving, 'url'>, ...ids: string[]) => {
      for (const id of ids) expect((await deliver(server.url, requested(id))).status).toBe(200);
    };
    const first = await serveHere(folder);
    await send(first, 'r1', 'r2', 'r3');
    await first.stop();
    expect((await seen(folder)).requests).toEqual(['r1', 'r2', 'r3']);

    await alter(folder, change);
    expect((await runCli(folder, ['doctor'])).stdout).toMatch(said);
    const verify = await runCli(folder, ['ledger', 'verify']);
    expect([verify.code, verify.stdout]).toEqual([3, expect.stringContaining('position-altered')]);
    expect((await runCli(folder, ['ledger', 'rebuild', '--check'])).code).toBe(3);

    const second = await serve(where, folder);
    await send(second, 'r4', 'r5');
    await expect.poll(() => second.logged(), PATIENTLY).toContain('rebuilding them');
    await expect.poll(async () => (await seen(folder)).requests.length, PATIENTLY).toBe(5);
    // Perhaps in the middle of the rebuild, which then either corrects this too or is followed by another.
    await alter(folder, change);
    await send(second, 'r6', 'r7');
    await expect.poll(async () => (await seen(folder)).requests.length, PATIENTLY).toBe(7);
    await second.stop();

    expect(await seen(folder)).toEqual({ requests: ['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'], quarantine: [] });
    expect((await runCli(folder, ['ledger', 'verify'])).code).toBe(0);
    expect((await runCli(folder, ['ledger', 'rebuild', '--check'])).code).toBe(0);
    expect((await runCli(folder, ['doctor'])).stdout).not.toMatch(said);
  },
);
