import { expect, it } from 'vitest';
import { z } from 'zod';
import { openCaseSchema } from '../../src/cases/move-case.ts';
import { answerPartSchema, moves } from '../../src/cases/moves.ts';
import { isOneLine } from '../../src/core/validation.ts';
import { requestSchema } from '../../src/request-form/request-form.ts';

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

const fields = lineFields({
  ...Object.fromEntries(Object.entries(moves).map(([name, { details }]) => [name, details as z.ZodObject])),
  part: answerPartSchema,
  'new request': openCaseSchema,
  'request form': requestSchema,
});

it('finds the fields of one line in the schemas of moves and requests', () => {
  const names = fields.map(({ name }) => name);
  for (const name of ['answer.channel', 'amend.requesterName', 'part.what', 'new request.channel', 'request form.name'])
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
