import { parse } from 'csv-parse/sync';
import type { Insertable } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { consentAudit } from '../../reports/consent-audit.ts';
import type { Report, ReportInput } from '../../reports/report.ts';
import { loadInventories, type scanAuditJson } from '../../reports/scan-audit/findings.ts';
import { scanAudit } from '../../reports/scan-audit.ts';
import type { ScanItem } from '../../src/core/site-inventory.ts';
import type { Tables } from '../../src/store/schema.ts';
import { pdfText } from './files.ts';
import { collect, openWorld, type World } from './world.ts';

let world: World;
let seq = 0;
beforeAll(async () => {
  world = await openWorld();
});
beforeEach(async () => {
  seq = 0;
  await world.store.foldTransaction(async ({ query }) => {
    await query.deleteFrom('scan_history').execute();
    await query.deleteFrom('integration_history').execute();
  });
});
afterAll(() => world.close());

const item = (name: string, changes: Partial<ScanItem> = {}): ScanItem => ({
  ...{ kind: 'cookie', name, category: 'analytics', domain: 'shop.example', provider: null },
  ...{ beforeConsent: false, thirdParty: null },
  ...changes,
});
const shared = (at: string) => ({
  ...{ seq: (seq += 1), source: 'default', received_at: at, occurred_at: at },
  ...{ occurred_basis: 'payload' as const, occurred_counts: 1, at },
});
/** A scan at noon of a day; `items` null: a scan with counts only. */
const scan = (
  day: string,
  items: readonly ScanItem[] | null,
  changes: Partial<Insertable<Tables['scan_history']>> = {},
): Insertable<Tables['scan_history']> => ({
  ...shared(`${day}T12:00:00.000Z`),
  ...{ scan_id: null, domain: 'shop.example', status: 'completed', cookies_found: items?.length ?? 9 },
  ...{ trackers_found: 0, uncategorised: 0, score: null, before_consent: null },
  ...{ items: items === null ? null : JSON.stringify(items), unread_items: 0, listed: items === null ? 0 : 1 },
  ...changes,
});
const integration = (
  day: string,
  change: 'connected' | 'disconnected' | 'lost',
  changes: Partial<Insertable<Tables['integration_history']>> = {},
): Insertable<Tables['integration_history']> => ({
  ...shared(`${day}T12:00:00.000Z`),
  ...{ integration_id: 'int_1', name: 'Shop', site: 'shop.example', change, error: null },
  ...changes,
});

const produce = (report: Report, changes: Partial<ReportInput>) => collect(report.produce(world.input(changes)));
const json = async (changes: Partial<ReportInput> = {}) =>
  JSON.parse((await produce(scanAudit, changes)).toString('utf8')) as ReturnType<typeof scanAuditJson>;

test('drift starts from the last inventory before the period, scan by scan; failed scans and bare counts change nothing', async () => {
  const early = { before_consent: 1 };
  await world.insert('scan_history', [
    scan('2026-05-20', [item('_ga'), item('old'), item('cart', { category: null })]),
    scan('2026-06-03', [item('_ga'), item('_fbp', { category: 'marketing' }), item('cart', { category: 'necessary' })]),
    scan('2026-06-05', [], { status: 'failed', listed: 0 }),
    scan('2026-06-06', null),
    scan(
      '2026-06-10',
      [item('_ga', { beforeConsent: true }), item('cart', { category: 'necessary', beforeConsent: true })],
      early,
    ),
    scan('2026-06-11', [item('b')], { domain: null }),
    scan('2026-07-03', [], early),
  ]);
  const audit = await json();
  expect(audit.scans.map(({ entry }) => entry)).toEqual([6, 5, 4, 3, 2]);
  expect(audit.changesInPeriod.map((one) => [one['entry'], one['name'], one['record']])).toEqual([
    [2, '_fbp', 'new'],
    [2, 'cart', 'category-changed'],
    [2, 'old', 'gone'],
    [5, '_fbp', 'gone'],
    [5, '_ga', 'now-before-consent'],
    [5, 'cart', 'now-before-consent'],
  ]);
  expect(audit.changesInPeriod[1]).toMatchObject({ category_before: null, category: 'necessary' });
  expect(audit.sites.map(({ site, inventory }) => [site, inventory.map(({ name }) => name)])).toEqual([
    [null, ['b']],
    ['shop.example', ['_ga', 'cart']],
  ]);
  // The cart needs no consent.
  const text = pdfText(await produce(scanAudit, { format: 'pdf' })).replaceAll(/\s+/g, ' ');
  expect(text).toContain('1 cookie or tracker that needs consent was set before it on 1 site');
  expect(text).toContain('_ga (shop.example) on shop.example, category analytics');
});

test('integrations are in the state of the latest change by time, with the reason for a loss', async () => {
  await world.insert('integration_history', [
    integration('2026-06-12', 'lost', { error: 'The token expired.' }),
    integration('2026-05-02', 'connected'),
    integration('2026-06-20', 'connected', { integration_id: 'int_2', name: 'Blog' }),
    integration('2026-07-02', 'connected'),
  ]);
  const { states, changes } = (await json()).integrations;
  expect(states.map(({ name, state, reason, since }) => [name, state, reason, since.slice(0, 10)])).toEqual([
    ['Shop', 'lost', 'The token expired.', '2026-06-12'],
    ['Blog', 'connected', null, '2026-06-20'],
  ]);
  expect(changes.map(({ name, record }) => [name, record])).toEqual([
    ['Shop', 'lost'],
    ['Blog', 'connected'],
  ]);
});

test('an entry beyond asOf does not change a byte of either report, in any format', async () => {
  await world.insert('scan_history', [scan('2026-06-03', [item('_ga')]), scan('2026-06-10', [item('x')])]);
  await world.insert('integration_history', [integration('2026-06-12', 'connected')]);
  const all = () =>
    Promise.all(
      [scanAudit, consentAudit].flatMap((report) =>
        report.formats.map((format) => produce(report, { format, asOf: 3 })),
      ),
    );
  const before = await all();
  await world.insert('scan_history', [scan('2026-06-11', [item('y', { beforeConsent: true })], { before_consent: 1 })]);
  await world.insert('integration_history', [integration('2026-06-13', 'lost')]);
  (await all()).forEach((bytes, place) => expect(bytes.equals(before[place] as Buffer)).toBe(true));
});

test('the consent audit has inventory, drift and integrations in its pages and in its JSON', async () => {
  await world.insert('scan_history', [
    scan('2026-06-03', [item('_ga')]),
    scan('2026-06-10', [item('_ga'), item('_fbp', { category: null })], { unread_items: 2 }),
  ]);
  await world.insert('integration_history', [integration('2026-06-12', 'lost', { error: 'HTTP 401' })]);
  const text = pdfText(await produce(consentAudit, { format: 'pdf' })).replaceAll(/\s+/g, ' ');
  for (const words of ['7 Scans and integrations', '2 more could not be read', 'new, category none', 'HTTP 401'])
    expect(text).toContain(words);
  const audit = JSON.parse((await produce(consentAudit, {})).toString('utf8')) as { scans: unknown };
  expect(audit.scans).toEqual(
    JSON.parse(JSON.stringify({ ...(await json()), ...{ document: undefined, checkpoint: undefined } })),
  );
});

test('names sent by others stay text: a formula gets an apostrophe in CSV, nothing is markup in HTML, and any text makes a PDF', async () => {
  const names = [
    '=cmd()|x',
    '@SUM(A1)',
    '<script>alert(1)</script>',
    '"><img src=x>',
    '\u202e gnp',
    '日本',
    '😀',
    '\ufffd',
  ];
  await world.insert('scan_history', [
    scan(
      '2026-06-03',
      names.map((name) => item(name, { category: name, provider: name })),
    ),
  ]);
  await world.insert('integration_history', [integration('2026-06-04', 'lost', { name: '=1+1', error: '<b>+1</b>' })]);
  const rows = parse<Record<string, string>>(await produce(scanAudit, { format: 'csv' }), { bom: true, columns: true });
  expect(rows).toHaveLength(names.length + 1);
  expect(rows.slice(0, 2).map(({ name, category }) => [name, category])).toEqual([
    ["'=cmd()|x", "'=cmd()|x"],
    ["'@SUM(A1)", "'@SUM(A1)"],
  ]);
  expect(rows.at(-1)).toMatchObject({ record: 'lost', name: "'=1+1", reason: '<b>+1</b>' });
  expect((await produce(scanAudit, { format: 'html' })).toString('utf8')).not.toMatch(/<script|<img|<b>/);
  expect(pdfText(await produce(scanAudit, { format: 'pdf' }))).toContain('=cmd()|x');
});

test('an inventory can be requested as of a time, for one site, and compared with any earlier one', async () => {
  await world.insert('scan_history', [
    scan('2026-06-01', [item('a')]),
    scan('2026-06-02', [item('b')]),
    scan('2026-06-03', [item('c')]),
    scan('2026-06-03', [item('d')], { domain: 'blog.example' }),
  ]);
  const { history } = world.input();
  const scope = { source: 'default', asOf: 1000, site: 'shop.example' };
  const shown = async (filter: { to?: string; since?: string }) =>
    (await loadInventories(history, { ...scope, ...filter })).map(({ items, drift }) => [
      items.map(({ name }) => name).join(),
      drift.map(({ change, item: { name } }) => `${change} ${name}`).join(', '),
    ]);
  expect(await shown({})).toEqual([['c', 'gone b, new c']]);
  expect(await shown({ to: '2026-06-02T13:00:00.000Z' })).toEqual([['b', 'gone a, new b']]);
  expect(await shown({ since: '2026-06-02T00:00:00.000Z' })).toEqual([['c', 'gone a, new c']]);
  expect(await shown({ to: '2026-05-01T00:00:00.000Z' })).toEqual([]);
});

const pagesOf = async (domain: string) => {
  await world.insert('scan_history', [
    scan('2026-06-02', [item('_ga', { domain }), item('_fbp', { domain })], { domain }),
    scan('2026-06-03', [item('_ga', { domain })], { domain }),
  ]);
  await world.insert('integration_history', [integration('2026-06-04', 'connected', { site: domain })]);
  return pdfText(await produce(scanAudit, { format: 'pdf' }));
};

test('a site and the domain of a cookie stay on one line of the PDF', async () => {
  const pages = await pagesOf('www.harbourfinch.example');
  // Two scans, two integration tables, one change, one item; a heading names the site too.
  expect(pages.split('www.harbourfinch.example').length - 1).toBeGreaterThanOrEqual(7);
});

test('a long site cuts no title of another column', async () => {
  const pages = await pagesOf('customers.portal.harbourfinch-of-london.co.example');
  expect(pages).toMatch(/Trackers +category +consent +readable/);
  expect(pages).toContain(' completed ');
});
