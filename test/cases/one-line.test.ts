import { expect, it } from 'vitest';
import { z } from 'zod';
import { retractionReason, shownName } from '../../src/banners/evidence.ts';
import { openCaseSchema } from '../../src/cases/move-case.ts';
import { answerPartSchema, moves } from '../../src/cases/moves.ts';
import { policyIdSchema } from '../../src/core/call.ts';
import { isOneLine } from '../../src/core/validation.ts';
import { INSTALLATION } from '../../src/core/vocabulary.ts';
import { holdReason } from '../../src/erasure/holds.ts';
import { appendAction } from '../../src/ledger/append-action.ts';
import { newTokenSchema } from '../../src/people/api-tokens.ts';
import { viewNameSchema } from '../../src/people/saved-views.ts';
import { formASchema, formBSchema } from '../../src/policies/generate.ts';
import { requestSchema } from '../../src/request-form/request-form.ts';
import { temporaryLedger } from '../temporary.ts';

/** A text longer than this is written in a field of several lines. */
const LONGEST_LINE = 500;
const SEVERAL_LINES = 'a\r\nb\u001b[2Jc\u202ed\u2028e\u2066f\u0085g';

interface Field {
  readonly name: string;
  readonly read: (text: string) => z.ZodSafeParseResult<unknown>;
}

/** What a field takes, without what may be left out around it. */
function inner(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return inner(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodExactOptional) return inner(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return inner(schema.out as z.ZodType);
  if (schema instanceof z.ZodArray) return inner(schema.element as z.ZodType);
  return schema;
}

/** Compared with what is recorded, as it was written; hashed, and not recorded. */
const notOfOneLine = ['answer.purposes', 'new request.reference'];

/** Every field of these that a person fills in with a line of text of their own. */
function lineFields(named: Readonly<Record<string, z.ZodObject>>): readonly Field[] {
  return Object.entries(named)
    .flatMap(([object, schema]) =>
      Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([name, field]) => {
        const plain = inner(field);
        if (!(plain instanceof z.ZodString) || (plain.maxLength ?? Infinity) > LONGEST_LINE) return [];
        return [{ name: `${object}.${name}`, read: (text: string) => plain.safeParse(text) }];
      }),
    )
    .filter(({ name }) => !notOfOneLine.includes(name));
}

const single = Object.entries({
  'hold.reason': holdReason,
  'retraction.reason': retractionReason,
  'policy.id': policyIdSchema,
}).map(([name, schema]): Field => ({ name, read: (text) => schema.safeParse(text) }));

const fields = lineFields({
  ...Object.fromEntries(Object.entries(moves).map(([name, { details }]) => [name, details as z.ZodObject])),
  part: answerPartSchema,
  'new request': openCaseSchema,
  'request form': requestSchema,
  token: newTokenSchema,
  'policy form A': formASchema,
  'policy form B': formBSchema,
}).concat(single);

it('finds the fields of one line in the schemas of moves and requests', () => {
  const names = fields.map(({ name }) => name);
  for (const name of [
    'answer.channel',
    'amend.requesterName',
    'part.what',
    'new request.channel',
    'request form.name',
    'token.label',
    'policy form A.domain',
  ])
    expect(names).toContain(name);
  expect(names.length).toBeGreaterThan(25);
});

it.each(fields)('$name stays on one line, and shows the characters that were not part of one', ({ read }) => {
  const { success, data } = read(SEVERAL_LINES);
  // Refused, or kept as a line that says what it was.
  if (!success) return;
  expect([data, isOneLine(String(data))]).toEqual([
    'a[U+000D][U+000A]b[U+001B][2Jc[U+202E]d[U+2028]e[U+2066]f[U+0085]g',
    true,
  ]);
});

it('a line that was accepted by an earlier version is still read, however many such characters it has', () => {
  const details = { what: `${'\u0007'.repeat(298)}ab`, due: '2026-05-01' };
  const read = moves['add-task'].details.safeParse(details);
  expect(read.data?.what).toBe(`${'\ufffd'.repeat(298)}ab`);
});

it('the name of a saved view is one line, in which white space is a space', () => {
  expect(viewNameSchema.parse(SEVERAL_LINES)).toBe('a b[U+001B][2Jc[U+202E]d e[U+2066]f[U+0085]g');
});

it('the name of a file added as evidence is one line', () => {
  expect(shownName('/tmp/a\r\nb\u202egnp.exe')).toBe('a[U+000D][U+000A]b[U+202E]gnp.exe');
  const long = shownName(`${'\u202e'.repeat(500)}.png`);
  expect([long.length <= 200, isOneLine(long)]).toEqual([true, true]);
});

it('whoever is named as the actor of an entry is named in one line', async () => {
  const { ledger, store } = await temporaryLedger();
  const action = { action: 'token.created', actor: 'Olga\r\n\u001b[2JOfficer', detail: null } as const;
  await appendAction(ledger, INSTALLATION, action, ['a'], '2026-01-01T00:00:00.000Z');
  const entry = await store.read.selectFrom('entries').select(['meta', 'body']).executeTakeFirstOrThrow();
  const actor = 'Olga[U+000D][U+000A][U+001B][2JOfficer';
  expect([JSON.parse(String(entry.meta)), JSON.parse(String(entry.body))]).toMatchObject([{ actor }, { actor }]);
});
