import { createPrivateKey } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import { expect, it, onTestFinished } from 'vitest';
import { reports } from '../../reports/index.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type Context, openContext } from '../../src/context/context.ts';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import { type NewEntry, sealEntry } from '../../src/crypto/entry.ts';
import { sha256, sha256Hex } from '../../src/crypto/hash.ts';
import { dedupeKeyOf } from '../../src/crypto/keys.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { produceReport } from '../../src/documents/produce-report.ts';
import { createLog } from '../../src/log/log.ts';
import { environment } from '../serving.ts';
import { openStoreIn, temporaryFolder, testKeys } from '../temporary.ts';

const NOW = '2026-07-20T12:00:00.000Z';

const webhook = (day: string, event: string, data: object) => {
  const timestamp = `2026-${day}T09:00:00.000Z`;
  const body = Buffer.from(JSON.stringify({ event, data: { timestamp, ...data } }));
  const meta = { contentType: 'application/json', headers: {}, secretId: 'a1b2c3d4', verdict: 'verified' };
  return { kind: 'webhook' as const, receivedAt: `2026-${day}T09:00:05.000Z`, meta: canonicalJson(meta), body };
};
const pulled = (day: string, row: { readonly id: string }) => ({
  kind: 'consent-log' as const,
  receivedAt: `2026-${day}T10:00:00.000Z`,
  meta: canonicalJson({
    ...{ bannerId: 'main', cursorSha256: null, page: 1, recordId: row.id },
    ...{ runId: 'run-1', serverDate: `2026-${day}T10:00:00.000Z` },
  }),
  body: Buffer.from(JSON.stringify(row)),
});
const action = (day: string, body: { readonly action: string }) => ({
  kind: 'action' as const,
  receivedAt: `2026-${day}T11:00:00.000Z`,
  meta: canonicalJson({ action: body.action, actor: 'Olga' }),
  body: canonicalJson({ actor: 'Olga', ...body }),
});
const choice = (n: number, visitor: number, consent: Record<string, boolean>) => ({
  ...{ consent_id: `c-${n}`, banner_id: 'main', visitor_hash: `v-${visitor}`, consent },
  ...{ policy_id: 'pol-1', policy_version: '1', region: visitor % 2 === 0 ? 'DE' : 'US-CA' },
});
const request = (n: number, type: string, jurisdiction: string) => ({
  ...{ request_id: `r-${n}`, type, jurisdiction, email: `person-${n}@example.net`, visitor_hash: `v-${n}` },
});
const moved = (basedOn: number, move: string, details: object) => ({
  ...{ action: 'case.moved', caseId: 'default-11', basedOn, move, details },
});

/** One of each: policy, consent given, partly given, withdrawn, contradicted and only pulled, scan, request, move, unknown event. */
const entries: readonly Omit<NewEntry, 'source' | 'dedupeKey'>[] = [
  webhook('06-01', 'policy.created', { policy_id: 'pol-1', policy_type: 'privacy-policy', version: '1' }),
  webhook('06-02', 'policy.published', { policy_id: 'pol-1', policy_type: 'privacy-policy', version: '1' }),
  webhook('06-03', 'consent.recorded', choice(1, 1, { analytics: true, marketing: true })),
  webhook('06-04', 'consent.recorded', choice(2, 2, { analytics: true, marketing: false })),
  webhook('06-05', 'consent.recorded', choice(3, 3, { analytics: false, marketing: false })),
  webhook('06-10', 'consent.recorded', choice(4, 1, { analytics: false, marketing: false })),
  webhook('06-11', 'cookie_scan.completed', {
    ...{ scan_id: 's-1', domain: 'shop.example', status: 'completed' },
    cookies: [{ name: '_ga', category: 'analytics', domain: 'shop.example', before_consent: true }],
  }),
  webhook('06-12', 'loyalty.points_awarded', { points: 3 }),
  pulled('06-20', { ...choice(3, 3, { analytics: true }), id: 'c-3', ...{ created_at: '2026-06-05T09:00:00.000Z' } }),
  pulled('06-20', { ...choice(5, 4, { analytics: true }), id: 'c-5', ...{ created_at: '2026-06-06T09:00:00.000Z' } }),
  webhook('06-21', 'dsar.submitted', request(1, 'access', 'DE')),
  webhook('06-22', 'dsar.submitted', request(3, 'erasure', 'US-CA')),
  action('06-23', moved(0, 'acknowledge', { at: '2026-06-23T11:00:00.000Z', channel: 'e-mail' })),
  action(
    '06-24',
    moved(1, 'confirm-identity', { at: '2026-06-24T11:00:00.000Z', how: 'by e-mail', requester: 'person' }),
  ),
];

const profile = `
name: Acme GmbH
address: [Musterweg 1, 10115 Berlin]
country: DE
region: BE
email: privacy@acme.example
`;

/** An installation with the entries above, whose ids, keys, salts and clock never change. */
async function openFixedLedger(): Promise<Context> {
  const folder = await temporaryFolder();
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, 9)]);
  const signing = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  await writeFile(join(folder, 'signing.pem'), signing.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  await writeFile(join(folder, 'controller.yaml'), profile);
  const store = await openStoreIn(folder);
  await store.transaction((tx) =>
    tx.insertMany('settings', [
      { name: 'instance_id', value: 'fixed' },
      { name: 'epoch', value: '1' },
    ]),
  );
  await store.close();
  const env = environment(folder, {
    INSTANCE_KEY: Buffer.alloc(32, 7).toString('base64'),
    SIGNING_KEY_FILE: join(folder, 'signing.pem'),
    CONTROLLER_FILE: join(folder, 'controller.yaml'),
    TIME_ZONE: 'Europe/Berlin',
    LOG_LEVEL: 'fatal',
  });
  const context = await openContext(loadConfig(env, folder), createLog('fatal'), { clock: () => new Date(NOW) });
  onTestFinished(() => context.close());
  const sealed = entries.map((entry, place) => {
    const dedupeKey = dedupeKeyOf(testKeys.dedupe, String(place));
    const salt = sha256(Buffer.from(`salt ${place}`));
    return sealEntry({ ...entry, source: 'default', dedupeKey }, place + 1, place + 1, salt, testKeys.append);
  });
  await context.store.transaction((tx) => tx.insertEntries(sealed));
  return context;
}

const VERIFIER = /\{[^{}]*"verify\.(?:html|mjs)"[^{}]*\},?/g;

/**
 * The hash of a document without what depends on the version of zlib: a PDF without compression, lengths and offsets, a
 * ZIP as its files, without the verifier, and without the entry that seals the manifest, whose salt is random.
 */
function hashOf(format: string, bytes: Buffer): string {
  if (format === 'pdf') return sha256Hex(Buffer.from(inflated(bytes), 'latin1')).slice(0, 16);
  if (format !== 'zip') return sha256Hex(bytes).slice(0, 16);
  const files = Object.entries(unzipSync(bytes))
    .filter(([name]) => !/^(?:proofs\/manifest|verify)\./.test(name))
    .map(([name, content]) => {
      const bytes = Buffer.from(content);
      // The manifest lists the verifier's files too.
      const plain = name === 'manifest.json' ? Buffer.from(String(bytes).replace(VERIFIER, '')) : bytes;
      return [name, hashOf(name.endsWith('.pdf') ? 'pdf' : 'file', plain)];
    });
  return sha256Hex(canonicalJson(files)).slice(0, 16);
}

function inflated(pdf: Buffer): string {
  const text = pdf.toString('latin1').replace(/^xref[^]*?^trailer/gm, '');
  const bare = text.replace(/startxref\s+\d+/g, '').replace(/\/Length \d+/g, '');
  // The content of each stream, so that the compression itself does not count.
  return bare.replace(/^stream\r?\n([^]*?)\r?\nendstream/gm, (_all, stream: string) => {
    try {
      return inflateSync(Buffer.from(stream, 'latin1')).toString('latin1');
    } catch {
      return stream;
    }
  });
}

it('every document of a fixed ledger has the same bytes as before', async () => {
  const context = await openFixedLedger();
  await context.seal();
  const hashes: Record<string, string> = {};
  const asked = { source: 'default', from: '2026-06-01', to: '2026-07-01', actor: 'Olga', asOf: entries.length };
  const documents = { ...context.documents, version: 'fixed' };
  for (const { name, formats } of reports)
    for (const format of formats) {
      const made = await produceReport(documents, { ...asked, name, format });
      if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
      hashes[`${name}.${format}`] = hashOf(format, await readFile(made.path));
    }
  const deps = { ...documents, cases: context.cases };
  const pack = await producePack(deps, { caseId: 'default-11', actor: 'Olga', asOf: entries.length, language: 'en' });
  if (pack.outcome !== 'produced') throw new Error(JSON.stringify(pack));
  hashes['dsar-pack.zip'] = hashOf('zip', await readFile(pack.path));
  expect(
    hashes,
    'Documents of an unchanged ledger have other bytes. If that is a decision, name it in CHANGELOG.md and update these hashes with vitest -u; otherwise it is a fault.',
  ).toMatchInlineSnapshot(`
    {
      "consent-audit.csv": "0981e512be4c7046",
      "consent-audit.html": "6bff18e189ff2d2a",
      "consent-audit.json": "d7ff53dbf59c8f1d",
      "consent-audit.pdf": "bf65d4b251d47f3d",
      "delivery-log.csv": "c5bbd79392f6441e",
      "delivery-log.html": "a1382c425b813747",
      "delivery-log.json": "0a59dcb14bbf86d8",
      "delivery-log.pdf": "fe2b15a9aa0b7190",
      "dsar-pack.zip": "aafb19459c25c7bd",
      "dsar-register.csv": "28eabb77ab2252dc",
      "dsar-register.html": "492014ef3d5e10d4",
      "dsar-register.json": "cb6189315803eee3",
      "dsar-register.pdf": "fe727ff04cb01f29",
      "reconciliation.csv": "dbb71801afe92a33",
      "reconciliation.html": "ddfc335c937abdd5",
      "reconciliation.json": "d8e36c0f0033726d",
      "reconciliation.pdf": "cec86df1630be209",
      "scan-audit.csv": "29afe6acbbe69c55",
      "scan-audit.html": "2fcc02fc20f8e0f5",
      "scan-audit.json": "5f22402075927ccb",
      "scan-audit.pdf": "3c11b1e2868ea79f",
    }
  `);
});
