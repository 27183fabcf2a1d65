import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { type StartOptions, startSandbox } from '../../src/sandbox/start.ts';
import { StateFileError } from '../../src/sandbox/state.ts';
import { allRows, get, NOON, post, withEndpoint } from './sandbox-world.ts';

const item = { policy_type: 'imprint', jurisdiction: 'DE' };

async function withFile<T>(use: (path: string, folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-state-'));
  try {
    return await use(join(folder, 'state.json'), folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a sandbox with a state file from start to end. */
async function live<T>(
  stateFile: string,
  use: (sandbox: Sandbox) => Promise<T>,
  options: Partial<StartOptions> = {},
): Promise<T> {
  const { sandbox } = await startSandbox({
    seed: 7,
    clock: () => NOON,
    clients: 2,
    backoffMs: [1],
    stateFile,
    ...options,
  });
  try {
    return await use(sandbox);
  } finally {
    await sandbox.close();
  }
}

describe('a state file', () => {
  it('keeps generated and published policies, the quota, ids and endpoints over a restart', async () => {
    await withFile(async (path) => {
      const first = await live(path, async (sandbox) => {
        const client = sandbox.clients[0]!;
        const { body: one } = await post(sandbox, '/policies/generate', client.apiKey, item);
        const { body: two } = await post(sandbox, '/policies/generate', client.apiKey, {
          ...item,
          policy_type: 'eula',
        });
        await post(sandbox, `/policies/${one.id}/publish`, client.apiKey);
        const batch = await post(sandbox, '/policies/bulk', client.apiKey, { items: [item] });
        client.endpoints.push({ url: 'http://127.0.0.1:9/hooks', events: ['policy.deleted'] });
        return { one, two, batch: batch.body, list: (await get(sandbox, '/policies', client.apiKey)).body };
      });
      await live(
        path,
        async (sandbox) => {
          const client = sandbox.clients[0]!;
          const list = (await get(sandbox, '/policies', client.apiKey)).body;
          // The port differs.
          const withoutUrl = ({ url: _url, ...rest }: { url: string }): unknown => rest;
          expect(list.policies.map(withoutUrl)).toEqual(first.list.policies.map(withoutUrl));
          expect((await post(sandbox, `/policies/${first.two.id}/publish`, client.apiKey)).status).toBe(200);
          const { body: next } = await post(sandbox, '/policies/generate', client.apiKey, item);
          expect([first.one.id, first.two.id, first.batch.results[0].id]).not.toContain(next.id);
          expect(next.policies_remaining).toBe(500 - 4);
          const batch = await post(sandbox, '/policies/bulk', client.apiKey, { items: [item] });
          expect(batch.body.batch_id).not.toBe(first.batch.batch_id);
          expect(client.endpoints).toEqual([{ url: 'http://127.0.0.1:9/hooks', events: ['policy.deleted'] }]);
        },
        { clock: () => new Date(NOON.getTime() + 3_600_000) },
      );
    });
  });

  it('keeps decisions made on demand and the month around them, although the clock moved on', async () => {
    await withFile((path) =>
      withEndpoint(
        () => 200,
        async (url) => {
          const before = await live(path, async (sandbox) => {
            const client = sandbox.clients[0]!;
            for (let n = 0; n < 3; n += 1) await sandbox.send(client.slug, 'consent.recorded', { url });
            return allRows(sandbox, client.apiKey);
          });
          expect(before).toHaveLength(403);
          const later = new Date(NOON.getTime() + 5 * 86_400_000);
          await live(
            path,
            async (sandbox) => expect(await allRows(sandbox, sandbox.clients[0]!.apiKey)).toEqual(before),
            {
              clock: () => later,
            },
          );
        },
      ),
    );
  });

  it('keeps the pooled quota of an agency', async () => {
    await withFile(async (path) => {
      const agency = { quota: 3 };
      await live(path, async (sandbox) => post(sandbox, '/policies/generate', sandbox.clients[1]!.apiKey, item), {
        agency,
      });
      await live(
        path,
        async (sandbox) => {
          const { body } = await post(sandbox, '/policies/generate', sandbox.clients[0]!.apiKey, item);
          expect(body.policies_remaining).toBe(1);
        },
        { agency },
      );
    });
  });

  it('is written while the sandbox runs, as a whole, for its owner only', async () => {
    await withFile((path, folder) =>
      live(path, async (sandbox) => {
        const client = sandbox.clients[0]!;
        const { body } = await post(sandbox, '/policies/generate', client.apiKey, item);
        let text = '';
        for (let n = 0; n < 100 && !text.includes(body.id); n += 1) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          text = await readFile(path, 'utf8').catch(() => '');
        }
        expect(JSON.parse(text).clients[client.slug].policies[0].id).toBe(body.id);
        expect(await readdir(folder)).toEqual(['state.json']);
        expect((await stat(path)).mode & 0o777).toBe(0o600);
      }),
    );
  });

  it.each([
    ['not JSON', '{"version":'],
    ['another document', '{"hello":1}'],
  ])('that is %s is refused and left unchanged', async (_what, text) => {
    await withFile(async (path) => {
      await writeFile(path, text);
      await expect(live(path, async () => undefined)).rejects.toThrow(StateFileError);
      expect(await readFile(path, 'utf8')).toBe(text);
    });
  });

  it('is reported at start if it cannot be written', async () => {
    await withFile(async (_path, folder) => {
      await expect(live(join(folder, 'missing', 'state.json'), async () => undefined)).rejects.toThrow(
        'cannot be written',
      );
    });
  });

  it('of another seed is refused', async () => {
    await withFile(async (path) => {
      await live(path, async () => undefined);
      await expect(live(path, async () => undefined, { seed: 8 })).rejects.toThrow('belongs to the seed 7, not 8');
    });
  });
});
