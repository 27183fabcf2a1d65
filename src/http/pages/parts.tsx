import type { ComponentChildren } from 'preact';
import { dateText, momentText, type Tone, type Worded } from './words.ts';
import type { Deadlines, LawDeadline } from '../../law/deadlines.ts';

/** A moment with its machine-readable form. */
export function Moment({ iso, timeZone }: { iso: string; timeZone: string }) {
  return <time dateTime={iso}>{momentText(iso, timeZone)}</time>;
}

/** A banner by its name, with its id beside; by its id where it has no name. */
export function BannerName({ id, names }: { id: string; names: ReadonlyMap<string, string> | undefined }) {
  const name = names?.get(id);
  return name === undefined ? (
    <span>{id}</span>
  ) : (
    <span>
      <bdi>{name}</bdi> <span class="soft small">{id}</span>
    </span>
  );
}

/** A date, YYYY-MM-DD. */
export function Day({ date }: { date: string | null }) {
  if (date === null) return <span>no date</span>;
  return <time dateTime={date}>{dateText(date)}</time>;
}

/** A short word that says how something stands. */
export function Badge({ text, tone }: Worded) {
  return <span class={`badge ${tone}`}>{text}</span>;
}

/** A message at the head of a page. `bad` is announced at once. */
export function Notice({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** Problems of what was sent, each one sentence. */
export function Problems({ title, problems }: { title: string; problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <Notice tone="bad">
      <strong>{title}</strong>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </Notice>
  );
}

/** A section with its heading. */
export function Panel({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** A label, its input, and what helps to fill it in. */
export function Field({
  id,
  label,
  optional,
  hint,
  children,
}: {
  id: string;
  label: string;
  optional?: boolean;
  hint?: string | undefined;
  children: ComponentChildren;
}) {
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional ? <span class="optional"> (optional)</span> : null}
      </label>
      {children}
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A list to choose from. */
export function Select({
  id,
  name,
  value,
  options,
  required,
}: {
  id: string;
  name: string;
  value?: string | undefined;
  options: readonly (readonly [value: string, text: string])[];
  required?: boolean;
}) {
  return (
    <select id={id} name={name} required={required ?? false}>
      {options.map(([one, text]) => (
        <option key={one} value={one} selected={one === value}>
          {text}
        </option>
      ))}
    </select>
  );
}

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
