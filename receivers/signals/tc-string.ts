import { type Bits, createBits, type Damaged, type Ids, isDamaged, takeIds, takeRanges } from './bits.ts';

/** What a TC string says. Purposes, special features and vendors are the numbers of the IAB's global vendor list. */
export interface TcString {
  /** Of the policies: 4 is TCF 2.2, 5 is TCF 2.3. */
  readonly policyVersion: number;
  /** ISO 8601 UTC; most platforms state only the day. */
  readonly created: string;
  readonly lastUpdated: string;
  /** The consent management platform's number in the IAB's list. */
  readonly cmpId: number;
  readonly cmpVersion: number;
  readonly consentScreen: number;
  /** Two letters, upper case. */
  readonly language: string;
  readonly vendorListVersion: number;
  readonly isServiceSpecific: boolean;
  readonly publisherCountry: string;
  /** Purpose 1 was not disclosed, so that its missing consent is not a refusal. */
  readonly purposeOneNotDisclosed: boolean;
  readonly purposes: { readonly consent: readonly number[]; readonly legitimateInterest: readonly number[] };
  readonly specialFeatures: readonly number[];
  readonly vendors: {
    readonly consent: Ids;
    readonly legitimateInterest: Ids;
    /** Null: the segment, mandatory in TCF 2.3, is missing. */
    readonly disclosed: Ids | null;
    readonly allowed: Ids | null;
  };
  readonly publisherRestrictions: number;
  /** The publisher's own use of the purposes; null if not stated. */
  readonly publisher: {
    readonly consent: readonly number[];
    readonly legitimateInterest: readonly number[];
    readonly customConsent: readonly number[];
    readonly customLegitimateInterest: readonly number[];
  } | null;
}

/** The longest string that is decoded. With every vendor of the list in each segment, one has some 1,500 characters. */
export const LONGEST_STRING = 20_000;

/** The policy version of TCF 2.3, since which disclosed vendors are mandatory. */
export const TCF_2_3 = 5;

/** Core, disclosed vendors, allowed vendors, publisher. */
const SEGMENTS = 4;

/**
 * Decodes a TC string (IAB Tech Lab, Consent string and vendor list formats v2). Takes time in proportion to its length.
 * A string whose fields are impossible is refused as a whole; a string that was altered within what is possible cannot
 * be told from another one, because it has no checksum.
 */
export function decodeTcString(text: string): TcString | Damaged {
  if (text.length > LONGEST_STRING) return { damaged: `it is too long: ${text.length} characters` };
  const [first = '', ...others] = text.split('.', SEGMENTS + 1);
  if (others.length >= SEGMENTS) return { damaged: `it has more than ${SEGMENTS} segments` };
  const core = decodeCore(first);
  if (isDamaged(core)) return core;
  const segments = decodeSegments(others);
  if (isDamaged(segments)) return segments;
  const { disclosed, allowed, publisher } = segments;
  return { ...core, vendors: { ...core.vendors, disclosed, allowed }, publisher };
}

const NOT_BASE64 = { damaged: 'it is empty or contains characters that such a string cannot contain' };
const TOO_SHORT = { damaged: 'it ends too early' };

/** The first fields, which the European and the Canadian string share. */
export function takeHead(bits: Bits) {
  const head = {
    created: takeTime(bits),
    lastUpdated: takeTime(bits),
    cmpId: bits.take(12),
    cmpVersion: bits.take(12),
    consentScreen: bits.take(6),
    language: takeLetters(bits),
    vendorListVersion: bits.take(12),
    policyVersion: bits.take(6),
  };
  return head;
}

function decodeCore(text: string): TcString | Damaged {
  const bits = createBits(text);
  if (bits === null) return NOT_BASE64;
  const version = bits.take(6);
  if (version === 3) return { damaged: 'it is a GPP string, not a TC string' };
  if (version !== 2) return { damaged: `it has version ${version} of the format, not 2` };
  const head = takeHead(bits);
  const isServiceSpecific = bits.take(1) === 1;
  bits.take(1); // Non-standard texts.
  const specialFeatures = bits.takeFlags(12);
  const purposes = { consent: bits.takeFlags(24), legitimateInterest: bits.takeFlags(24) };
  const purposeOneNotDisclosed = bits.take(1) === 1;
  const publisherCountry = takeLetters(bits);
  if (bits.short()) return TOO_SHORT;
  if (head.language === null) return { damaged: 'its language is not two letters' };
  if (publisherCountry === null) return { damaged: 'its country is not two letters' };
  const consent = takeIds(bits);
  const legitimateInterest = consent === null ? null : takeIds(bits);
  if (consent === null || legitimateInterest === null) return wrongList(bits, 'list of vendors');
  const publisherRestrictions = takeRestrictions(bits);
  if (publisherRestrictions === null) return wrongList(bits, 'list of publisher restrictions');
  if (!bits.isAtEnd()) return { damaged: 'it continues after its end' };
  return {
    ...head,
    language: head.language,
    isServiceSpecific,
    publisherCountry,
    purposeOneNotDisclosed,
    purposes,
    specialFeatures,
    vendors: { consent, legitimateInterest, disclosed: null, allowed: null },
    publisherRestrictions,
    publisher: null,
  };
}

function wrongList(bits: Bits, which: string): Damaged {
  return bits.short() ? TOO_SHORT : { damaged: `its ${which} is longer than the string, or impossible` };
}

/** The number of restrictions; null if they are longer than the text, or impossible. */
function takeRestrictions(bits: Bits): number | null {
  const restrictions = bits.take(12);
  if (restrictions * 20 > bits.left()) return null;
  for (let restriction = 0; restriction < restrictions; restriction++) {
    bits.take(8); // A purpose and a type.
    if (takeRanges(bits, 0xffff) === null) return null;
  }
  return bits.short() ? null : restrictions;
}

interface Segments {
  disclosed: Ids | null;
  allowed: Ids | null;
  publisher: TcString['publisher'];
}

/** The segments after the core, in any order, each at most once. */
function decodeSegments(texts: readonly string[]): Segments | Damaged {
  const segments: Segments = { disclosed: null, allowed: null, publisher: null };
  for (const text of texts) {
    const bits = createBits(text);
    if (bits === null) return NOT_BASE64;
    const name = ([null, 'disclosed', 'allowed', 'publisher'] as const)[bits.take(3)] ?? null;
    if (name === null) return { damaged: 'it has a segment of an unknown kind' };
    if (segments[name] !== null) return { damaged: 'it has a segment twice' };
    if (name === 'publisher') segments.publisher = takePublisher(bits);
    else segments[name] = takeIds(bits);
    if (segments[name] === null || bits.short()) return wrongList(bits, `list of ${name} vendors`);
    if (!bits.isAtEnd()) return { damaged: 'a segment continues after its end' };
  }
  return segments;
}

function takePublisher(bits: Bits): NonNullable<TcString['publisher']> {
  const consent = bits.takeFlags(24);
  const legitimateInterest = bits.takeFlags(24);
  const custom = bits.take(6);
  const customConsent = bits.takeFlags(custom);
  return { consent, legitimateInterest, customConsent, customLegitimateInterest: bits.takeFlags(custom) };
}

/** A time in tenths of a second since 1970. */
function takeTime(bits: Bits): string {
  return new Date(bits.take(36) * 100).toISOString();
}

/** Two letters of six bits each; null if one is not a letter. */
function takeLetters(bits: Bits): string | null {
  const first = bits.take(6);
  const second = bits.take(6);
  return first > 25 || second > 25 ? null : String.fromCharCode(65 + first, 65 + second);
}
