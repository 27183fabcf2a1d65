import { describe, expect, it } from 'vitest';
import { runIn } from '../cli/command-line.ts';
import { requestShapes } from '../receivers/shapes/requests.ts';
import { scanShapes } from '../receivers/shapes/scans.ts';
import { deliver, environment, startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

interface Listed {
  readonly kind: string;
  readonly parts: readonly { readonly kind: string; readonly outcome: string | null }[];
  readonly requesterEmail: string | null;
  readonly receiptAt: string;
  readonly caseId: string;
}

/** The server's clock is the machine's. */
const RECENT = new Date(Math.floor(Date.now() / 1000 - 3 * 86_400) * 1000).toISOString();
const recent = (payload: object) =>
  JSON.parse(
    JSON.stringify(payload)
      .replaceAll('2026-06-20T09:30:00.000Z', RECENT)
      .replaceAll('2026-06-20 09:30:00', RECENT.slice(0, 19).replace('T', ' '))
      .replaceAll('1781947800', String(Date.parse(RECENT))),
  ) as Record<string, unknown>;
const ways = (event: string, payload: object) => [
  { event, ...payload },
  { event, timestamp: new Date().toISOString(), data: payload },
];

describe('the built program', () => {
  it('opens one case for each request of a known tool, with who, what and when', async () => {
    const folder = await temporaryFolder();
    const server = await startServing(folder);
    const expected: unknown[] = [];
    for (const { payload, kinds, email, at } of requestShapes)
      for (const way of [0, 1]) {
        // Both deliveries are requests of their own.
        const body = ways('dsar.submitted', { request_id: `r-${expected.length}`, ...recent(payload) })[way];
        expect((await deliver(server.url, JSON.stringify(body))).status).toBe(200);
        expected.push([kinds, email, at === null ? null : RECENT]);
      }
    await server.stop();
    const listed = await runIn(folder, ['dsar', 'list', '--json'], { env: environment(folder) });
    const cases = JSON.parse(listed.stdout) as Listed[];
    const found = cases
      .toSorted((a, b) => Number(a.caseId.split('-').at(-1)) - Number(b.caseId.split('-').at(-1)))
      .map(({ kind, parts, requesterEmail, receiptAt }, place) => {
        const [, , at] = expected[place] as [unknown, unknown, string | null];
        return [
          parts.length === 0 ? [kind] : parts.map((part) => part.kind),
          requesterEmail,
          at === null ? null : receiptAt,
        ];
      });
    expect(found).toEqual(expected);
  });

  it('shows the figures that a scan states, and null for the others', async () => {
    const folder = await temporaryFolder();
    const server = await startServing(folder);
    const shapes = [...scanShapes.entries()].map(([place, { payload }]) => ({
      ...recent(payload),
      domain: `s${place}.example`,
    }));
    for (const payload of shapes)
      for (const body of ways('cookie_scan.completed', payload))
        expect((await deliver(server.url, JSON.stringify(body))).status).toBe(200);
    await server.stop();
    const listed = await runIn(folder, ['scan', 'list', '--json'], { env: environment(folder) });
    const scans = JSON.parse(listed.stdout) as { site: string; cookies: number | null; isInventory: boolean }[];
    expect(scans).toHaveLength(2 * shapes.length);
    for (const [place, { expected }] of scanShapes.entries())
      for (const one of scans.filter(({ site }) => site === `s${place}.example`)) {
        if ('cookiesFound' in expected) expect(one.cookies).toBe(expected['cookiesFound']);
        if ('isInventory' in expected) expect(one.isInventory).toBe(expected['isInventory']);
      }
  });
});
