import type { Document } from 'yaml';
import { canonicalJson } from '../crypto/canonical.ts';
import { jurisdictionChoices } from '../law/jurisdictions.ts';
import { parseControllerProfile } from './settings-files.ts';

/**
 * A part of the controller profile that a form shows. `lines`: one item per line; `rows`: columns separated by `|`;
 * `item`: whether a list contains it; `section`: whether the section exists; `period`: a retention period in words; `number`: a whole
 * number.
 */
export interface ProfileField {
  /** Its path in the profile: `supervisoryAuthority.name` is inside another part, as is an item in its list. */
  readonly name: string;
  readonly kind: 'text' | 'long' | 'lines' | 'rows' | 'yes' | 'item' | 'section' | 'period' | 'number' | 'choice';
  readonly label: string;
  readonly hint?: string;
  readonly columns?: readonly string[];
  /** The last columns, if they may be left out: empty ones are not written. */
  readonly optional?: readonly string[];
  /** For a choice: its values with their texts. */
  readonly choices?: () => readonly (readonly [value: string, text: string])[];
  /** For a choice: the default value of a profile, with its text. */
  readonly usual?: readonly [value: string, text: string];
}

/** Related fields under one heading. */
interface ProfileSection {
  readonly title: string;
  readonly fields: readonly ProfileField[];
}

/** The content of the form. Parts that are not here (translations, a second law) are kept unchanged. */
export const profileSections: readonly ProfileSection[] = [
  {
    title: 'Your organisation',
    fields: [
      { name: 'name', kind: 'text', label: 'Name of the organisation' },
      {
        name: 'role',
        kind: 'choice',
        label: 'Role',
        usual: ['controller', 'Controller'],
        choices: () => [
          ['processor', 'Processor'],
          ['joint', 'Joint controller'],
        ],
      },
      { name: 'address', kind: 'lines', label: 'Postal address' },
      { name: 'country', kind: 'choice', label: 'Country', choices: countryChoices },
      {
        name: 'region',
        kind: 'text',
        label: 'Region',
        hint: 'If holidays differ by region: its code without the country, such as BE for Berlin.',
      },
      { name: 'email', kind: 'text', label: 'E-mail for requests' },
      { name: 'phone', kind: 'text', label: 'Telephone' },
      { name: 'website', kind: 'text', label: 'Website' },
      { name: 'dataProtectionOfficer', kind: 'text', label: 'Data protection officer' },
      {
        name: 'controllerOrJointContact',
        kind: 'text',
        label: 'Controller, or contact of the joint controllers',
        hint: 'Only with the roles processor and joint.',
      },
      { name: 'signatory', kind: 'text', label: 'Who signs letters' },
      {
        name: 'language',
        kind: 'text',
        label: 'Language',
        hint: 'Of this profile, such as de. It is proposed for requesters whose language is not known. Blank: English.',
      },
    ],
  },
  {
    title: 'What answers and reports state',
    fields: [
      {
        name: 'purposes',
        kind: 'rows',
        label: 'Purposes',
        columns: ['purpose', 'lawfulBasis', 'retention', 'names'],
        optional: ['names'],
        hint: 'One per line: purpose | lawful basis | how long | its names on consent banners, separated by commas. Consent records find it by these.',
      },
      { name: 'dataCategories', kind: 'lines', label: 'Categories of data', hint: 'One on each line.' },
      { name: 'dataSources', kind: 'lines', label: 'Where the data comes from', hint: 'One on each line.' },
      {
        name: 'recipients',
        kind: 'rows',
        label: 'Recipients',
        columns: ['name', 'purpose', 'country', 'address', 'contact'],
        optional: ['address', 'contact'],
        hint: 'One per line: name | purpose | country | address | e-mail, telephone or website. Consent records state the last two.',
      },
      {
        name: 'storedIn',
        kind: 'lines',
        label: 'Where the data is stored',
        hint: 'Codes of countries, such as DE, one on each line; EU for the European Union. Consent records state it.',
      },
      {
        name: 'transfers',
        kind: 'rows',
        label: 'Transfers to third countries',
        columns: ['recipient', 'country', 'safeguard'],
        hint: 'One per line: recipient | country | safeguard.',
      },
      { name: 'noTransfers', kind: 'yes', label: 'There are no transfers to third countries' },
      {
        name: 'automatedDecisions',
        kind: 'long',
        label: 'Automated decisions',
        hint: 'Or a statement that there are none.',
      },
      { name: 'supervisoryAuthority.name', kind: 'text', label: 'Supervisory authority' },
      { name: 'supervisoryAuthority.address', kind: 'text', label: 'Address of the authority' },
      { name: 'supervisoryAuthority.website', kind: 'text', label: 'Website of the authority' },
      { name: 'withdrawalMethod', kind: 'long', label: 'How consent is withdrawn' },
    ],
  },
  {
    title: 'Requests',
    fields: [
      {
        name: 'otherSystems',
        kind: 'rows',
        label: 'Other systems to search',
        columns: ['id', 'name'],
        hint: 'One per line: short name | name. A request is ready once each has been searched.',
      },
      {
        name: 'homeRegime',
        kind: 'text',
        label: 'A second law under which you answer everyone',
        hint: 'For a branch elsewhere: the id of its rules, such as uk-gdpr. The deadline calculator lists them.',
      },
      {
        name: 'ownTargetDays',
        kind: 'number',
        label: 'Your own target, in days, where a law is not recorded here',
        hint: 'Shown as your own target, never as a legal limit.',
      },
      { name: 'requestForm', kind: 'yes', label: 'Anyone can send a request through a web form' },
      {
        name: 'requestFormFor',
        kind: 'lines',
        label: 'Further sources of this organisation',
        hint: 'Short names, one per line. If several sources share this profile, letters of each but the first warn, and its web form stays off, until it is named here: it might be another client’s.',
      },
      {
        name: 'requestFormOn',
        kind: 'lines',
        label: 'Websites that may show the form in a frame',
        hint: 'One per line, such as https://www.example.com.',
      },
    ],
  },
  {
    title: 'Approval by a second person',
    fields: [
      { name: 'secondPersonFor.answer', kind: 'item', label: 'Sending an answer' },
      { name: 'secondPersonFor.refuse', kind: 'item', label: 'Refusing a request' },
      { name: 'erasureNeedsSecondOfficer', kind: 'yes', label: 'Erasing by hand' },
    ],
  },
  {
    title: 'Retention',
    fields: [
      { name: 'retention', kind: 'section', label: 'Each night, erase what has been kept this long' },
      { name: 'retention.cases', kind: 'period', label: 'Closed requests' },
      { name: 'retention.decisions', kind: 'period', label: 'Consent decisions' },
      { name: 'retention.deliveries', kind: 'period', label: 'Consent deliveries' },
      { name: 'retention.packs', kind: 'period', label: 'Packs' },
      { name: 'retention.accessLog', kind: 'period', label: 'Access log' },
    ],
  },
];
const profileFields = profileSections.flatMap(({ fields }) => fields);

/** The input by field name. */
export type ProfileForm = Readonly<Record<string, string>>;

/** The text of a profile in its form, or why it cannot be read. */
export async function readProfileForm(
  text: string,
  path: string,
): Promise<ProfileForm | { readonly problems: readonly string[] }> {
  const { parseDocument } = await import('yaml');
  const parsed = await parseControllerProfile(text, path);
  // If it is not YAML, there is nothing to show; if only one part is invalid, the others are shown.
  if (
    parsed.outcome === 'invalid' &&
    parsed.problems.some(
      (problem) => !problem.startsWith(`Controller profile ${path}: `) || / at line \d+/.test(problem),
    )
  )
    return { problems: parsed.problems };
  const value = parseDocument(text, { prettyErrors: false, logLevel: 'error' }).toJS({ maxAliasCount: 50 }) as unknown;
  return Object.fromEntries(profileFields.map((field) => [field.name, textIn(field, value)]));
}

/**
 * A copy of a shared profile for one source. It does not offer a web form, which would name the organisation of the
 * shared profile until someone changes the copy.
 */
export async function copyForSource(text: string): Promise<string> {
  const { parseDocument } = await import('yaml');
  const document: Document = parseDocument(text, { prettyErrors: false, logLevel: 'error' });
  for (const part of ['requestForm', 'requestFormFor']) document.delete(part);
  return document.toString({ lineWidth: 0 });
}

/**
 * Applies a form to a profile ('' becomes a new one): returns the new text, keeping existing comments, and the names of
 * what changed; or all problems.
 */
export async function applyProfileForm(
  text: string,
  path: string,
  form: ProfileForm,
): Promise<
  | { readonly outcome: 'changed'; readonly text: string; readonly fields: readonly string[] }
  | { readonly outcome: 'unchanged' }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] }
> {
  const before = await readProfileForm(text, path);
  if (Array.isArray(before['problems'])) return { outcome: 'invalid', problems: before['problems'] as string[] };
  const { parseDocument } = await import('yaml');
  const document: Document = parseDocument(text, { prettyErrors: false, logLevel: 'error' });
  document.contents ??= document.createNode({});
  const present = document.toJS({ maxAliasCount: 50 }) as unknown;
  if (
    form['retention'] !== 'yes' &&
    profileFields.some(({ name, kind }) => kind === 'period' && (form[name] ?? '').trim() !== '')
  )
    return { outcome: 'invalid', problems: ['retention: tick it, or clear the periods: they apply only with it.'] };
  const fields: string[] = [];
  for (const field of profileFields) {
    const next = valueOf(field, form[field.name] ?? '');
    const old = valueOf(field, textIn(field, present));
    if (canonicalJson(next).equals(canonicalJson(old))) continue;
    fields.push(field.name);
    const place = field.name.split('.');
    if (field.kind === 'item') document.set(place[0], withItem(document.toJS(), place, next === true));
    else if (next !== null) document.setIn(place, document.createNode(next));
    else if (document.hasIn(place)) document.deleteIn(place);
  }
  if (fields.length === 0 && text !== '') return { outcome: 'unchanged' };
  // An authority without a name counts as missing.
  if (
    document.has('supervisoryAuthority') &&
    at(document.toJS({ maxAliasCount: 50 }), 'supervisoryAuthority.name') === null
  )
    document.set('supervisoryAuthority', null);
  const changed = document.toString({ lineWidth: 0 });
  const parsed = await parseControllerProfile(changed, path);
  return parsed.outcome === 'invalid'
    ? { outcome: 'invalid', problems: parsed.problems }
    : { outcome: 'changed', text: changed, fields };
}

/** As {@link applyProfileForm}, for a whole new text: what changed is named by the parts of the profile. */
export async function replaceProfile(before: string, path: string, text: string): ReturnType<typeof applyProfileForm> {
  const [old, next] = [await parseControllerProfile(before, path), await parseControllerProfile(text, path)];
  if (next.outcome === 'invalid') return { outcome: 'invalid', problems: next.problems };
  if (text === before) return { outcome: 'unchanged' };
  const [was, is] = [old, next].map((one) => new Map(Object.entries(one.outcome === 'loaded' ? one.value : {}))) as [
    Map<string, unknown>,
    Map<string, unknown>,
  ];
  const said = (value: unknown) => canonicalJson(value ?? null);
  const parts = [...new Set([...was.keys(), ...is.keys()])];
  return { outcome: 'changed', text, fields: parts.filter((part) => !said(was.get(part)).equals(said(is.get(part)))) };
}

function at(value: unknown, name: string): unknown {
  let found = value;
  for (const part of name.split('.'))
    found =
      typeof found === 'object' && found !== null ? (found as Readonly<Record<string, unknown>>)[part] : undefined;
  return found ?? null;
}

/** A list of the profile with or without an item. */
function withItem(profile: unknown, [list = '', item = '']: readonly string[], isIn: boolean): readonly unknown[] {
  const others = listAt(profile, list).filter((one) => one !== item);
  return isIn ? [...others, item] : others;
}

function listAt(profile: unknown, name: string): readonly unknown[] {
  const value = at(profile, name);
  return Array.isArray(value) ? value : [];
}

function textIn(field: ProfileField, profile: unknown): string {
  if (field.kind !== 'item') return textOf(field, at(profile, field.name));
  const [list = '', item] = field.name.split('.');
  return listAt(profile, list).includes(item) ? 'yes' : '';
}

/** The countries that a controller can be in. */
function countryChoices(): readonly (readonly [value: string, text: string])[] {
  return jurisdictionChoices().flatMap(({ code, name }) =>
    code.length === 2 && code !== 'EU' ? [[code, `${name} (${code})`] as const] : [],
  );
}

function textOf({ kind, columns = [], optional = [], usual }: ProfileField, value: unknown): string {
  if (value === null) return '';
  switch (kind) {
    case 'section':
      return 'yes';
    case 'period': {
      const { days, months, forEver } = value as Readonly<Record<string, unknown>>;
      if (typeof days === 'number') return `${days} ${days === 1 ? 'day' : 'days'}`;
      if (typeof months === 'number') return `${months} ${months === 1 ? 'month' : 'months'}`;
      return typeof forEver === 'string' ? `for ever: ${forEver}` : '';
    }
    case 'item':
    case 'yes':
      return value === true ? 'yes' : '';
    case 'lines':
      return Array.isArray(value) ? value.map(String).join('\n') : '';
    case 'rows':
      return Array.isArray(value)
        ? value.map((row) => withoutEmpty(columns, optional, (column) => plain(at(row, column))).join(' | ')).join('\n')
        : '';
    case 'choice':
      return value === usual?.[0] ? '' : plain(value);
    case 'number':
    case 'text':
    case 'long':
      return plain(value);
  }
}

function plain(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The cells of a row, without empty optional ones at its end. */
function withoutEmpty(columns: readonly string[], optional: readonly string[], cell: (column: string) => string) {
  const cells = columns.map((column) => ({ column, text: cell(column) }));
  const last = cells.findLastIndex(({ column, text }) => text !== '' || !optional.includes(column));
  return cells.slice(0, last + 1).map(({ text }) => text);
}

function valueOf({ kind, columns = [], optional = [] }: ProfileField, text: string) {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  switch (kind) {
    case 'item':
    case 'yes':
      return text === 'yes';
    case 'section':
      return text === 'yes' ? {} : null;
    case 'period':
      return periodOf(text.trim());
    case 'lines':
      return lines;
    case 'rows':
      return lines.map((line) => {
        const cells = line.split('|').map((cell) => cell.trim());
        // Anything after the last column belongs to it.
        const last = cells.slice(columns.length - 1).join(' | ');
        return Object.fromEntries(
          columns
            .map((column, place) => [column, (place === columns.length - 1 ? last : cells[place]) || null] as const)
            .filter(([column, cell]) => cell !== null || !optional.includes(column)),
        );
      });
    case 'number':
      // Anything else unchanged, for the schema to refuse.
      return text.trim() === '' ? null : /^\d{1,6}$/.test(text.trim()) ? Number(text.trim()) : text.trim();
    case 'choice':
    case 'text':
    case 'long':
      return text.trim() === '' ? null : text.trim();
  }
}

/** `36 months`, `90 days`, `3 years`, `for ever: <reason>`; anything else unchanged, for the schema to refuse. */
function periodOf(text: string) {
  if (text === '') return null;
  const [, number, unit = ''] = /^(\d{1,6}) ?(day|month|year)s?$/i.exec(text) ?? [];
  if (number !== undefined)
    return unit.toLowerCase() === 'day'
      ? { days: Number(number) }
      : { months: Number(number) * (unit.toLowerCase() === 'year' ? 12 : 1) };
  const [, reason] = /^for ?ever\b[:,\s]*([^:,\s].*)$/is.exec(text) ?? [];
  return reason === undefined ? text : { forEver: reason.trim() };
}
