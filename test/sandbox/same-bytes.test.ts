import { expect, it } from 'vitest';
import type { DialectChoice } from '../../src/sandbox/dialects.ts';
import { isLong } from '../temporary.ts';
import { NOON, withEndpoint, withSandbox } from './sandbox-world.ts';

/** Everything that a caller sees of a sandbox: the status, headers and body of each response, and each delivery. */
async function observe(seed: number, dialect: DialectChoice): Promise<string[]> {
  const seen: string[] = [];
  await withEndpoint(
    () => 200,
    (url, received) =>
      withSandbox(
        {
          seed,
          dialect,
          consentRows: 120,
          quota: 8,
          siteUrl: 'http://service.example',
          faults: [{ name: 'server-error', on: 'list', rate: 0.5 }],
        },
        async (sandbox) => {
          const at = sandbox.app.server.address();
          if (at === null || typeof at === 'string') throw new Error('no port');
          const here = `http://127.0.0.1:${at.port}`;
          const { apiKey, siteKey, banners } = sandbox.clients[0]!;
          sandbox.clients[0]!.webhookUrl = url;
          const ask = async (method: string, path: string, body?: unknown): Promise<string> => {
            const answer = await fetch(`${here}${path}`, {
              method,
              headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            });
            const text = await answer.text();
            seen.push(JSON.stringify([method, path, answer.status, [...answer.headers], text]));
            await sandbox.outbox.settled();
            return text;
          };
          const item = { policy_type: 'imprint', jurisdiction: 'DE' };
          const made = /pol_\w+/.exec(await ask('POST', '/api/v1/policies/generate', item))?.[0];
          await ask('POST', '/api/v1/policies/generate', { type: 'eula', jurisdiction: ['GB', 'US-CA'] });
          await ask('POST', '/api/v1/policies/bulk', { items: [item, {}, ...Array(8).fill(item)] });
          await ask('POST', `/api/v1/policies/${made}/publish`);
          for (let n = 0; n < 6; n += 1) await ask('GET', '/api/v1/policies');
          let path = `/api/v1/consent/logs?limit=20&banner_id=${banners[0]!.id}`;
          for (let n = 0; n < 4; n += 1) {
            const cursor = /"next_cursor": ?"([^"]+)"/.exec(await ask('GET', path))?.[1];
            if (cursor !== undefined) path = `${path.replace(/&cursor=.*/, '')}&cursor=${cursor}`;
          }
          await ask('GET', '/openapi');
          for (const type of ['hub', 'imprint']) await ask('GET', `/api/embed/policy?siteKey=${siteKey}&type=${type}`);
          await ask('GET', '/embed.js');
          const slug = sandbox.clients[0]!.slug;
          await sandbox.send(slug, 'consent.recorded');
          await sandbox.send(slug, 'dsar.submitted');
          await sandbox.playTraffic();
          seen.push(
            // The order of two clients' deliveries depends on the network; their content does not.
            ...received
              .map(({ headers: { host: _host, ...headers }, body }) =>
                JSON.stringify([headers, body.toString('base64')]),
              )
              .sort(),
          );
        },
      ),
  );
  return seen;
}

// The mixed dialect has parts of the others.
const dialects = isLong ? (['plain', 'terse', 'mixed'] as const) : (['mixed'] as const);

it.each(dialects)(
  'two runs with one seed and clock give the same bytes in every response and delivery (%s)',
  async (dialect) => {
    const first = await observe(11, dialect);
    expect(first.length).toBeGreaterThan(60);
    expect(first.some((line) => line.includes(NOON.toUTCString()))).toBe(true);
    expect(await observe(11, dialect)).toEqual(first);
    const other = await observe(12, dialect);
    expect(other.filter((line) => first.includes(line)).length).toBeLessThan(first.length / 2);
  },
);
