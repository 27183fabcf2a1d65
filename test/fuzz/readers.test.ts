import fc from 'fast-check';
import { test } from 'vitest';
import { check } from './check.ts';
import { inputsOf, pump } from './inputs.ts';
import { readers } from './readers.ts';

test.each(readers)('$name: reads its corpus and refuses hostile input, without any other error', async (reader) => {
  for (const text of reader.corpus) await check(reader, Buffer.from(text, 'utf8'));
  await fc.assert(
    fc.asyncProperty(inputsOf(reader), (bytes) => check(reader, bytes)),
    { numRuns: 30, seed: 1 },
  );
});

const page = '<!doctype html><p>';
/** Texts that once took quadratic time or more, or ended the process. At these sizes they took minutes. */
const pumped: readonly (readonly [name: string, before: string, piece: string, after: string, size?: number])[] = [
  ['files of evidence', '', '<!---->', '<link>', 4000],
  ['files of evidence', '<?xml?>', '<!-- x --> ', 'x', 4000],
  ['diagnosis of a signature', '{}', '\r\n', 'x', 1 << 20],
  ['diagnosis of a signature', 'a', ' ', 'b', 1 << 20],
  ['diagnosis of a signature', '{}\n', 'a,', '', 4 << 20],
  ['OpenAPI descriptions', '{"paths":{"', '/', 'x":{}}}', 2 << 20],
  ['OpenAPI descriptions', '{"paths":{"', '{', '":{}}}', 2 << 20],
  ['deliveries', '{"event":"scan.completed","domain":"a.example","score":"9', ' ', '!"}'],
  ['discovery of names', '{"event":"dsar.submitted","mail":"a@', '.', '<"}'],
  ['discovery of names', '{"event":"dsar.submitted","a":', '[', `${']'.repeat(500_000)}}`],
  ['addresses', '', 'x', ' '],
  ['addresses', '', 'x://', ' '],
  ['addresses', 'https://s.example/', '/', 'x/api/v1'],
  ['addresses', '::', 'ffff', '', 1 << 18],
  ['journals', 'x', '\n', 'x'],
  ['files of sources', 'slug,', 'x,', 'slug,'.repeat(100_000), 1 << 20],
  ['files of sources', 'slug,field_names\nx,', '= ', '', 2 << 20],
  ['files of sources', 'slug,field_names\n', 'x,= = = =\n', '', 2 << 20],
  ['bulk files', 'policy_type\n', 'x\n', '', 5 << 20],
  ['bulk files', '', 'a,', '', 5 << 20],
  ['bulk files', '[', '{},', '{}]', 5 << 20],
  ['texts of policies', `${page}<table>`, '<td>x', ''],
  ['texts of policies', page, 'https://a', '', 2 << 20],
  ['texts of policies', '', '[', ']'.repeat(500_000)],
  ['files with checkpoints', '%PDF-1.7\nstream\n', 'endstream', '', 4 << 20],
  ['error envelopes', '', '"a":{},# a\n', '', 4 << 20],
  ['controller files', '', '{', '', 4000],
  ['controller files', '', '- ', '', 100_000],
  ['controller files', 'a: ', '{a: ', '}'.repeat(1000), 5000],
];

test.each(pumped.map(([name, before, piece, after, size = 1 << 20]) => ({ name, before, piece, after, size })))(
  '$name: reads $piece over and over to its end',
  async ({ name, size, ...text }) => {
    const reader = readers.find((one) => one.name === name);
    if (reader === undefined) throw new Error(`there is no reader ${name}`);
    await check(reader, pump(text, size));
  },
);
