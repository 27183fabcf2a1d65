import { expect, test } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { deliver, serveHere, startServing, type Serving } from '../serving.ts';
import { alter } from '../tampering.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';

const requested = (id: string) =>
  JSON.stringify({ event: 'dsar.submitted', request_id: id, request_type: 'access', email: `${id}@example.org` });

/** Ways to change how far the read models claim to be. */
const changes = [
  [
    'ahead of the ledger',
    `update fold_positions set seq = seq + 1000 where name = 'projector'`,
    /are 100\d entries ahead of the ledger/,
  ],
  ['set back', `update fold_positions set seq = 1 where name = 'projector'`, /position was set back or removed/],
  ['removed', 'delete from fold_positions', /position was set back or removed/],
] as const;

/** The requesters, once per case, and the quarantine. */
async function seen(folder: string) {
  const json = async (...args: string[]) => JSON.parse((await runCli(folder, [...args, '--json'])).stdout) as unknown;
  const cases = (await json('dsar', 'list')) as { requesterEmail: string }[];
  const quarantine = (await json('delivery', 'list', '--quarantine')) as unknown[];
  return { requests: cases.map(({ requesterEmail }) => requesterEmail.split('@')[0]).sort(), quarantine };
}

test.each(changes)(
  'each request opens one case while the position is %s, before a start and under a running server',
  async (_how, change, said) => {
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

    const second = await startServing(folder);
    const rebuilds = () => second.errors().split('rebuilding them').length - 1;
    await send(second, 'r4', 'r5');
    await expect.poll(rebuilds, PATIENTLY).toBe(1);
    // After that, since a change in the middle of it is corrected with it.
    await expect.poll(async () => (await seen(folder)).requests.length, PATIENTLY).toBe(5);
    await alter(folder, change);
    await send(second, 'r6', 'r7');
    await expect.poll(rebuilds, PATIENTLY).toBe(2);
    expect(await second.stop()).toBe(0);

    expect(await seen(folder)).toEqual({ requests: ['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'], quarantine: [] });
    expect((await runCli(folder, ['ledger', 'verify'])).code).toBe(0);
    expect((await runCli(folder, ['ledger', 'rebuild', '--check'])).code).toBe(0);
    expect((await runCli(folder, ['doctor'])).stdout).not.toMatch(said);
  },
);
