import { type ControllerProfile, missingProfileParts } from '../core/profile.ts';
import { placeQuestion } from './folded.ts';
import type { Match } from './match.ts';
import type { CaseView } from './view.ts';

export interface Lack {
  readonly code:
    | 'kind'
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
    | 'regime';
  /** One sentence, for the officer. */
  readonly text: string;
  /** The case cannot be ready while it lacks this. The others are named in the case and in the pack. */
  readonly blocking: boolean;
}

export interface Readiness {
  readonly ready: boolean;
  readonly lacks: readonly Lack[];
}

/** Lists what an answer to this case still lacks. Pure. */
export function caseReadiness(view: CaseView, profile: ControllerProfile | null, match?: Match): Readiness {
  const lacks = [...lacksOfRequest(view), ...lacksOfController(view, profile), ...lacksOfTime(view)];
  if (match !== undefined && (match.status === 'none' || match.status === 'shared')) {
    lacks.push({
      code: 'match',
      text: `${match.says} The answer says how the requester can help us (GDPR Art. 11(2)).`,
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
      text: 'What is requested is not settled: amend the kind of the request.',
      blocking: true,
    });
  }
  const place = placeQuestion(view.folded);
  if (place !== null) lacks.push({ code: 'place', text: place, blocking: true });
  // Without any law nobody knows by when and how to answer: the place is chosen first.
  const lost = place === null && view.deadline.placeMissing && view.deadline.laws.length === 0;
  for (const [index, text] of view.deadline.says.entries())
    lacks.push(
      lost && index === 0 ? { code: 'place', text, blocking: true } : { code: 'regime', text, blocking: false },
    );
  const { rule, unverified } = view.deadline.identity;
  if (view.identity === 'needed') {
    const why = rule === 'required' ? 'is required by law' : 'was asked for on a recorded doubt';
    lacks.push({ code: 'identity', text: `The identity check ${why} and is not done.`, blocking: true });
  } else if (view.identity === 'failed') {
    const general = unverified === 'categories-only';
    const text = general
      ? 'The identity could not be confirmed: the answer holds categories only, no specific pieces.'
      : 'The identity could not be confirmed: refuse with reasons, or confirm it after all.';
    // Nothing is ever deleted for somebody who is not identified.
    lacks.push({ code: 'identity', text, blocking: !general || view.kind === 'erasure' });
  }
  if (view.row.state === 'waiting-clarification') {
    lacks.push({ code: 'clarification', text: 'A clarification is awaited.', blocking: true });
  }
  if (view.folded.fee !== null && view.folded.fee.paidAt === null) {
    lacks.push({ code: 'fee', text: 'A fee was asked for and is not paid.', blocking: false });
  }
  return lacks;
}

function lacksOfController(view: CaseView, profile: ControllerProfile | null): readonly Lack[] {
  if (profile === null) {
    const text = 'There is no controller profile: nothing can be said about purposes, recipients or other systems.';
    return [{ code: 'profile', text, blocking: true }];
  }
  const unmarked = profile.otherSystems.filter((system) => !Object.hasOwn(view.folded.systems, system.id));
  const lacks: Lack[] = unmarked.map((system) => ({
    code: 'system',
    text: `${system.name} is not marked: nothing found, attached or not applicable.`,
    blocking: true,
  }));
  for (const part of missingProfileParts(profile)) {
    lacks.push({ code: 'profile-part', text: `The controller profile does not say: ${part}.`, blocking: false });
  }
  if (profile.role === 'processor') {
    lacks.push({
      code: 'approval',
      text: 'The controller approves the release: name who did when it is answered.',
      blocking: false,
    });
  }
  return lacks;
}

function lacksOfTime(view: CaseView): readonly Lack[] {
  const lacks: Lack[] = [];
  const { acknowledgeBy, limit } = view.deadline;
  if (view.open && acknowledgeBy !== null && view.folded.acknowledgedAt === null) {
    lacks.push({ code: 'acknowledgement', text: `Receipt has to be confirmed by ${acknowledgeBy}.`, blocking: false });
  }
  if (view.overdue) {
    lacks.push({
      code: 'deadline',
      text: `The legal limit of ${limit} has passed: answer now and say why it is late.`,
      blocking: false,
    });
  }
  return lacks;
}
