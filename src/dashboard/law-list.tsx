import type { Deadlines, LawDeadline } from '../law/deadlines.ts';
import { Badge, Day } from './parts.tsx';

const whyTexts = {
  establishment: 'the controller is established there',
  place: 'the requester is there',
  both: 'the controller is established there, and the requester is there',
} as const;

/** Every law that applies, with its own computation, and the one that decides. */
export function LawList({ deadline }: { deadline: Deadlines }) {
  return (
    <>
      {deadline.laws.map((law) => (
        <div key={law.id}>
          <h3>
            {law.name}: <Day date={law.limit} />{' '}
            {law.id === deadline.law && deadline.laws.length > 1 ? <Badge text="decides" tone="good" /> : null}{' '}
            {law.confirmed ? null : <Badge text="unconfirmed, check with counsel" tone="warn" />}
          </h3>
          <p class="small soft">Applies because {whyTexts[law.why]}.</p>
          <ol class="plain">
            {law.explanation.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ol>
          <ul class="plain small">
            {[...law.row.notes, ...appealWords(law.row.appeal)].map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

function appealWords(appeal: LawDeadline['row']['appeal']): readonly string[] {
  if (appeal === null) return [];
  const more = appeal.extension === 0 ? '' : ` (${appeal.extension} more with notice)`;
  return [`An appeal is decided in ${appeal.days} days${more}; then ${appeal.then}.`];
}
