import { isOpen, type MoveName } from '../../../cases/moves.ts';
import { kindsToDo } from '../../../cases/readiness.ts';
import type { CaseView } from '../../../cases/view.ts';
import { isAnswer } from '../../../documents/awaiting-approval.ts';
import type { CasePageData } from './load-case.ts';

/** What a case needs next, in a sentence. */
export interface NextStep {
  readonly sentence: string;
  /** The move that records it; null: it is done elsewhere, or nothing is left. */
  readonly move: MoveName | null;
  /** What has to be created first, with its own form. */
  readonly create?: 'pack' | 'letter' | 'acknowledgement';
}

/** Determines the next step of a case. Pure. */
export function nextStepOf(data: CasePageData): NextStep {
  const { view, readiness, profile, approvalOutdated } = data.shown;
  const { row, deadline, folded } = view;
  const unanswered = (folded.openMessages ?? []).length;
  const blocking = readiness.lacks.filter((lack) => lack.blocking);
  const lacks = (...codes: readonly string[]) => blocking.find(({ code }) => codes.includes(code));
  switch (row.state) {
    case 'waiting-identity':
      return step('Waiting for the requester: record the check once it is done.', 'confirm-identity');
    case 'waiting-clarification':
      return step('Waiting for the requester: record the clarification once it arrives.', 'receive-clarification');
    case 'ready':
      if (!data.documents.some(isAnswer)) return firstDocument(view);
      if (
        profile?.secondPersonFor?.includes('answer') === true &&
        (folded.approval?.of !== 'answer' || approvalOutdated)
      )
        return step(
          approvalOutdated && folded.approval?.of === 'answer'
            ? 'A letter, file or response pack was added after the approval, so the approval no longer counts. A second person has to approve the answer as it is now.'
            : 'A second person has to approve the answer before it is sent. The person who approves it cannot also send it.',
          'approve',
        );
      return data.held.has('answer')
        ? step('The answer is approved. Someone else with an account has to send it and record that.', null)
        : step('Send the answer, or hand over the pack through a link. Then record how it was sent.', 'answer');
    case 'answered':
    case 'refused':
    case 'withdrawn':
      return unanswered > 0
        ? answerMessages(unanswered, 'Close the request after that.')
        : step('Nothing more is due. Close the request once no questions are left.', 'close');
    case 'closed':
      return unanswered > 0
        ? answerMessages(unanswered, 'The request is closed and stays closed.')
        : step('The request is closed.', null);
    default: {
      const unclear = lacks('kind', 'place');
      if (unclear !== undefined) return step(unclear.text, 'amend');
      if (deadline.acknowledgeBy !== null && folded.acknowledgedAt === null)
        return {
          sentence: `The law requires you to confirm receipt by ${deadline.acknowledgeBy}.`,
          move: null,
          create: 'acknowledgement',
        };
      if (row.state !== 'in-progress') return step('Start work: nobody has taken up the request yet.', 'start');
      const identity = lacks('identity');
      if (identity !== undefined) return step(identity.text, 'confirm-identity');
      if (view.moves.includes('no-doubt'))
        return step(
          'Is there reasonable doubt about the requester’s identity? If not, record that. If so, ask for what would resolve it (under More).',
          'no-doubt',
        );
      const system = lacks('system');
      if (system !== undefined) return step(system.text, 'mark-system');
      const part = lacks('part');
      if (part !== undefined) return step(part.text, 'settle-part');
      const [other] = blocking;
      return other === undefined
        ? step('Nothing required is missing.', 'mark-ready')
        : step(`${other.text} An admin can set it up.`, null);
    }
  }
}

/** Its forms are under Messages, next to what the requester wrote. */
function answerMessages(count: number, after: string): NextStep {
  const what = count === 1 ? 'A message of the requester is open' : `${count} messages of the requester are open`;
  const it = count === 1 ? 'it needs' : 'they need';
  return step(`${what}: reply under Messages, or record there that ${it} no reply. ${after}`, null);
}

function step(sentence: string, move: MoveName | null): NextStep {
  return { sentence, move };
}

/** What the requester receives: a copy of the records, or only a letter. */
function firstDocument(view: CaseView): NextStep {
  return kindsToDo(view).some((kind) => kind === 'access' || kind === 'portability')
    ? { sentence: 'Create the response pack: it includes the letter.', move: null, create: 'pack' }
    : { sentence: 'Write the letter that answers the request.', move: null, create: 'letter' };
}

interface Step {
  readonly name: string;
  readonly done: boolean;
}

/** The progress of a case from receipt to closing. */
export function StepList({ data }: { data: CasePageData }) {
  const steps = stepsOf(data);
  const current = steps.findIndex(({ done }) => !done);
  return (
    <ol class="steps" aria-label="Progress of the request">
      {steps.map(({ name, done }, place) => (
        <li
          key={name}
          class={done ? 'done' : place === current ? 'current' : ''}
          {...(place === current ? { 'aria-current': 'step' as const } : {})}
        >
          {name}
          {done ? <span class="unseen">: done</span> : null}
        </li>
      ))}
    </ol>
  );
}

/** How a settled request ended, if it was not answered; null: it was. */
function endWithoutAnswer({ folded }: CaseView): string | null {
  if (folded.duplicateOf !== null) return 'Merged';
  if (folded.answer !== null) return null;
  if (folded.withdrawal !== null) return 'Withdrawn';
  return folded.refusal === null ? null : 'Refused';
}

function stepsOf({ shown: { view, profile, readiness } }: CasePageData): readonly Step[] {
  const { state } = view.row;
  const settled = !isOpen(state);
  const end = settled ? endWithoutAnswer(view) : null;
  // Steps in between are left out, because they may have been skipped.
  if (end !== null)
    return [
      { name: 'Received', done: true },
      { name: end, done: true },
      { name: 'Closed', done: state === 'closed' },
    ];
  const ready = state === 'ready' || settled;
  // The program may have confirmed receipt before anyone looked at the request.
  const begun = ready || (state !== 'opened' && state !== 'acknowledged');
  const open = (code: string) => readiness.lacks.some((lack) => lack.blocking && lack.code === code);
  const steps: Step[] = [
    { name: 'Received', done: true },
    { name: 'Taken up', done: begun },
  ];
  if (view.deadline.identity.rule !== 'forbidden')
    steps.push({
      name: 'Identity',
      done:
        ready || (begun && view.identity === 'met' && ['confirmed', 'no-doubt'].includes(view.folded.identity.status)),
    });
  if ((profile?.otherSystems.length ?? 0) > 0)
    steps.push({ name: 'Searched', done: ready || (begun && !open('system')) });
  return [
    ...steps,
    { name: 'Ready', done: ready },
    { name: 'Answered', done: settled },
    { name: 'Closed', done: state === 'closed' },
  ];
}
