#!/usr/bin/env node
// Checks an export of consent-ledger (README.md beside this file): node verify-export.mjs FOLDER [--key KEY]
// It needs verify.mjs beside it, Node.js 20, and nothing of the program that made the export.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { openCheckpoint, parseVerifierKey } from './verify.mjs';

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const TAG = Buffer.from('consent-ledger/commitment/v1\n');

/** What is wrong with an export, in sentences, and what was counted. */
export async function checkExport(folder, expectedKey = '') {
  const problems = [];
  const say = (what) => void (problems.length < 1000 && problems.push(what));
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
  const key = await parseVerifierKey((await readFile(join(folder, 'log.vkey'), 'utf8')).trim());
  if (expectedKey !== '' && expectedKey.trim() !== key.text)
    say(`log.vkey does not match the key you gave: ${key.text}`);

  const listed = new Map(manifest.files.map((file) => [file.name, file]));
  for (const name of await namesIn(folder)) {
    const file = listed.get(name);
    listed.delete(name);
    if (name === 'manifest.json') continue;
    if (file === undefined) say(`${name} is not in the manifest: it was added later`);
    else if ((await hashOf(join(folder, name))) !== file.sha256)
      say(`${name} was changed: it is not the file of the manifest`);
  }
  for (const name of listed.keys()) say(`${name} is missing`);

  const roots = new Map();
  for (const note of (await readFile(join(folder, 'checkpoints.txt'), 'utf8')).split(/\n(?=consent-ledger\/)/)) {
    if (note.trim() === '') continue;
    try {
      const { size, root } = await openCheckpoint(note.replace(/\n+$/, '\n'), key);
      roots.set(size, root);
    } catch (error) {
      say(`checkpoints.txt: ${error.message}`);
    }
  }

  const named = new Map();
  const erasedFiles = new Set();
  const subtrees = [];
  const lastOf = new Map();
  const gone = new Set();
  const recorded = new Set();
  let [entries, sealed] = [0, 0];
  for (const file of manifest.files
    .map(({ name }) => name)
    .filter((name) => name.startsWith('entries/'))
    .sort()) {
    for await (const line of createInterface({ input: createReadStream(join(folder, file)), crlfDelay: Infinity })) {
      if (line === '') continue;
      const entry = JSON.parse(line);
      entries += 1;
      if (entry.seq !== entries) say(`entry ${entries} is missing`);
      const due = (lastOf.get(entry.source) ?? 0) + 1;
      if (entry.sourceSeq !== due)
        say(`entry ${entry.seq} is number ${entry.sourceSeq} of ${entry.source}, where ${due} was due`);
      lastOf.set(entry.source, entry.sourceSeq);
      const body = entry.bodyBase64 === undefined ? entry.body : Buffer.from(entry.bodyBase64, 'base64');
      if (entry.salt === null) gone.add(entry.seq);
      else {
        const commitment = sha256(TAG, Buffer.from(entry.salt, 'hex'), sha256(entry.meta), sha256(body)).toString(
          'hex',
        );
        if (commitment !== entry.commitment) say(`entry ${entry.seq}: its content is not what was recorded`);
      }
      // RFC 8785: members in alphabetical order, without spaces.
      const leaf = {
        commitment: entry.commitment,
        dedupeKey: entry.dedupeKey,
        kind: entry.kind,
        receivedAt: entry.receivedAt,
      };
      const data = JSON.stringify({ ...leaf, seq: entry.seq, source: entry.source, sourceSeq: entry.sourceSeq, v: 1 });
      const hash = sha256(Uint8Array.of(0), data);
      if (hash.toString('hex') !== entry.leafHash)
        say(`entry ${entry.seq}: its number, time, source, kind or key was changed`);
      let size = 1;
      let root = hash;
      while (subtrees.at(-1)?.size === size) {
        root = sha256(Uint8Array.of(1), subtrees.pop().root, root);
        size *= 2;
      }
      subtrees.push({ size, root });
      const wanted = roots.get(entries);
      if (wanted !== undefined) {
        if (rootOf(subtrees).equals(wanted)) sealed = entries;
        else say(`the first ${entries} entries do not give the root of the signed checkpoint over them`);
        roots.delete(entries);
      }
      noteFiles(entry.kind, body);
    }
  }
  for (const size of roots.keys()) say(`a checkpoint was signed over ${size} entries, and there are ${entries}`);
  for (const seq of gone)
    if (!recorded.has(seq)) say(`entry ${seq}: its content is gone, but no erasure of it is recorded`);
  for (const [name, expected] of named) {
    if (erasedFiles.has(name)) continue;
    const found = await hashOf(join(folder, name)).catch(() => null);
    if (found !== expected)
      say(
        found === null
          ? `${name}, to which an entry refers, is missing`
          : `${name} is not the file that its entry names`,
      );
  }
  return { ok: problems.length === 0, key: key.text, entries, sealed, erased: gone.size, files: named.size, problems };

  function noteFiles(kind, body) {
    if ((kind !== 'action' && kind !== 'erasure') || body === null) return;
    let told;
    try {
      told = JSON.parse(body.toString());
    } catch {
      return;
    }
    if (kind === 'erasure') {
      for (const seq of told.seqs ?? []) recorded.add(seq);
      for (const { documentId, format } of told.documents ?? []) erasedFiles.add(`documents/${documentId}.${format}`);
      for (const hash of told.files ?? []) erasedFiles.add(`evidence/${hash}`);
    } else if (told.action === 'document.produced' && /^[\w-]+(?:\.\w+)+$/.test(`${told.documentId}.${told.format}`))
      named.set(`documents/${told.documentId}.${told.format}`, told.sha256);
    else if (told.action === 'banner.evidence-added' && /^[0-9a-f]{64}$/.test(told.sha256))
      named.set(`evidence/${told.sha256}`, told.sha256);
  }
}

function rootOf(subtrees) {
  return subtrees.map(({ root }) => root).reduceRight((right, left) => sha256(Uint8Array.of(1), left, right));
}

async function hashOf(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

async function namesIn(folder) {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((one) => one.isFile())
    .map((one) => relative(folder, join(one.parentPath ?? one.path, one.name)).replaceAll('\\', '/'));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, flag, key = ''] = process.argv.slice(2);
  if (folder === undefined || (flag !== undefined && flag !== '--key')) {
    process.stderr.write(
      'Usage: node verify-export.mjs FOLDER [--key KEY]\nExit codes: 0 sound, 2 usage, 3 something was changed.\n',
    );
    process.exitCode = 2;
  } else {
    const found = await checkExport(folder, key).catch((error) => ({
      ok: false,
      problems: [`it cannot be read: ${error.message}`],
    }));
    process.exitCode = found.ok ? 0 : 3;
    const clean = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '?');
    for (const problem of found.problems) process.stdout.write(`✗ ${clean(problem)}\n`);
    if (found.ok)
      process.stdout.write(
        `✓ ${found.entries} entries, ${found.sealed} of them under signed checkpoints, ${found.erased} erased, and ${found.files} files are as they were recorded\nVerifier key: ${found.key}\n`,
      );
  }
}
