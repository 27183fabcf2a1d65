import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Insertable } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { consentAudit } from '../../reports/consent-audit.ts';
import { consentRecordSchema } from '../../reports/consent-record.ts';
import type { DsarPackInput } from '../../reports/dsar-pack/gather.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';
import type { Tables } from '../../src/store/schema.ts';
import { temporaryFolder } from '../temporary.ts';
import { pdfText, zipFile, zipNames } from './files.ts';
import { produceDsarPack } from './whole-pack.ts';
import { collect, decision, openWorld, packInput, type World } from './world.ts';

const page = Buffer.from('<!doctype html><script>alert(1)</script><button>Accept all</button>');
const subject = 'subject-own';
let world: World;

type EvidenceRow = Insertable<Tables['banner_evidence']>;
function evidence(seq: number, from: string, to: string | null, changes: Partial<EvidenceRow> = {}): EvidenceRow {
  return {
    seq,
    source: 'default',
    received_at: '2026-06-30T10:00:00.000Z',
    change: 'added',
    evidence: seq,
    actor: 'Olga',
    banner_id: 'banner-main',
    sha256: sha256Hex(page),
    bytes: page.length,
    media_type: 'text/html',
    file_name: 'banner.html',
    shown_from: from,
    shown_to: to,
    note: 'first layer',
    commitment: 'cd'.repeat(32),
    ...changes,
  };
}

beforeEach(async () => {
  world = await openWorld();
  await world.insert('decision_history', [
    decision(11, '2026-06-03T10:00:00.000Z', { subject }),
    decision(14, '2026-06-20T10:00:00.000Z', { subject, purposes: '{"analytics":"denied"}' }),
    decision(15, '2026-06-20T11:00:00.000Z', { banner_id: 'banner-other' }),
  ]);
  await world.insert('banner_evidence', [
    evidence(21, '2026-06-15T00:00:00.000Z', null),
    evidence(22, '2026-06-01T00:00:00.000Z', '2026-06-15T00:00:00.000Z'),
    evidence(23, '2026-06-30T12:00:00.000Z', null, {
      change: 'retracted',
      evidence: 22,
      note: 'another site',
      ...{ sha256: null, bytes: null, media_type: null, file_name: null, shown_from: null, shown_to: null },
    }),
  ]);
});
afterEach(() => world.close());

test('a pack encloses the evidence of the person’s banners, cites it with the decisions, and never as a page to run', async () => {
  const evidenceFolder = await temporaryFolder();
  await writeFile(join(evidenceFolder, sha256Hex(page)), page);
  const input: DsarPackInput = packInput(world, {
    match: { status: 'from-device', subjects: [subject] },
    evidenceFolder,
  });
  const zip = await collect(produceDsarPack(input));
  expect(zipNames(zip).filter((name) => name.startsWith('banner-evidence/'))).toEqual([
    'banner-evidence/entry-21.html.txt',
  ]);
  expect(zipFile(zip, 'banner-evidence/entry-21.html.txt')).toEqual(page);
  const rows = parse<Record<string, string>>(zipFile(zip, 'decisions.csv'), { bom: true, columns: true });
  expect(rows.map((row) => row['banner_evidence'])).toEqual(['not evidenced', '21']);
  const history = zipFile(zip, 'history.html').toString('utf8');
  expect(history).toContain('banner-main, entry 21');
  expect(history).toContain('banner-main, not evidenced');
  const { records } = JSON.parse(zipFile(zip, 'records-27560.json').toString('utf8')) as { records: unknown[] };
  const parsed = records.map((record) => consentRecordSchema.parse(record));
  expect(parsed.map(({ evidence: { banner_as_shown: shown } }) => shown)).toMatchObject([
    'not evidenced',
    [{ entry: 21, added_by: 'Olga' }],
  ]);
  expect(pdfText(zipFile(zip, 'letter.pdf'))).toContain('banner-evidence: what the consent banner showed at the time');
  expect(await collect(produceDsarPack(input))).toEqual(zip);
});

test('a missing or altered evidence file is named in the pack, and nothing replaces it', async () => {
  const evidenceFolder = await temporaryFolder();
  const input = packInput(world, { match: { status: 'from-device', subjects: [subject] }, evidenceFolder });
  const without = await collect(produceDsarPack(input));
  expect(zipNames(without)).toContain('banner-evidence/entry-21-missing.txt');
  expect(pdfText(zipFile(without, 'letter.pdf'))).not.toContain('banner-evidence');
  await writeFile(join(evidenceFolder, sha256Hex(page)), 'another banner');
  const zip = await collect(produceDsarPack(input));
  expect(zipFile(zip, 'banner-evidence/entry-21-altered.txt').toString('utf8')).toContain(sha256Hex(page));
});

test('the audit says which banner had which evidence in which part of the period, and where it had none', async () => {
  const json = JSON.parse(
    (await collect(consentAudit.produce({ ...world.input(), format: 'json' }))).toString('utf8'),
  ) as {
    banners: { stretches: object[]; evidenced: number; notEvidenced: number };
  };
  expect(json.banners).toMatchObject({ evidenced: 1, notEvidenced: 2 });
  expect(json.banners.stretches).toMatchObject([
    { bannerId: 'banner-main', to: '2026-06-15T00:00:00.000Z', decisions: 1, evidence: [] },
    { bannerId: 'banner-main', from: '2026-06-15T00:00:00.000Z', decisions: 1, evidence: [21] },
    { bannerId: 'banner-other', decisions: 1, evidence: [] },
  ]);
  const text = pdfText(await collect(consentAudit.produce({ ...world.input(), format: 'pdf' }))).replaceAll(
    /\s+/g,
    ' ',
  );
  expect(text).toContain('For 1 of 3 decisions there is evidence of the banner');
  expect(text).toContain('retracted: another site');
});

test('documents call a banner by its name at asOf, with the id next to it', async () => {
  const unnamed = { sha256: null, bytes: null, media_type: null, file_name: null, shown_from: null, shown_to: null };
  const named = (seq: number, name: string | null) =>
    evidence(seq, '', null, { change: 'named', note: name, ...unnamed });
  await world.insert('banner_evidence', [named(31, 'Main page'), named(32, 'Main site'), named(33, 'Shop')]);
  const before = async (asOf: number) => ({
    bannerNames: await world.input().history.bannerNames({ source: 'default', asOf }),
    asOf,
  });
  const input = { ...world.input(), ...(await before(32)), format: 'pdf' as const };
  const audit = pdfText(await collect(consentAudit.produce(input))).replaceAll(/\s+/g, ' ');
  expect(audit).toContain('Main site (banner-main)');
  expect(audit).toContain('banner-other');
  expect((await world.input().history.bannerNames({ source: 'default', asOf: 30 })).size).toBe(0);
  const match = { status: 'from-device' as const, subjects: [subject] };
  const zip = await collect(produceDsarPack(packInput(world, { match, ...(await before(33)) })));
  expect(zipFile(zip, 'history.html').toString('utf8')).toContain('Shop (banner-main), entry 21');
});

test('evidence added after asOf is left out, and evidence retracted after it is kept', async () => {
  const audit = async (asOf: number) =>
    JSON.parse((await collect(consentAudit.produce({ ...world.input(), asOf, format: 'json' }))).toString('utf8')) as {
      banners: { evidenced: number };
    };
  expect((await audit(20)).banners.evidenced).toBe(0);
  expect((await audit(22)).banners.evidenced).toBe(2);
});
