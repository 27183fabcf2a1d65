import { z } from 'zod';
import { type AnswerPart, moveDetails, partOutcomes, type MoveName } from '../../cases/move-details.ts';
import { jurisdictionChoices, jurisdictionText } from '../../law/jurisdictions.ts';
import { momentAt } from '../../core/zoned-days.ts';
import { momentText, kindText } from './words.ts';

/** One input of the form of a move, read out of the schema of its details. */
export interface MoveField {
  readonly name: string;
  readonly label: string;
  readonly hint: string | null;
  /** `parts`: rows of several inputs each, see {@link partFields}. `names`: names with commas between them. */
  readonly type: 'line' | 'text' | 'moment' | 'date' | 'choice' | 'parts' | 'names';
  readonly required: boolean;
  /** Of a choice: value and text. */
  readonly choices: readonly (readonly [value: string, text: string])[];
}

interface FieldSchema {
  readonly type?: string;
  readonly format?: string;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
  readonly default?: unknown;
  readonly anyOf?: readonly FieldSchema[];
}

/** Labels and hints, by field or by move and field; a field that is not named here is shown under its own name. */
const words: Readonly<Record<string, readonly [label: string, hint?: string]>> = {
  at: ['When', 'Leave empty for now.'],
  channel: ['Channel', 'For example e-mail, letter or portal.'],
  kind: ['Kind of request'],
  jurisdiction: ['Where the requester is', 'Determines which laws apply in addition to the controller’s.'],
  requesterName: ['Name of the requester'],
  requesterEmail: ['E-mail of the requester'],
  language: ['Language of the requester'],
  receivedAt: [
    'Actually received on',
    'Must be earlier: the period starts when the request arrives through any channel.',
  ],
  reason: ['Reason'],
  doubt: ['Reason for doubting the identity'],
  asked: ['What was requested'],
  informationAt: ['When the information arrived'],
  how: ['How'],
  'confirm-identity.how': ['How', 'Say what was checked. Never keep an identity document.'],
  requester: ['Who is asking'],
  authority: ['Authority', 'For an agent or a guardian.'],
  represented: ['Acts for', 'Name of the person represented by an agent or guardian, used in letters.'],
  question: ['The question'],
  answer: ['The answer'],
  askedAt: ['Requested on'],
  paidAt: ['Paid on'],
  amount: ['Amount', 'With its currency.'],
  reasons: ['Reasons', 'As stated to the requester.'],
  until: ['Until'],
  approvedBy: ['Approved by', 'Required where this installation acts on behalf of a controller.'],
  system: ['System'],
  result: ['Result'],
  note: ['Note'],
  subject: ['Consent subject', 'The identifier or hash used in the consent records.'],
  way: ['How it was found'],
  text: ['Note'],
  disclosure: ['What the answer contains'],
  parts: ['What was done', 'One row per item requested. Rows without an outcome are ignored.'],
  what: ['What was requested'],
  outcome: ['Outcome'],
  ground: ['Ground', 'For anything refused or done in part: the article or section, and why.'],
  documentSha256: ['Document sent'],
  purposes: [
    'Consent that ends',
    'Purposes as named in the consent records, comma-separated. Leave empty for every purpose that needs consent.',
  ],
  effectiveAt: ['Effective from, if earlier', 'Leave empty for the time of the answer.'],
  basis: ['Legal basis', 'The article or section that allows it.'],
  remedies: ['Remedies', 'What you told the requester about complaints, judicial remedies or appeals.'],
  duplicateOf: ['Duplicate of', 'The id of the other case.'],
};
const choiceTexts: Readonly<Record<string, string>> = {
  'nothing-found': 'Nothing found',
  attached: 'Found, attached to the answer',
  'not-applicable': 'Not applicable',
  'from-device': 'Sent from the requester’s own device',
  computed: 'Computed from the e-mail',
  shared: 'A shared address: no data released',
  full: 'Full: the person’s records',
  'categories-only': 'Categories only, nothing about the person',
  'no-match': 'No match: we cannot link you to records',
  done: 'Done',
  partly: 'Done in part',
  refused: 'Refused',
  person: 'The person concerned',
  agent: 'An authorised agent',
  guardian: 'A parent or guardian',
};

/** What the page knows of the case that narrows a field down to a choice. */
export type FieldChoices = Readonly<Record<string, readonly (readonly [value: string, text: string])[]>>;

/** The places that a form offers, with the one that stands there now where the list leaves it out. */
export function placeChoices(current: string | null = null): readonly (readonly [value: string, text: string])[] {
  const choices = jurisdictionChoices().map(({ code, name }) => [code, `${name} (${code})`] as const);
  if (current === null || current === '' || choices.some(([code]) => code === current)) return choices;
  return [[current, jurisdictionText(current)], ...choices];
}

/** The inputs of a move, derived from the schema that checks it, so that a new move or field needs no form of its own. */
export function fieldsOf(move: MoveName, known: FieldChoices = {}): readonly MoveField[] {
  const schema = z.toJSONSchema(moveDetails[move], { io: 'input', unrepresentable: 'any' }) as {
    properties?: Readonly<Record<string, FieldSchema>>;
    required?: readonly string[];
  };
  const required = schema.required ?? [];
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const field = property.anyOf?.find(({ type }) => type !== 'null') ?? property;
    const isRequired = required.includes(name) || (property.default !== undefined && property.default !== null);
    const listed = known[name] ?? field.enum?.map((value) => [value, choiceText(name, value)] as const);
    const [label = name, hint = null] = words[`${move}.${name}`] ?? words[name] ?? [];
    return {
      name,
      label,
      hint,
      type: listed === undefined ? typeOf(field) : 'choice',
      required: isRequired,
      choices: listed === undefined ? [] : isRequired ? listed : [['', '–'] as const, ...listed],
    };
  });
}

function choiceText(field: string, value: string): string {
  return field === 'kind' ? kindText(value) : (choiceTexts[value] ?? value);
}

/** Rows of `parts` that a form offers. */
export const PART_ROWS = 4;

/** The inputs of one row of `parts`. */
export function partFields(row: number): readonly MoveField[] {
  const field = (name: keyof AnswerPart, type: MoveField['type']): MoveField => {
    const [label, hint = null] = words[name] ?? [name];
    return { name: `parts.${row}.${name}`, label, hint: row === 0 ? hint : null, type, required: false, choices: [] };
  };
  const outcomes = partOutcomes.map((value) => [value, choiceText('outcome', value)] as const);
  return [
    field('what', 'line'),
    { ...field('outcome', 'choice'), choices: [['', '–'], ...outcomes] },
    field('ground', 'line'),
    field('note', 'line'),
  ];
}

/** The rows of a sent form that have an outcome. */
function readParts(form: Readonly<Record<string, string>>): Partial<AnswerPart>[] {
  const rows = Array.from({ length: PART_ROWS }, (_, row) =>
    Object.fromEntries(
      (['what', 'outcome', 'ground', 'note'] as const)
        .map((name) => [name, form[`parts.${row}.${name}`]?.trim() ?? ''] as const)
        .filter(([, value]) => value !== ''),
    ),
  );
  return rows.filter((row) => row['outcome'] !== undefined || row['ground'] !== undefined || row['note'] !== undefined);
}

/** `Erasure of the profile: refused (Art. 17(3)(b) GDPR)`. */
function partText({ what, outcome, ground, note }: AnswerPart): string {
  const why = [ground, note].filter((part) => part !== undefined).join('; ');
  return `${what}: ${choiceText('outcome', outcome).toLowerCase()}${why === '' ? '' : ` (${why})`}`;
}

function typeOf({ type, format, maxLength, items }: FieldSchema): MoveField['type'] {
  if (type === 'array') return items?.type === 'string' ? 'names' : 'parts';
  if (format === 'date-time') return 'moment';
  if (format === 'date') return 'date';
  return (maxLength ?? 0) > 1000 ? 'text' : 'line';
}

type ReadDetails =
  | { readonly outcome: 'read'; readonly details: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** The details out of a sent form: what is empty is left out, local times become moments. */
export function readDetails(move: MoveName, form: Readonly<Record<string, string>>, timeZone: string): ReadDetails {
  const details: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const { name, label, type, required } of fieldsOf(move)) {
    if (type === 'parts') {
      const parts = readParts(form);
      if (parts.length > 0) details[name] = parts;
      continue;
    }
    const value = form[name]?.trim() ?? '';
    if (value === '' && required && type !== 'choice') problems.push(`${label}: this field is required.`);
    if (value === '') continue;
    if (type === 'names') {
      const names = value.split(',').map((one) => one.trim());
      details[name] = names.filter((one) => one !== '');
      continue;
    }
    if (type !== 'moment') {
      details[name] = value.replaceAll('\r\n', '\n');
      continue;
    }
    try {
      details[name] = momentAt(value, timeZone);
    } catch {
      problems.push(`${label}: use a date and time like 2026-07-01T14:30.`);
    }
  }
  return problems.length > 0 ? { outcome: 'refused', problems } : { outcome: 'read', details };
}

/** As every recorded move has its times. */
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Details of a recorded move in words, for the history. */
export function detailTexts(details: string, timeZone: string): readonly (readonly [label: string, text: string])[] {
  const values = JSON.parse(details) as Readonly<Record<string, unknown>>;
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => {
      if (name === 'parts' && Array.isArray(value))
        return [words[name]?.[0] ?? name, (value as AnswerPart[]).map(partText).join('. ')] as const;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      if (momentPattern.test(text)) return [words[name]?.[0] ?? name, momentText(text, timeZone)] as const;
      return [words[name]?.[0] ?? name, choiceText(name, text)] as const;
    });
}
