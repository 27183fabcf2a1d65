import { z } from 'zod';
import { letterLanguages } from '../../../../reports/letters/languages.ts';
import { type AnswerPart, choiceTexts, moves } from '../../../cases/moves.ts';
import { languageText, NOT_KNOWN } from '../../../core/language.ts';
import { dateText, momentText } from '../../../core/time-words.ts';
import { readTime } from '../../../core/zoned-days.ts';
import { jurisdictionChoices, jurisdictionText } from '../../../law/jurisdictions.ts';
import type { ControllerProfile } from '../../../law/profile.ts';
import { emailInput, Field, Select } from './parts.tsx';
import { kindText } from './words.ts';

type Choices = readonly (readonly [value: string, text: string])[];

/** One input of a form. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly hint: string | null;
  /** `rows`: rows of several inputs each, see {@link rowFields}. `names`: comma-separated names; `boxes`: the same as one box for each choice. */
  readonly type: 'line' | 'text' | 'email' | 'moment' | 'date' | 'choice' | 'rows' | 'names' | 'boxes';
  readonly required: boolean;
  /** The options of a choice. */
  readonly choices: Choices;
  /** Suggestions for completing a line. */
  readonly suggestions?: Choices;
  readonly maxLength?: number;
}

/** Options known to the page that turn a field into a choice, by field name. */
export type FieldChoices = Readonly<Record<string, Choices>>;

interface FieldSchema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
  readonly default?: unknown;
  readonly anyOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

/** The places offered by a form, and the current one if the list lacks it. */
export function placeChoices(current: string | null = null): Choices {
  const choices = jurisdictionChoices().map(({ code, name }) => [code, `${name} (${code})`] as const);
  if (current === null || current === '' || choices.some(([code]) => code === current)) return choices;
  return [[current, jurisdictionText(current)], ...choices];
}

/** The languages of letters by their own names, `not known`, and the current one if letters do not exist in it. */
export function languageChoices(current: string | null = null): Choices {
  const choices = [
    ...Object.entries(letterLanguages).map(([code, { name }]) => {
      const english = languageText(code);
      return [code, name === english ? name : `${name} – ${english}`] as const;
    }),
    [NOT_KNOWN, 'Not known'] as const,
  ];
  if (current === null || current === '' || choices.some(([code]) => code === current)) return choices;
  return [[current, languageText(current)], ...choices];
}

/** The inputs for a schema: its titles are the labels, so a new field needs no change of the form. */
export function fieldsOf(schema: z.ZodObject, known: FieldChoices = {}): readonly FormField[] {
  const { properties = {}, required = [] } = schemaOf(schema);
  return Object.entries(properties).map(([name, property]) => {
    const isRequired = required.includes(name) || (property.default !== undefined && property.default !== null);
    return fieldOf(name, property, isRequired, known[name]);
  });
}

/** Converted once: the page of a case has the forms of many moves. */
const converted = new WeakMap<z.ZodType, FieldSchema>();

function schemaOf(schema: z.ZodType): FieldSchema {
  const made =
    converted.get(schema) ?? (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as FieldSchema);
  converted.set(schema, made);
  return made;
}

function fieldOf(name: string, property: FieldSchema, required: boolean, known?: Choices): FormField {
  const inner = property.anyOf?.find(({ type }) => type !== 'null') ?? property;
  const listed = known ?? inner.enum?.map((value) => [value, choiceText(name, value)] as const);
  return {
    name,
    label: property.title ?? name,
    hint: property.description ?? null,
    type: listed === undefined ? typeOf({ ...inner, ...property }) : inner.type === 'array' ? 'boxes' : 'choice',
    required,
    choices: listed === undefined ? [] : required || inner.type === 'array' ? listed : [['', '–'] as const, ...listed],
    ...(inner.maxLength !== undefined && { maxLength: inner.maxLength }),
  };
}

function typeOf({ type, format, maxLength, items }: FieldSchema): FormField['type'] {
  if (type === 'array') return items?.type === 'string' ? 'names' : 'rows';
  if (format === 'date-time') return 'moment';
  if (format === 'idn-email') return 'email';
  if (format === 'date') return format;
  if (format === 'address') return 'text';
  return (maxLength ?? 0) > 1000 ? 'text' : 'line';
}

function choiceText(field: string, value: string): string {
  return field === 'kind' ? kindText(value) : ((choiceTexts as Readonly<Record<string, string>>)[value] ?? value);
}

/** Rows offered for a list, such as the parts of an answer. */
const ROWS = 4;

/** The inputs of each row of a list. None is required: a row may stay empty. */
export function rowFields(schema: z.ZodObject, list: string): readonly (readonly FormField[])[] {
  const items = schemaOf(schema).properties?.[list]?.items?.properties ?? {};
  return Array.from({ length: ROWS }, (_, row) =>
    Object.entries(items).map(([name, property]) => {
      const field = fieldOf(name, property, false);
      const type = field.type === 'text' ? 'line' : field.type;
      return { ...field, type, name: `${list}.${row}.${name}`, hint: row === 0 ? field.hint : null };
    }),
  );
}

/** The submitted rows with more than the pre-filled first field. */
function readRows(schema: z.ZodObject, list: string, form: Readonly<Record<string, string>>) {
  return rowFields(schema, list).flatMap((fields) => {
    const filled = fields
      .map(({ name }) => [name.slice(name.lastIndexOf('.') + 1), form[name]?.trim() ?? ''] as const)
      .filter(([, value]) => value !== '');
    const isMeant = fields.slice(1).some(({ name }) => (form[name]?.trim() ?? '') !== '');
    return isMeant ? [Object.fromEntries(filled)] : [];
  });
}

type ReadFields =
  | { readonly outcome: 'read'; readonly values: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** The submitted values for a schema: empty ones are left out, local times are converted. The schema validates the rest. */
export function readFields(schema: z.ZodObject, form: Readonly<Record<string, string>>, timeZone: string): ReadFields {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const { name, label, type, required } of fieldsOf(schema)) {
    if (type === 'rows') {
      const rows = readRows(schema, name, form);
      if (rows.length > 0) values[name] = rows;
      continue;
    }
    const value = type === 'names' ? namesIn(form, name) : typedIn(form, { name, type });
    if (value === '' && required && type !== 'choice') problems.push(`${label}: this field is required.`);
    if (value === '') continue;
    if (type === 'names') {
      const names = value.split(',').map((one) => one.trim());
      values[name] = names.filter((one) => one !== '');
      continue;
    }
    if (type !== 'moment') {
      values[name] = value.replaceAll('\r\n', '\n');
      continue;
    }
    const read = readTime(value, timeZone);
    if (read.problem === undefined) values[name] = read.at;
    else problems.push(`${label}: Invalid time "${value.slice(0, 60)}": ${read.problem}`);
  }
  return problems.length > 0 ? { outcome: 'refused', problems } : { outcome: 'read', values };
}

/** What was typed into a field. A moment is a day, with or without its time. */
export function typedIn(
  form: Readonly<Record<string, string>>,
  { name, type }: Pick<FormField, 'name' | 'type'>,
): string {
  const typed = form[name]?.trim() ?? '';
  const time = type === 'moment' ? (form[`${name}-time`]?.trim() ?? '') : '';
  if (time === '') return typed;
  return typed === '' ? time : `${typed}T${time}`;
}

/** Names of a list, comma-separated: typed, or ticked as boxes. */
export function namesIn(form: Readonly<Record<string, string>>, list: string): string {
  const ticked = Object.keys(form).flatMap((name) =>
    name.startsWith(`${list}.`) ? [name.slice(list.length + 1)] : [],
  );
  return ticked.length > 0 ? ticked.join(',') : (form[list]?.trim() ?? '');
}

/** One box for each choice; nothing if there is none. `value`: those ticked, comma-separated. */
export function BoxesInput({ field: { name, label, hint, choices }, value }: { field: FormField; value: string }) {
  const ticked = value.split(',');
  return choices.length === 0 ? null : (
    <fieldset>
      <legend>{label}</legend>
      {hint === null ? null : <p class="small soft">{hint}</p>}
      {choices.map(([one, text]) => (
        <label class="box" key={one}>
          <input type="checkbox" name={`${name}.${one}`} value="yes" checked={ticked.includes(one)} />{' '}
          <bdi class="outside">{text}</bdi>
        </label>
      ))}
    </fieldset>
  );
}

/** An input with its label and hint. */
export function FieldInput(props: { id?: string; field: FormField; value: string; timeZone: string }) {
  const { field, value, timeZone } = props;
  const { name, type, required, choices, suggestions, maxLength } = field;
  const id = props.id ?? name;
  const hints = [field.hint, type === 'moment' ? `The day is enough. Times are in ${timeZone}.` : null].filter(
    (hint) => hint !== null,
  );
  const described = hints.length > 0 ? { 'aria-describedby': `${id}-hint` } : {};
  const common = { id, name, required, ...described };
  const line = { ...common, value, maxLength: maxLength ?? 300, autocomplete: 'off' as const };
  return (
    <Field id={id} label={field.label} optional={!required} hint={hints.length > 0 ? hints.join(' ') : undefined}>
      {type === 'choice' ? <Select id={id} name={name} value={value} options={choices} required={required} /> : null}
      {type === 'text' ? (
        <textarea {...common} maxLength={Math.min(maxLength ?? 4000, 4000)} rows={3}>
          {value}
        </textarea>
      ) : null}
      {type === 'line' || type === 'names' ? (
        <input {...line} type="text" {...(suggestions === undefined ? {} : { list: `${id}-list` })} />
      ) : null}
      {type === 'email' ? <input {...line} {...emailInput} /> : null}
      {type === 'moment' ? (
        <div class="moment">
          <input {...common} type="date" value={value.slice(0, 10)} />
          <input
            id={`${id}-time`}
            name={`${name}-time`}
            type="time"
            value={value.slice(11, 16)}
            aria-label={`${field.label}: time (optional)`}
          />
        </div>
      ) : null}
      {type === 'date' ? <input {...common} type="date" value={value} /> : null}
      {suggestions === undefined ? null : (
        <datalist id={`${id}-list`}>
          {suggestions.map(([code, text]) => (
            <option key={code} value={code}>
              {text}
            </option>
          ))}
        </datalist>
      )}
    </Field>
  );
}

/** The form of times in recorded moves. */
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const datePattern = /^\d{4}-\d\d-\d\d$/;

/** A field has the same label in every move. */
const labels: ReadonlyMap<string, string> = new Map(
  Object.values(moves).flatMap(({ details }) => fieldsOf(details).map(({ name, label }) => [name, label] as const)),
);

/** Details of a recorded move in words, for the history. `files`: names of files by their SHA-256. */
export function detailTexts(
  details: string,
  timeZone: string,
  systems: ControllerProfile['otherSystems'] = [],
  files: ReadonlyMap<string, string> = new Map(),
): readonly (readonly [label: string, text: string])[] {
  const values = JSON.parse(details) as Readonly<Record<string, unknown>>;
  return Object.entries(values)
    .filter(([name, value]) => (value !== null && value !== '') || name === 'language')
    .map(([name, value]) => {
      const label = labels.get(name) ?? name;
      if (name === 'parts' && Array.isArray(value))
        return [label, (value as AnswerPart[]).map(partText).join('. ')] as const;
      if (name === 'attachments' && Array.isArray(value))
        return [label, value.map((sha256: string) => `${files.get(sha256) ?? 'File'} (${sha256})`).join(', ')] as const;
      if (name === 'documentSha256' && typeof value === 'string')
        return [label, files.has(value) ? `${files.get(value)} (${value})` : value] as const;
      if (name === 'furtherKinds' && Array.isArray(value))
        return [label, value.map((kind: string) => kindText(kind)).join(', ')] as const;
      if (name === 'language') return [label, languageText(value as string | null)] as const;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      if (momentPattern.test(text)) return [label, momentText(text, timeZone)] as const;
      if (datePattern.test(text)) return [label, dateText(text)] as const;
      if (name === 'system') return [label, systems.find(({ id }) => id === text)?.name ?? text] as const;
      return [label, choiceText(name, text)] as const;
    });
}

/** `Erasure of the profile: refused (Art. 17(3)(b) GDPR)`. */
function partText({ what, outcome, ground, note }: AnswerPart): string {
  const why = [ground, note].filter((part) => part !== undefined).join('; ');
  return `${what}: ${choiceText('outcome', outcome).toLowerCase()}${why === '' ? '' : ` (${why})`}`;
}
