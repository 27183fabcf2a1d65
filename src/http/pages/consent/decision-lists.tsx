import { AGREEMENT_DAYS } from '../../../attention/officer-attention.ts';
import { localTimeOf } from '../../../core/zoned-days.ts';
import type { PageFrame } from '../parts/layout.tsx';
import { Input } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

/** Looks up a decision as of when it was made. */
export function LookUpForm(props: {
  readonly frame: PageFrame;
  readonly source: string;
  readonly decisionId: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Milliseconds. */
  readonly now: number;
}) {
  const { frame, source, decisionId, at, now } = props;
  return (
    <PostForm frame={frame} action="/consent">
      <input type="hidden" name="source" value={source} />
      <input type="hidden" name="identifier" value={decisionId} />
      <input type="hidden" name="at" value={localTimeOf(laterOf(at, now), frame.timeZone)} />
      <button class="quiet slim" type="submit" aria-label={`Look up decision ${decisionId}`}>
        Look up
      </button>
    </PostForm>
  );
}

/** The form has minutes only: rounded up, so that the decision had been made by then. */
function laterOf(iso: string, now: number): string {
  return new Date(Math.min(Date.parse(iso) + 60_000, now)).toISOString();
}

/** The first and the last day of a list. */
export function PeriodInputs({
  frame,
  filter,
}: {
  readonly frame: PageFrame;
  readonly filter: { readonly from: string; readonly to: string };
}) {
  const hint = `In ${frame.timeZone}; empty: the last ${AGREEMENT_DAYS} days.`;
  return (
    <>
      <Input id="from" label="First day" type="date" value={filter.from} optional hint={hint} />
      <Input id="to" label="Last day" type="date" value={filter.to} optional />
    </>
  );
}

/** A decision's id, with the name of its source if there are several. */
export function DecisionId({
  frame,
  id,
  source,
  named,
}: {
  readonly frame: PageFrame;
  readonly id: string;
  readonly source: string;
  readonly named: boolean;
}) {
  return (
    <>
      <span class="outside">{id}</span>
      {named ? (
        <>
          <br />
          <span class="soft small">{frame.sourceName(source)}</span>
        </>
      ) : null}
    </>
  );
}
