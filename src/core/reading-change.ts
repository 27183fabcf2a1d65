import { ALL_PURPOSES, judgeChoice, type PurposeChoices, parsePurposes, purposeKey } from './consent-judgement.ts';
import type { ConsentState } from './vocabulary.ts';

/** What one reading found in a record of a choice. */
export interface DecisionRead {
  readonly type: 'decision';
  readonly state: ConsentState;
  readonly purposes: PurposeChoices;
  /** It does not count as consent, whatever it seems to grant. */
  readonly isDoubtful: boolean;
  /** The time of the choice as the record states it, ISO 8601 UTC; null: it states none. */
  readonly at: string | null;
  readonly subject: string | null;
}

/** What one reading found in a data subject request. */
interface RequestRead {
  readonly type: 'request';
  /** The kind that is asked for, or `unknown`. */
  readonly kind: string;
}

/** What a reading found; null: it could not be read, or is of another kind. */
export type RecordRead = DecisionRead | RequestRead | null;

/** How two readings of one record differ, the worst first. */
export const readingChanges = [
  'refusal-becomes-consent',
  'consent-becomes-refusal',
  'consent-becomes-unclear',
  'refusal-becomes-unclear',
  'request-is-lost',
  'purposes-change',
  'unclear-becomes-consent',
  'unclear-becomes-refusal',
  'request-is-found',
  'kind-changes',
  'time-changes',
  'person-changes',
  'time-is-found',
  'person-is-found',
  'kind-is-found',
] as const;
export type ReadingChange = (typeof readingChanges)[number];

/** Changes that turn a clear statement into its opposite, or lose it: a person must decide about them. */
const inverting: ReadonlySet<ReadingChange> = new Set([
  'refusal-becomes-consent',
  'consent-becomes-refusal',
  'consent-becomes-unclear',
  'refusal-becomes-unclear',
  'request-is-lost',
]);

/** Whether a change turns a clear statement into its opposite, or loses it. */
export function isInverting(change: ReadingChange): boolean {
  return inverting.has(change);
}

const filling: ReadonlySet<ReadingChange> = new Set([
  'unclear-becomes-consent',
  'unclear-becomes-refusal',
  'request-is-found',
  'time-is-found',
  'person-is-found',
  'kind-is-found',
]);

/** Whether a change only adds what was not understood before. */
export function isFilling(change: ReadingChange): boolean {
  return filling.has(change);
}

/** How a second reading of a record differs from the first; empty: in nothing that counts. */
export function changesBetween(before: RecordRead, after: RecordRead): readonly ReadingChange[] {
  if (before?.type === 'request' || after?.type === 'request') {
    if (before?.type !== 'request') return ['request-is-found', ...decisionChanges(before, null)];
    if (after?.type !== 'request') return ['request-is-lost', ...decisionChanges(null, after)];
    if (before.kind === after.kind) return [];
    return [before.kind === 'unknown' ? 'kind-is-found' : 'kind-changes'];
  }
  return decisionChanges(before, after);
}

function decisionChanges(before: DecisionRead | null, after: DecisionRead | null): readonly ReadingChange[] {
  if (before === null && after === null) return [];
  const [was, is] = [stanceOf(before), stanceOf(after)];
  const changes = new Set<ReadingChange>();
  for (const purpose of is.granted.keys()) {
    if (holds(was.granted, purpose)) continue;
    if (was.isRefusal || was.denied.has(purpose)) changes.add('refusal-becomes-consent');
    else changes.add(was.granted.size > 0 ? 'purposes-change' : 'unclear-becomes-consent');
  }
  for (const purpose of was.granted.keys()) {
    if (holds(is.granted, purpose)) continue;
    if (is.isRefusal || is.denied.has(purpose)) changes.add('consent-becomes-refusal');
    else changes.add(is.granted.size > 0 ? 'purposes-change' : 'consent-becomes-unclear');
  }
  if (is.granted.size + was.granted.size === 0) {
    const [refused, refuses] = [was, is].map(({ isRefusal, denied }) => isRefusal || denied.size > 0);
    if (refused === true && refuses === false) changes.add('refusal-becomes-unclear');
    if (refused === false && refuses === true) changes.add('unclear-becomes-refusal');
  }
  if (before !== null && after !== null) {
    if (momentOf(before.at) !== momentOf(after.at)) changes.add(before.at === null ? 'time-is-found' : 'time-changes');
    if (before.subject !== after.subject) changes.add(before.subject === null ? 'person-is-found' : 'person-changes');
  }
  return readingChanges.filter((one) => changes.has(one));
}

function momentOf(at: string | null): number | null {
  return at === null ? null : Date.parse(at);
}

interface Stance {
  /** Purposes as written, by the form for comparison; {@link ALL_PURPOSES} for consent that names none. */
  readonly granted: ReadonlyMap<string, string>;
  readonly denied: ReadonlyMap<string, string>;
  /** It refuses or withdraws everything that it does not name. */
  readonly isRefusal: boolean;
}

function stanceOf(read: DecisionRead | null): Stance {
  if (read === null) return { granted: new Map(), denied: new Map(), isRefusal: false };
  const { label, stands } = judgeChoice([], read);
  const denied = Object.keys(read.purposes).filter((purpose) => read.purposes[purpose] === 'denied');
  return {
    granted: byKey(read.isDoubtful ? [] : stands),
    denied: byKey(denied),
    isRefusal: label === 'refused' || label === 'withdrawn',
  };
}

function byKey(purposes: readonly string[]): ReadonlyMap<string, string> {
  return new Map(purposes.map((purpose) => [purposeKey(purpose), purpose]));
}

/** Whether a purpose was granted by its name or with all others. */
function holds(granted: Stance['granted'], purpose: string): boolean {
  return granted.has(purpose) || granted.has(ALL_PURPOSES);
}

/** What a row of the history of decisions says. */
export function decisionReadOf(row: {
  readonly state: ConsentState;
  readonly purposes: string;
  readonly doubts: string | null;
  readonly occurred_at: string;
  readonly occurred_basis: string;
  readonly subject: string | null;
}): DecisionRead {
  const { state, purposes, doubts, occurred_at, occurred_basis, subject } = row;
  const at = occurred_basis === 'received' ? null : occurred_at;
  return { type: 'decision', state, purposes: parsePurposes(purposes), isDoubtful: doubts !== null, at, subject };
}

const phrases: Readonly<Record<ReadingChange, readonly [one: string, many: string]>> = {
  'refusal-becomes-consent': ['refusal would become consent', 'refusals would become consent'],
  'consent-becomes-refusal': ['consent would become a refusal', 'consents would become refusals'],
  'consent-becomes-unclear': ['consent would become unclear', 'consents would become unclear'],
  'refusal-becomes-unclear': ['refusal would become unclear', 'refusals would become unclear'],
  'purposes-change': ['consent would cover other purposes', 'consents would cover other purposes'],
  'request-is-lost': ['request would be lost', 'requests would be lost'],
  'unclear-becomes-consent': ['unclear record would become consent', 'unclear records would become consent'],
  'unclear-becomes-refusal': ['unclear record would become a refusal', 'unclear records would become refusals'],
  'request-is-found': ['request would be found', 'requests would be found'],
  'kind-changes': ['request would ask for something else', 'requests would ask for something else'],
  'time-changes': ['time would change', 'times would change'],
  'person-changes': ['record would belong to another visitor', 'records would belong to other visitors'],
  'time-is-found': ['time would be found', 'times would be found'],
  'kind-is-found': ['request’s kind would be understood', 'requests’ kinds would be understood'],
  'person-is-found': ['visitor would be found', 'visitors would be found'],
};

/** `21 refusals became consent`: after it happened. */
export function changedPhrase(change: ReadingChange, count: number): string {
  return changePhrase(change, count)
    .replace('would become', 'became')
    .replace(' would be ', count === 1 ? ' was ' : ' were ')
    .replace('would change', 'changed')
    .replace('would cover', 'covered')
    .replace('would ask', 'asked')
    .replace('would belong', 'belonged');
}

/** `21 refusals would become consent`. */
export function changePhrase(change: ReadingChange, count: number): string {
  return `${count} ${phrases[change][count === 1 ? 0 : 1]}`;
}

/** `consent to analytics; marketing refused`, with `withTime` also `; at 2026-11-26 15:00:00 UTC`: what one reading found, in a few words. */
export function readWords(read: RecordRead, withTime: boolean): string {
  if (read === null) return 'not understood';
  if (read.type === 'request') return `request: ${read.kind}`;
  const { granted, denied, isRefusal } = stanceOf(read);
  const names = (some: ReadonlyMap<string, string>) => {
    const all = [...some.values()].sort();
    return all.length > 5 ? `${all.slice(0, 5).join(', ')} and ${all.length - 5} more` : all.join(', ');
  };
  const parts = [
    granted.has(ALL_PURPOSES) ? 'consent to everything' : granted.size > 0 ? `consent to ${names(granted)}` : null,
    denied.size > 0 ? `${names(denied)} refused` : isRefusal ? 'refused' : null,
  ].filter((part) => part !== null);
  const choice =
    parts.length > 0 ? parts.join('; ') : read.isDoubtful ? 'unclear: its statements are in doubt' : 'unclear';
  if (!withTime) return choice;
  return read.at === null ? `${choice}; no time stated` : `${choice}; at ${read.at.slice(0, 19).replace('T', ' ')} UTC`;
}
