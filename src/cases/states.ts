import type { MoveName } from './move-details.ts';

/**
 * The states of a case and the moves between them, as data.
 *
 * opened ─ acknowledged ─ in-progress ⇄ waiting-identity, waiting-clarification ─ ready ─ answered ─ closed
 *                                        refused, withdrawn, duplicate ───────────────────────────┘
 *
 * What does not change where a case stands (an extension, a system searched, a note) is a move that stays in its state,
 * so that everything that was ever done to a case is one numbered line of moves.
 */
export const caseStates = [
  'opened',
  'acknowledged',
  'waiting-identity',
  'waiting-clarification',
  'in-progress',
  'ready',
  'answered',
  'refused',
  'withdrawn',
  'closed',
] as const;
type CaseState = (typeof caseStates)[number];

/** States in which the requester still waits for an answer. */
export const openStates = [
  'opened',
  'acknowledged',
  'waiting-identity',
  'waiting-clarification',
  'in-progress',
  'ready',
] as const satisfies readonly CaseState[];
const settledStates = ['answered', 'refused', 'withdrawn'] as const satisfies readonly CaseState[];
const workingStates = ['opened', 'acknowledged', 'in-progress'] as const satisfies readonly CaseState[];
/** A clarification that is awaited is received first: a case waits for one thing at a time. */
const identifiable = [...workingStates, 'waiting-identity'] as const satisfies readonly CaseState[];

/** Whether the requester still waits for an answer. */
export function isOpen(state: string): boolean {
  return (openStates as readonly string[]).includes(state);
}

interface MoveRule {
  /** For buttons and lists. */
  readonly label: string;
  readonly from: readonly CaseState[];
  /** Where the case goes; `same`: it stays where it is; by state: it stays in those that are not named. */
  readonly to: CaseState | 'same' | Readonly<Partial<Record<CaseState, CaseState>>>;
}

export const moveRules: Readonly<Record<MoveName, MoveRule>> = {
  acknowledge: { label: 'Confirm receipt to the requester', from: openStates, to: { opened: 'acknowledged' } },
  start: { label: 'Start work', from: ['opened', 'acknowledged'], to: 'in-progress' },
  amend: { label: 'Correct or complete the request', from: openStates, to: 'same' },
  'ask-identity': { label: 'Ask for identification', from: workingStates, to: 'waiting-identity' },
  'confirm-identity': { label: 'Identity is confirmed', from: identifiable, to: 'in-progress' },
  'fail-identity': { label: 'Identity could not be confirmed', from: identifiable, to: 'in-progress' },
  'ask-clarification': { label: 'Ask for clarification', from: workingStates, to: 'waiting-clarification' },
  'receive-clarification': { label: 'Clarification received', from: ['waiting-clarification'], to: 'in-progress' },
  'record-fee': { label: 'Note a fee', from: openStates, to: 'same' },
  extend: { label: 'Extend the period', from: openStates, to: 'same' },
  'mark-system': { label: 'Mark another system as searched', from: openStates, to: 'same' },
  'link-subject': { label: 'Link a consent subject', from: openStates, to: 'same' },
  note: { label: 'Add a note', from: caseStates, to: 'same' },
  'mark-ready': { label: 'Ready to be answered', from: ['in-progress'], to: 'ready' },
  rework: { label: 'Back to work', from: ['ready'], to: 'in-progress' },
  answer: { label: 'The answer was sent', from: ['ready'], to: 'answered' },
  refuse: { label: 'Refuse', from: openStates, to: 'refused' },
  withdraw: { label: 'The requester withdrew the request', from: openStates, to: 'withdrawn' },
  'close-duplicate': { label: 'Close as a duplicate', from: openStates, to: 'closed' },
  close: { label: 'Close', from: settledStates, to: 'closed' },
  reopen: { label: 'Reopen', from: [...settledStates, 'closed'], to: 'in-progress' },
};

/** Names of the moves that a state allows; what a law forbids besides is judged by cases/check-move.ts. */
export function movesFrom(state: string): readonly MoveName[] {
  return (Object.keys(moveRules) as MoveName[]).filter((name) =>
    (moveRules[name].from as readonly string[]).includes(state),
  );
}

/** The state that a move leads to. */
export function stateAfter(rule: MoveRule, state: string): string {
  if (rule.to === 'same') return state;
  if (typeof rule.to === 'string') return rule.to;
  return (rule.to as Readonly<Record<string, CaseState>>)[state] ?? state;
}
