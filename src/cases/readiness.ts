import { dateText } from '../core/time-words.ts';
import type { RequestKind } from '../core/vocabulary.ts';
import { whyNotRefused } from '../law/deadlines.ts';
import { type ControllerProfile, missingProfileParts } from '../law/profile.ts';
import type { Match } from './match-subject.ts';
import type { Disclosure } from './moves.ts';
import type { CaseView, IdentityStanding } from './view.ts';

interface Lack {
  readonly code:
    | 'kind'
    | 'part'
    | 'place'
    | 'identity'
    | 'clarification'
    | 'system'
    | 'profile'
    | 'profile-part'
    | 'acknowledgement'
    | 'fee'
    | 'match'
    | 'deadline'
    | 'approval'
    | 'task'
    | 'regime';
  /** One sentence, for the officer. */
  readonly text: string;
  /** The case cannot be ready without it. Other gaps are only named in the case and in the pack. */
  readonly blocking: boolean;
}

export interface Readiness {
  readonly ready: boolean;
  readonly lacks: readonly Lack[];
}

/** Lists what an answer to this case still lacks. Pure. */
export function caseReadiness(view: CaseView, profile: ControllerProfile | null, match?: Match): Readiness {
  const lacks = [
    ...lacksOfRequest(view),
    ...lacksOfController(view, profile),
    ...lacksOfTasks(view),
    ...lacksOfTime(view),
  ];
  if (match !== undefined && (match.status === 'none' || match.status === 'shared')) {
    lacks.push({
      code: 'match',
      text: `${match.says} The answer tells the requester how to help us find them (GDPR Art. 11(2)).`,
      blocking: false,
    });
  }
  return { ready: lacks.every((lack) => !lack.blocking), lacks };
}

function lacksOfRequest(view: CaseView): readonly Lack[] {
  const lacks: Lack[] = [];
  if (view.kind === 'unknown') {
    lacks.push({
      code: 'kind',
      text: 'The kind of request is unclear: amend it.',
      blocking: true,
    });
  }
  lacks.push(...lacksOfParts(view));
  // Without a law, date and form of the answer are unknown, and a place may bring a stricter law, so it must be chosen
  // first.
  const { placeMissing, laws } = view.deadline;
  const lost = placeMissing && (view.folded.placeAsGiven !== null || laws.length === 0);
  for (const [index, text] of view.deadline.says.entries())
    lacks.push(
      lost && index === 0 ? { code: 'place', text, blocking: true } : { code: 'regime', text, blocking: false },
    );
  lacks.push(...lacksOfIdentity(view));
  if (view.row.state === 'waiting-clarification') {
    lacks.push({ code: 'clarification', text: 'Waiting for a clarification.', blocking: true });
  }
  if (view.folded.fee !== null && view.folded.fee.paidAt === null) {
    lacks.push({ code: 'fee', text: 'A fee was requested and has not been paid.', blocking: false });
  }
  return lacks;
}

/** A refusal of every right discloses and deletes nothing: it needs no check. */
function lacksOfIdentity(view: CaseView): readonly Lack[] {
  if (kindsToDo(view).length === 0 || view.identity === 'met') return [];
  if (view.identity === 'failed') {
    const { blocking, text } = afterFailedCheck(view);
    return [{ code: 'identity', text: `The identity could not be confirmed: ${text}.`, blocking }];
  }
  const isRequired = view.deadline.identity.rule === 'required';
  const why = isRequired ? 'is required by law' : 'was requested because of a recorded doubt';
  return [{ code: 'identity', text: `The identity check ${why} and is not complete.`, blocking: true }];
}

/** The rights of a request about which nothing is recorded yet: none may be forgotten in the answer. */
function lacksOfParts({ parts }: CaseView): readonly Lack[] {
  return parts.flatMap(({ kind, outcome }) => {
    if (outcome !== null) return [];
    const text =
      kind === 'unknown'
        ? 'A part of the request is unclear: read it and amend the further rights, or record what was done about it.'
        : `Several rights are requested. Record what was done about this one: ${kind.replaceAll('-', ' ')}.`;
    return [{ code: 'part' as const, text, blocking: true }];
  });
}

/** What may still be answered if the identity could not be confirmed. */
function afterFailedCheck({ deadline, ...view }: CaseView): { readonly blocking: boolean; readonly text: string } {
  // Consent given without identification can be withdrawn without it (GDPR Art. 7(3)).
  if (whyNotRefused(deadline) !== null)
    return { blocking: false, text: 'the request still takes effect; the answer must not contain data' };
  if (deadline.identity.unverified !== 'categories-only')
    return { blocking: true, text: 'refuse with reasons, or confirm it after all' };
  // Nothing is ever deleted at the request of someone who has not been identified.
  return {
    blocking: kindsToDo(view).includes('erasure'),
    text: 'the answer may contain categories only, no specific pieces of data',
  };
}

function lacksOfController(view: CaseView, profile: ControllerProfile | null): readonly Lack[] {
  if (profile === null) {
    const text = 'No controller profile: the answer will lack purposes, recipients and other systems.';
    return [{ code: 'profile', text, blocking: true }];
  }
  const unmarked = profile.otherSystems.filter((system) => !Object.hasOwn(view.folded.systems, system.id));
  const lacks: Lack[] = unmarked.map((system) => ({
    code: 'system',
    text: `${system.name} is not marked: nothing found, attached or not applicable.`,
    blocking: true,
  }));
  for (const part of missingProfileParts(profile)) {
    lacks.push({ code: 'profile-part', text: `The controller profile lacks: ${part}.`, blocking: false });
  }
  if (profile.role === 'processor') {
    lacks.push({
      code: 'approval',
      text: 'The controller must approve the release: enter who approved it with the answer.',
      blocking: false,
    });
  }
  return lacks;
}

/** Tasks do not block: their outcomes are named before the case is answered. */
function lacksOfTasks({ folded: { tasks = [] } }: CaseView): readonly Lack[] {
  return tasks.flatMap(({ what, owner, due, outcome, note }, place) => {
    if (outcome === 'done') return [];
    const whose = owner === null ? '' : ` (${owner})`;
    const text =
      outcome === null
        ? `Task ${place + 1}, “${what}”${whose}, is still open; its due date is ${dateText(due)}.`
        : `Task ${place + 1}, “${what}”${whose}, was not done: ${note ?? 'no reason given'}`;
    return [{ code: 'task' as const, text, blocking: false }];
  });
}

function lacksOfTime(view: CaseView): readonly Lack[] {
  const lacks: Lack[] = [];
  const { acknowledgeBy, limit } = view.deadline;
  if (view.open && acknowledgeBy !== null && view.folded.acknowledgedAt === null) {
    lacks.push({
      code: 'acknowledgement',
      text: `Receipt must be confirmed by ${dateText(acknowledgeBy)}.`,
      blocking: false,
    });
  }
  if (view.overdue && limit !== null) {
    lacks.push({
      code: 'deadline',
      text: `The legal limit of ${dateText(limit)} has passed: answer now and explain the delay.`,
      blocking: false,
    });
  }
  return lacks;
}

/** Kinds of request that are answered with a copy of the data; others are answered by doing what they ask. */
const disclosing = ['access', 'portability'];

/** The rights asked for that were not refused. */
export function kindsToDo({ kinds, parts }: Pick<CaseView, 'kinds' | 'parts'>): readonly RequestKind[] {
  return kinds.filter((kind) => !parts.some((part) => part.kind === kind && part.outcome === 'refused'));
}

/**
 * What an answer may contain. Invariant: no specific data leave without the required identity check. full: the records
 * of the matched subject. categories-only: the controller's statements about itself, nothing about a person (unverified
 * requester, 11 CCR 7024; a kind that asks for no copy). no-match: GDPR Art. 11(2), "we cannot link you".
 */
export function disclosureOf(view: CaseView, match: Match): Disclosure {
  const most = mostDisclosure(view.identity, match);
  const wantsCopy = kindsToDo(view).some((kind) => disclosing.includes(kind));
  return most === 'full' && !wantsCopy ? 'categories-only' : most;
}

/** The most that any answer may contain, whatever was requested. */
export function mostDisclosure(
  identity: IdentityStanding,
  { status, subjects }: Pick<Match, 'status' | 'subjects'>,
): Disclosure {
  if (identity !== 'met') return 'categories-only';
  return status === 'none' || status === 'shared' || subjects.length === 0 ? 'no-match' : 'full';
}
