import { z } from 'zod';
import { moveDetails, type MoveName } from '../cases/move-details.ts';
import { momentAt } from '../core/zoned-days.ts';
import { momentText } from './format.ts';
import { kindText } from './words.ts';

/** One input of the form of a move, read out of the schema of its details. */
export interface MoveField {
  readonly name: string;
  readonly label: string;
  readonly hint: string | null;
  readonly type: 'line' | 'text' | 'moment' | 'date' | 'choice';
  readonly required: boolean;
  /** Of a choice: value and text. */
  readonly choices: readonly (readonly [value: string, text: string])[];
}

interface FieldSchema {
  readonly type?: string;
  readonly format?: string;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly anyOf?: readonly FieldSchema[];
}

/** Labels and hints, by field or by move and field; a field that is not named here is shown under its own name. */
const words: Readonly<Record<string, readonly [label: string, hint?: string]>> = {
  at: ['When', 'Empty: now.'],
  channel: ['By which channel', 'For example e-mail, letter or portal.'],
  kind: ['Kind of request'],
  jurisdiction: ['Jurisdiction', 'A code like DE, GB or US-CA.'],
  requesterName: ['Name of the requester'],
  requesterEmail: ['E-mail of the requester'],
  language: ['Language of the requester'],
  receivedAt: ['Received earlier, on', 'Only an earlier time: the period begins when the request reached any channel.'],
  reason: ['Reason'],
  doubt: ['What the doubt about the identity is'],
  asked: ['What was asked for'],
  informationAt: ['When the information arrived'],
  how: ['How'],
  'confirm-identity.how': ['How', 'Say what was checked. Never keep an identity document.'],
  requester: ['Who asks'],
  authority: ['By what authority', 'For an agent or a guardian.'],
  question: ['The question'],
  answer: ['The answer'],
  askedAt: ['Asked for on'],
  paidAt: ['Paid on'],
  amount: ['Amount', 'With its currency.'],
  reasons: ['Reasons', 'As the requester is told.'],
  until: ['Until'],
  approvedBy: ['Approved by', 'Needed where this installation works for a controller.'],
  system: ['System'],
  result: ['Result'],
  note: ['Note'],
  subject: ['Consent subject', 'The identifier or its hash, as the consent records hold it.'],
  way: ['How it was found'],
  text: ['Note'],
  disclosure: ['What the answer holds'],
  documentSha256: ['Document that was sent'],
  basis: ['Legal basis', 'The article or section that allows it.'],
  remedies: ['Remedies', 'What the requester was told about complaint, judicial remedy or appeal.'],
  duplicateOf: ['Duplicate of', 'The id of the other case.'],
};
const choiceTexts: Readonly<Record<string, string>> = {
  'nothing-found': 'Nothing found',
  attached: 'Found, attached to the answer',
  'not-applicable': 'Not applicable',
  'from-device': 'Sent from the requester’s own device',
  computed: 'Computed from the e-mail',
  shared: 'A shared address: nothing is released',
  full: 'Full: the records of the person',
  'categories-only': 'Categories only, nothing about the person',
  'no-match': 'No match: we cannot link you to records',
  person: 'The person concerned',
  agent: 'An authorised agent',
  guardian: 'A parent or guardian',
};

/** What the page knows of the case that narrows a field down to a choice. */
export type FieldChoices = Readonly<Record<string, readonly (readonly [value: string, text: string])[]>>;

/** The inputs of a move, from the schema that checks it: a new move or field has its form at once. */
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

function typeOf({ format, maxLength }: FieldSchema): MoveField['type'] {
  if (format === 'date-time') return 'moment';
  if (format === 'date') return 'date';
  return (maxLength ?? 0) > 1000 ? 'text' : 'line';
}

export type ReadDetails =
  | { readonly outcome: 'read'; readonly details: Readonly<Record<string, string>> }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** The details out of a sent form: what is empty is left out, local times become moments. */
export function readDetails(move: MoveName, form: Readonly<Record<string, string>>, timeZone: string): ReadDetails {
  const details: Record<string, string> = {};
  const problems: string[] = [];
  for (const { name, label, type, required } of fieldsOf(move)) {
    const value = form[name]?.trim() ?? '';
    if (value === '' && required && type !== 'choice') problems.push(`${label}: this is needed.`);
    if (value === '') continue;
    if (type !== 'moment') {
      details[name] = value.replaceAll('\r\n', '\n');
      continue;
    }
    try {
      details[name] = momentAt(value, timeZone);
    } catch {
      problems.push(`${label}: write a date and a time, like 2026-07-01T14:30.`);
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
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      if (momentPattern.test(text)) return [words[name]?.[0] ?? name, momentText(text, timeZone)] as const;
      return [words[name]?.[0] ?? name, choiceText(name, text)] as const;
    });
}
