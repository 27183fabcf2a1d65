import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { envelopes, eventNames, fieldNames, purposeFlags, unknownFieldNames } from '../../receivers/field-names.ts';
import { families } from '../../receivers/index.ts';

const document = readFileSync(new URL('../../docs/assumptions.md', import.meta.url), 'utf8');
const section = document.split(/^## /m).find((part) => part.startsWith('Webhook payload fields')) ?? '';
/** The section without its line breaks, which may be anywhere in a list of names. */
const prose = section.replaceAll(/\s+/g, ' ');
const inCode = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

describe('docs/assumptions.md, Webhook payload fields', () => {
  it('lists every field with the names in the code, in the same order', () => {
    const rows = section.split('\n').filter((line) => /^\| `[a-zA-Z]+` \|/.test(line));
    expect(rows).toEqual(Object.entries(fieldNames).map(([field, names]) => `| \`${field}\` | ${inCode(names)} |`));
  });
  it('lists the names of the event, the envelopes and the purposes', () => {
    for (const names of [eventNames, envelopes, purposeFlags]) expect(prose).toContain(inCode(names));
  });
  it('lists the events that are read', () => {
    for (const family of families) expect(prose).toContain(inCode(family.events));
  });
});

describe('the table of field names', () => {
  it('has no field that no event family uses', () => {
    const asked = new Set(families.flatMap(({ fields, fieldsWithin = [] }) => [...fields, ...fieldsWithin]));
    expect(Object.keys(fieldNames).filter((field) => !asked.has(field as keyof typeof fieldNames))).toEqual([]);
  });
  it('recognises a misspelt override', () => {
    expect(unknownFieldNames({ subject: ['who'], subjekt: ['wer'], constructor: ['x'] })).toEqual([
      'subjekt',
      'constructor',
    ]);
  });
});
