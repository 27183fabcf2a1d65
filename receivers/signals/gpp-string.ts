import { type Bits, createBits, type Damaged, isDamaged } from './bits.ts';
import { SENSITIVE_KINDS, usLayouts } from './gpp-sections.ts';
import { decodeTcString, LONGEST_STRING, type TcString, takeHead } from './tc-string.ts';
import { decodeUsPrivacy, type UsPrivacy } from './us-privacy.ts';

export type OptOut = 'opted-out' | 'not-opted-out' | 'not-applicable';

/** Numbers of kinds of data, as each section's specification lists them. */
interface Kinds {
  /** No consent, or opted out. */
  readonly refused: readonly number[];
  /** Consent, or not opted out. */
  readonly permitted: readonly number[];
}

/** What a section for the United States says. */
export interface UsSection {
  readonly version: number;
  /** By the specification's name without the word Notice: `SaleOptOut`. */
  readonly notices: Readonly<Record<string, 'given' | 'not-given' | 'not-applicable'>>;
  /** Null: the section has no such field. */
  readonly sale: OptOut | null;
  readonly sharing: OptOut | null;
  readonly targetedAdvertising: OptOut | null;
  readonly sensitiveData: Kinds | null;
  readonly knownChild: Kinds | null;
  /** Consent to uses that are not compatible with what was disclosed; null: the section has no such field. */
  readonly otherUses: 'consent' | 'no-consent' | 'not-applicable' | null;
  /** Whether it is a transaction under the Multi-State Privacy Agreement; null: not stated. */
  readonly mspaCovered: boolean | null;
  /** Global Privacy Control; null: the subsection is missing. */
  readonly gpc: boolean | null;
}

/** The first fields of the Canadian string: its lists of vendors are not decoded. */
export interface CanadianTcf
  extends Pick<
    TcString,
    | 'created'
    | 'lastUpdated'
    | 'cmpId'
    | 'cmpVersion'
    | 'consentScreen'
    | 'language'
    | 'vendorListVersion'
    | 'policyVersion'
  > {
  readonly purposes: { readonly express: readonly number[]; readonly implied: readonly number[] };
}

export type GppSection =
  | { readonly kind: 'tcf-eu'; readonly name: 'tcfeuv2'; readonly content: TcString | Damaged }
  | { readonly kind: 'tcf-canada'; readonly name: 'tcfcav1'; readonly content: CanadianTcf | Damaged }
  | { readonly kind: 'us-privacy'; readonly name: 'uspv1'; readonly content: UsPrivacy | Damaged }
  | { readonly kind: 'us'; readonly name: string; readonly place: string; readonly content: UsSection | Damaged }
  | { readonly kind: 'unknown'; readonly name: string; readonly content: Damaged };

export interface GppString {
  readonly sections: readonly GppSection[];
}

/** The largest id of a section, and the most of them, that a header may name. */
const MOST_SECTIONS = 100;

/**
 * Decodes a GPP string (IAB Tech Lab, Global Privacy Platform String 1.0): its header, then each section for itself. A
 * TC string alone is accepted, as the IAB's own library does. Takes time in proportion to its length.
 */
export function decodeGppString(text: string): GppString | Damaged {
  if (text.length > LONGEST_STRING) return { damaged: `it is too long: ${text.length} characters` };
  if (text.startsWith('C')) return { sections: [{ kind: 'tcf-eu', name: 'tcfeuv2', content: decodeTcString(text) }] };
  const [header = '', ...parts] = text.split('~', MOST_SECTIONS + 1);
  const ids = decodeHeader(header);
  if (isDamaged(ids)) return ids;
  if (ids.length !== parts.length)
    return {
      damaged: `its header names ${ids.length} ${ids.length === 1 ? 'section' : 'sections'}, but ${parts.length} follow`,
    };
  return { sections: ids.map((id, index) => decodeSection(id, parts[index] ?? '')) };
}

function decodeHeader(text: string): readonly number[] | Damaged {
  const bits = createBits(text);
  if (bits === null) return { damaged: 'its header is empty or contains characters that it cannot contain' };
  const type = bits.take(6);
  if (type !== 3) return { damaged: 'it does not begin like a GPP string' };
  const version = bits.take(6);
  if (version !== 1) return { damaged: `it has version ${version} of the format, not 1` };
  const ids: number[] = [];
  const items = bits.take(12);
  for (let item = 0, last = 0; item < items; item++) {
    const isGroup = bits.take(1) === 1;
    const start = last + takeFibonacci(bits);
    last = isGroup ? start + takeFibonacci(bits) : start;
    if (bits.short() || last > MOST_SECTIONS) return { damaged: 'the list of sections in its header is impossible' };
    for (let id = start; id <= last; id++) ids.push(id);
  }
  return bits.short() || !bits.isAtEnd() ? { damaged: 'the list of sections in its header is impossible' } : ids;
}

/** A number as a sum of Fibonacci numbers, which ends at two ones in a row; too large a number is Infinity. */
function takeFibonacci(bits: Bits): number {
  let value = 0;
  let before = 0;
  for (let [small, large] = [1, 2]; !bits.short() && small <= 1000; [small, large] = [large, small + large]) {
    const bit = bits.take(1);
    if (bit === 1 && before === 1) return value;
    if (bit === 1) value += small;
    before = bit;
  }
  return Infinity;
}

function decodeSection(id: number, text: string): GppSection {
  if (id === 2) return { kind: 'tcf-eu', name: 'tcfeuv2', content: decodeTcString(text) };
  if (id === 5) return { kind: 'tcf-canada', name: 'tcfcav1', content: decodeCanadian(text) };
  if (id === 6) return { kind: 'us-privacy', name: 'uspv1', content: decodeUsPrivacy(text) };
  const layout = usLayouts.get(id);
  if (layout === undefined)
    return { kind: 'unknown', name: `section ${id}`, content: { damaged: 'this section is not known here' } };
  return { kind: 'us', name: layout.name, place: layout.place, content: decodeUs(id, text) };
}

function decodeCanadian(text: string): CanadianTcf | Damaged {
  const bits = createBits(text.split('.', 1)[0] ?? '');
  if (bits === null) return { damaged: 'it is empty or contains characters that such a string cannot contain' };
  const version = bits.take(6);
  if (version !== 1) return { damaged: `it has version ${version} of the format, not 1` };
  const head = takeHead(bits);
  bits.take(13); // Non-standard texts, special features.
  const purposes = { express: bits.takeFlags(24), implied: bits.takeFlags(24) };
  if (bits.short()) return { damaged: 'it ends too early' };
  if (head.language === null) return { damaged: 'its language is not two letters' };
  return { ...head, language: head.language, purposes };
}

/**
 * One section for the United States. The specifications of the latest ones (since Maryland, still under comment) put a
 * header with the section's id before it; the IAB's library does not.
 */
function decodeUs(id: number, text: string): UsSection | Damaged {
  const layout = usLayouts.get(id);
  const parts = text.split('.', 4);
  const hasHeader = id >= 24 && createBits(parts[0] ?? '')?.take(6) === id;
  const [core = '', second, ...others] = hasHeader ? parts.slice(1) : parts;
  const bits = createBits(core);
  if (bits === null) return { damaged: 'it is empty or contains characters that such a section cannot contain' };
  const version = bits.take(6);
  const fields = layout?.versions[version];
  if (layout === undefined || fields === undefined) return { damaged: `version ${version} of it is not known here` };
  const values = new Map<string, readonly number[]>();
  for (const [field, count] of fields)
    values.set(
      field,
      Array.from({ length: count }, () => bits.take(2)),
    );
  if (bits.short()) return { damaged: 'it ends too early' };
  if (!bits.isAtEnd()) return { damaged: 'it continues after its end' };
  const added = second === undefined ? new Map<string, readonly number[]>() : decodeSecond(layout.second, second);
  if (isDamaged(added) || others.length > 0) return { damaged: 'its second part is impossible' };
  return usSectionOf(version, new Map([...values, ...added]));
}

/** The second subsection of a section for the United States. */
function decodeSecond(kind: 'gpc' | 'sensitive-data', text: string): ReadonlyMap<string, readonly number[]> | Damaged {
  const bits = createBits(text);
  if (bits === null) return { damaged: 'it is empty' };
  if (kind === 'gpc' && bits.take(2) !== 1) return { damaged: 'it is of an unknown kind' };
  const value: [string, readonly number[]] =
    kind === 'gpc'
      ? ['Gpc', [bits.take(1)]]
      : ['SensitiveDataProcessing', Array.from({ length: SENSITIVE_KINDS }, () => bits.take(2))];
  return bits.short() || !bits.isAtEnd() ? { damaged: 'it has another length' } : new Map([value]);
}

const notices = ['not-applicable', 'given', 'not-given'] as const;
const optOuts = ['not-applicable', 'opted-out', 'not-opted-out'] as const;
const consents = ['not-applicable', 'no-consent', 'consent'] as const;

function usSectionOf(version: number, values: ReadonlyMap<string, readonly number[]>): UsSection | Damaged {
  if ([...values.values()].flat().includes(3)) return { damaged: 'one of its fields has a value that does not exist' };
  const first = (field: string): number | undefined => values.get(field)?.[0];
  const word = <T extends string>(words: readonly T[], field: string): T | null => {
    const value = first(field);
    return value === undefined ? null : (words[value] ?? null);
  };
  const covered = first('MspaCoveredTransaction');
  const gpc = first('Gpc');
  return {
    version,
    notices: Object.fromEntries(
      [...values].flatMap(([field, [value = 0]]) =>
        field.endsWith('Notice') ? [[field.slice(0, -'Notice'.length), notices[value] ?? 'not-applicable']] : [],
      ),
    ),
    sale: word(optOuts, 'SaleOptOut'),
    sharing: word(optOuts, 'SharingOptOut'),
    targetedAdvertising: word(optOuts, 'TargetedAdvertisingOptOut'),
    sensitiveData: kindsOf(values.get('SensitiveDataProcessing')),
    knownChild: kindsOf(values.get('KnownChildSensitiveDataConsents')),
    otherUses: word(consents, 'PersonalDataConsents') ?? word(consents, 'AdditionalDataProcessingConsent'),
    mspaCovered: covered === undefined || covered === 0 ? null : covered === 1,
    gpc: gpc === undefined ? null : gpc === 1,
  };
}

function kindsOf(values: readonly number[] | undefined): Kinds | null {
  if (values === undefined) return null;
  const withValue = (wanted: number) => values.flatMap((value, index) => (value === wanted ? [index + 1] : []));
  return { refused: withValue(1), permitted: withValue(2) };
}
