import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { verifierKeyOf } from '../../src/crypto/checkpoint.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { runCli } from '../cli/command-line.ts';
import { deliver, serveHere } from '../serving.ts';
import { alter, bytes } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';

test('the verifier key is printed, is in DATA_DIR, and is published by the public listener', async () => {
  const folder = await temporaryFolder();
  const serving = await serveHere(folder);
  const response = await fetch(`${serving.url}/.well-known/consent-ledger/log.vkey`);
  const shown = await response.text();
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(shown).toMatch(/^consent-ledger\/[0-9a-f]{10}\/1\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}\n$/);
  await serving.stop();
  expect((await runCli(folder, ['ledger', 'key'])).stdout).toBe(shown);
  expect(await readFile(join(folder, 'log.vkey'), 'utf8')).toBe(shown);
});

test('another key in DATA_DIR is named by verify and doctor, until the file is deleted', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'log.vkey');
  const shown = (await runCli(folder, ['ledger', 'key'])).stdout;
  const { publicKey } = generateKeyPairSync('ed25519');
  const [name = ''] = shown.split('+');
  for (const planted of [
    `${verifierKeyOf(name, publicKey)}\n`,
    'consent-ledger/other/1+00000000+AQ==\n',
    '',
    `${shown}x`,
  ]) {
    await writeFile(path, planted);
    expect((await runCli(folder, ['ledger', 'key'])).stdout).toBe(shown);
    const verified = await runCli(folder, ['ledger', 'verify']);
    expect([verified.code, verified.stdout]).toEqual([3, expect.stringContaining('log.vkey holds another key')]);
    expect((await runCli(folder, ['doctor'])).stdout).toContain('log.vkey holds another key');
    expect(await readFile(path, 'utf8')).toBe(planted);
  }
  await rm(path);
  expect((await runCli(folder, ['ledger', 'verify'])).code).toBe(0);
  expect(await readFile(path, 'utf8')).toBe(shown);
  expect((await runCli(folder, ['doctor'])).stdout).not.toContain('log.vkey');
  // The key of an earlier epoch is the same key.
  await writeFile(path, shown.replace('/1+', '/0+').replace(/\+\w{8}\+/, `+${keyIdOf(shown.replace('/1+', '/0+'))}+`));
  expect((await runCli(folder, ['ledger', 'verify'])).code).toBe(0);
  expect(await readFile(path, 'utf8')).toBe(shown);
});

/** The id that belongs to the name and key in a verifier key (C2SP signed-note). */
function keyIdOf(verifierKey: string): string {
  const [, name = '', encoded = ''] = /^([^+]+)\+\w+\+(\S+)/.exec(verifierKey) ?? [];
  return sha256(Buffer.concat([Buffer.from(`${name}\n`), Buffer.from(encoded, 'base64')])).toString('hex', 0, 4);
}

test('a receipt proves to the sender what was received and when, using only the verifier', async () => {
  const folder = await temporaryFolder();
  const serving = await serveHere(folder);
  const [sent, other] = [JSON.stringify({ event: 'consent.recorded', data: { consent_id: 'c-1' } }), '{}'];
  expect((await deliver(serving.url, sent)).status).toBe(200);
  await serving.stop();
  const run = (...args: string[]) => runCli(folder, args);
  const list = JSON.parse((await run('delivery', 'list', '--json')).stdout) as unknown;
  const seq = Number(/"seq":(\d+)/.exec(JSON.stringify(list))?.[1]);
  const path = (name: string) => join(folder, name);
  expect((await run('ledger', 'receipt', String(seq), '--out', path('receipt.json'))).code).toBe(0);
  const receipt = JSON.parse(await readFile(path('receipt.json'), 'utf8')) as {
    entry: number;
    received: string;
    verifier_key: string;
  };
  expect(receipt).toMatchObject({
    receipt: 'consent-ledger/receipt/v1',
    entry: seq,
    source: 'default',
    kind: 'webhook',
  });
  await writeFile(path('sent'), sent);
  await writeFile(path('other'), other);
  const verify = async (...names: string[]) => {
    const script = fileURLToPath(new URL('../../reports/verifier/verify.mjs', import.meta.url));
    return promisify(execFile)(process.execPath, [script, ...names.map(path)]).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: { code: number; stdout: string }) => ({ code: error.code, stdout: error.stdout }),
    );
  };
  expect(await verify('receipt.json', 'sent')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`sent: is byte for byte what was received as entry ${seq}`) as string,
  });
  expect((await verify('receipt.json', 'other')).code).toBe(3);
  await writeFile(path('later.json'), JSON.stringify({ ...receipt, received: '2020-01-01T00:00:00.000Z' }));
  expect(await verify('later.json')).toMatchObject({
    code: 3,
    stdout: expect.stringContaining(`what it says about entry ${seq} differs from what was sealed`) as string,
  });
  const withheld = JSON.parse((await run('ledger', 'receipt', String(seq), '--no-salt')).stdout) as object;
  expect(withheld).toMatchObject({ salt: null, meta_sha256: null });

  // The record of a decision includes the proofs of its entries.
  expect(await run('consent', 'record', 'c-1', '--out', path('record.json'))).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /record\.json: consent record r:c-1\nconformance not claimed: .*rights \(8\.3\.10\)/,
    ) as string,
  });
  expect(await verify('record.json')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Entry ${seq}`) as string,
  });
  const record = await readFile(path('record.json'), 'utf8');
  for (const [what, by, said] of [
    [
      /"commitment": "[0-9a-f]{4}/,
      '"commitment": "0000',
      `what it says about entry ${seq} differs from what was sealed`,
    ],
    [/"record_id": "/, '"record_id": "x', 'was changed after it was sealed'],
    [/"known": "/, '"known": "x', 'was changed after it was sealed'],
    [/"known": /, '"known": "", "known": ', 'was reformatted or changed after it was handed out'],
    [/"seal": \{[\s\S]*?\n {4}\}/, '"seal": null', 'has no seal'],
  ] as const) {
    await writeFile(path('altered.json'), record.replace(what, by));
    expect(await verify('altered.json')).toMatchObject({ code: 3, stdout: expect.stringContaining(said) as string });
  }
  // A receipt cannot be edited to claim more than it proves.
  for (const changes of [{ content: 'consent given' }, { verifier_key: `${receipt.verifier_key}A` }]) {
    await writeFile(path('longer.json'), `${JSON.stringify({ ...receipt, ...changes }, null, 2)}\n`);
    expect((await verify('longer.json')).code, JSON.stringify(changes)).toBe(3);
  }

  await alter(folder, `update entries set body = ${bytes(other)} where seq = ${seq}`);
  for (const args of [
    ['ledger', 'receipt', String(seq)],
    ['consent', 'show', 'c-1'],
    ['consent', 'record', 'c-1'],
  ]) {
    const refused = await run(...args);
    expect([refused.code, refused.stdout]).toEqual([3, expect.stringMatching(new RegExp(`[Ee]ntry ${seq}`))]);
  }
});
