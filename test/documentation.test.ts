import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawThroughput } from '../scripts/throughput.ts';
import { variableNames, variables } from '../src/config/variables.ts';
import { documentedEvents, entryKinds } from '../src/core/vocabulary.ts';
import { canonicalLeafData, commitmentOf, leafHashOf, macOf, SALT_BYTES } from '../src/crypto/entry.ts';
import { hmacSha256, sha256 } from '../src/crypto/hash.ts';
import { dedupeKeyOf, deriveKeys, keyFingerprint } from '../src/crypto/keys.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8');
const format = read('docs/ledger-format.md');

describe('docs/configuration.md', () => {
  const rows = [...read('docs/configuration.md').matchAll(/^\| `([A-Z0-9_]+)` \| (.*?) \| (✓?) ?\| .+ \|$/gm)].map(
    ([, name, defaultText = '', secret]) => ({
      name,
      defaultText: defaultText.replaceAll('`', ''),
      secret: secret === '✓',
    }),
  );

  it('lists every variable in order, with the program’s default and secrecy', () => {
    expect(rows).toEqual(
      variableNames.map((name) => ({ name, defaultText: variables[name].defaultText, secret: variables[name].secret })),
    );
  });
});

describe('every page', () => {
  const names = readdirSync(join(import.meta.dirname, '../docs')).filter((name) => name.endsWith('.md'));
  const pages = ['README.md', ...names.map((name) => `docs/${name}`)];

  it('has no line of more than 160 characters outside tables and code', () => {
    expect(longLinesOf(`${'a'.repeat(161)}\n`)).toEqual([1]);
    expect(longLinesOf(`| ${'a'.repeat(161)} |\n\`\`\`\n${'a'.repeat(161)}\n\`\`\`\n`)).toEqual([]);
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.flatMap((page) => longLinesOf(read(page)).map((line) => `${page}:${line}`))).toEqual([]);
  });

  it('begins with a title and then what its reader gets, as text', () => {
    for (const page of pages) {
      const [title, first] = read(page).split('\n\n');
      expect(title, page).toMatch(/^# .+$/);
      expect(first, page).toMatch(/^[\p{L}`*][^|]*\.(\s|$)/u);
    }
  });
});

describe('README.md', () => {
  it('is no longer than 120 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120);
  });
});

describe('docs/README.md', () => {
  it('lists every page once, so that the website links to each', () => {
    const listed = [...read('docs/README.md').matchAll(/^- \[[^\]]+\]\(([\w-]+\.md)\): \S/gm)].map(([, page]) => page);
    const pages = readdirSync(join(import.meta.dirname, '../docs')).filter((name) => name.endsWith('.md'));
    expect(listed.sort()).toEqual(pages.filter((name) => name !== 'README.md').sort());
  });
});

describe('docs/performance.md', () => {
  it('has a current picture of the figures in its table (drawn by node --import tsx scripts/throughput.ts)', () => {
    expect(read('docs/throughput.svg')).toBe(drawThroughput(read('docs/performance.md')));
  });
});

describe('docs/service.md', () => {
  it('names every documented event', () => {
    const service = read('docs/service.md');
    for (const event of documentedEvents) expect(service).toContain(`\`${event}\``);
  });
});

// Written as an auditor would after reading the page, without the code. A whole ledger is verified like this in
// test/ledger/format.sqlite.test.ts.
describe('the ledger format in docs/ledger-format.md', () => {
  const part = (length: number, fill: number): Buffer => Buffer.alloc(length, fill);
  const instanceKey = part(32, 7);
  const keys = deriveKeys(instanceKey);
  const entry = {
    seq: 12,
    source: 'default',
    sourceSeq: 3,
    kind: 'webhook',
    receivedAt: '2026-07-01T14:02:03.004Z',
    dedupeKey: part(32, 1),
    commitment: part(32, 2),
  } as const;

  it('gives the commitment', () => {
    const [salt, meta, body] = [part(SALT_BYTES, 9), Buffer.from('{}'), Buffer.from('body')];
    const written = [Buffer.from('consent-ledger/commitment/v1\n'), salt, sha256(meta), sha256(body)];
    expect(written[0]).toHaveLength(29);
    expect(commitmentOf(salt, meta, body)).toEqual(sha256(Buffer.concat(written)));
    expect(format).toContain('"consent-ledger/commitment/v1\\n" ‖ salt ‖ SHA-256(meta) ‖ SHA-256(body)');
  });

  it('gives the leaf data, the leaf hash and the MAC', () => {
    const [, template = ''] = /^\s*`(\{"commitment".*\})`\.$/m.exec(format) ?? [];
    const hex = (bytes: Buffer): string => bytes.toString('hex');
    const leafData = template
      .replace('"commitment":"…"', `"commitment":"${hex(entry.commitment)}"`)
      .replace('"dedupeKey":"…"', `"dedupeKey":"${hex(entry.dedupeKey)}"`)
      .replace('"receivedAt":"…"', `"receivedAt":"${entry.receivedAt}"`)
      .replace('"seq":1', '"seq":12')
      .replace('"sourceSeq":1', '"sourceSeq":3');
    expect(leafData).toBe(canonicalLeafData(entry).toString('utf8'));
    const leafHash = sha256(Buffer.concat([Buffer.from([0]), Buffer.from(leafData)]));
    expect(leafHashOf(entry)).toEqual(leafHash);
    expect(macOf(keys.append, leafHash)).toEqual(hmacSha256(keys.append, leafHash));
  });

  it('gives the deduplication keys and the fingerprints', () => {
    const body = Buffer.from('{"event":"consent.recorded"}');
    expect(dedupeKeyOf(keys.dedupe, body)).toEqual(hmacSha256(keys.dedupe, body));
    const written = Buffer.concat([
      Buffer.from([0, 0, 0, 6]),
      Buffer.from('action'),
      Buffer.from([0, 0, 0, 6]),
      Buffer.from('case-1'),
    ]);
    expect(dedupeKeyOf(keys.dedupe, 'action', 'case-1')).toEqual(hmacSha256(keys.dedupe, written));
    const mac = hmacSha256(instanceKey, Buffer.from('consent-ledger/fingerprint/v1'));
    expect(keyFingerprint(instanceKey)).toBe(sha256(mac).toString('hex').slice(0, 16));
  });

  it('names every kind of entry and every derived key', () => {
    for (const kind of entryKinds) expect(format).toContain(`\`${kind}\``);
    expect(format).toContain(`purpose: ${Object.keys(keys).join(', ')}`);
  });
});

/** Numbers of the lines with more than 160 characters that are in no table, code block or part that a test writes. */
function longLinesOf(text: string): readonly number[] {
  let isCode = false;
  let isWritten = false;
  return text.split('\n').flatMap((line, index) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    if (line.startsWith('<!--')) isWritten = line.includes('begin; written by');
    return isFence || isCode || isWritten || /^\s*\|/.test(line) || line.length <= 160 ? [] : [index + 1];
  });
}
