import type { ComponentChildren } from 'preact';
import { formatCount } from '../../../../reports/format.ts';
import { assigneeOf, isAssignedTo, partsOfAssignee } from '../../../cases/assignee.ts';
import { can } from '../../../core/roles.ts';
import { dateText, momentText } from '../../../core/time-words.ts';
import { type Deadlines, isOwnLimit, type LawDeadline } from '../../../law/deadlines.ts';
import { unrecordedText } from '../../../law/not-recorded.ts';
import { PASSWORD_MAX } from '../../../people/passwords.ts';
import type { PageFrame } from './layout.tsx';
import { dueText, type Tone, type Worded } from './words.ts';

/** A time with its machine-readable form. */
export function Moment({ iso, timeZone }: { iso: string; timeZone: string }) {
  return <time dateTime={iso}>{momentText(iso, timeZone)}</time>;
}

/** A banner by name with its id, or by id if it has no name. */
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

/** The number of an entry, leading to its page. */
export function EntryNumber({ seq }: { seq: number }) {
  return <a href={`/entries/${seq}`}>{formatCount(seq)}</a>;
}

/** A short status word. */
export function Badge({ text, tone }: Worded) {
  return <span class={`badge ${tone}`}>{text}</span>;
}

/** A message at the head of a page. `bad` is announced at once by screen readers. */
export function Notice({ tone, id, children }: { tone: Tone; id?: string; children: ComponentChildren }) {
  return (
    <div {...(id === undefined ? {} : { id })} class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** What the submitted form did, if anything. */
export function Done({ text }: { text: string | null }) {
  return text === null ? null : (
    <Notice tone="good">
      <p>{text}</p>
    </Notice>
  );
}

/** Problems with the submitted form, each one sentence. */
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

/** The address of a prepared e-mail to the admins. */
export function mailToAdmins(admins: readonly string[], subject: string, text: string): string {
  const query = new URLSearchParams({ subject: subject.slice(0, 150), body: text }).toString().replaceAll('+', '%20');
  return `mailto:${admins.map(encodeURIComponent).join(',')}?${query}`;
}

/** A text whose commands stand between backticks. */
export function WithCommands({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, place) => (place % 2 === 1 ? <code key={part}>{part}</code> : part))}</>;
}

/** Why something failed. Only admins can run commands: for others, sentences with one give way to asking an admin. */
export function ErrorText({ text, frame }: { readonly text: string; readonly frame: PageFrame }) {
  if (can(frame.role, 'administer')) return <WithCommands text={text} />;
  const sentences = text.split(/(?<=[.)]) (?=\p{Lu})/u);
  const plain = sentences.filter((sentence) => !sentence.includes('`'));
  return <>{[...plain, ...(plain.length < sentences.length ? ['Tell an admin.'] : [])].join(' ')}</>;
}

interface AskAdminProps {
  readonly admins: readonly string[];
  readonly subject: string;
  /** The message to the admins; it may name settings that officers need not know. */
  readonly text: string;
}

/** Asks an admin for something that the reader may not do. */
export function AskAdmin({ admins, subject, text }: AskAdminProps) {
  return (
    <p>
      <a class="button quiet" href={mailToAdmins(admins, subject, text)}>
        Tell an admin
      </a>
    </p>
  );
}

/** Says how mail can be set up. */
export function NoMail({ frame, admins }: { readonly frame: PageFrame; readonly admins: readonly string[] }) {
  return can(frame.role, 'administer') ? (
    <p>
      To send mail, set <code>SMTP_URL</code> and <code>MAIL_FROM</code> on the server, and restart it.
    </p>
  ) : (
    <AskAdmin
      admins={admins}
      subject="Please set up a mail server"
      text="No mail is sent from consent-ledger yet. Please set SMTP_URL and MAIL_FROM on the server (docs/notifications.md), and restart it."
    />
  );
}

/** Who handles a request, as seen by this reader. */
export function Assignee({ assignee, viewer }: { readonly assignee: string | null; readonly viewer: string | null }) {
  if (assignee === null) return <span class="soft">nobody</span>;
  return isAssignedTo(assignee, viewer) ? <strong>you</strong> : <bdi>{partsOfAssignee(assignee).name}</bdi>;
}

/** The reader as the assignee of a request. */
export function ownAssignee({ personId, officer }: Pick<PageFrame, 'personId' | 'officer'>): string {
  return personId === null ? officer : assigneeOf({ personId, name: officer });
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

/** A label, its input, and hints for filling it in. */
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

interface Labelled {
  readonly id: string;
  readonly label: string;
  /** Default: the id. */
  readonly name?: string;
  readonly optional?: boolean;
  readonly hint?: string | undefined;
}

/** An input with its label. Required unless it is optional or set otherwise. */
export function Input({
  id,
  label,
  name = id,
  optional = false,
  hint,
  children,
  type = 'text',
  ...input
}: Labelled & {
  readonly type?: 'text' | 'date' | 'datetime-local' | 'email' | 'file' | 'password';
  readonly value?: string;
  readonly maxLength?: number;
  readonly list?: string;
  readonly autocomplete?: 'off' | 'username' | 'name' | 'current-password' | 'new-password' | 'one-time-code';
  readonly minLength?: number;
  readonly inputMode?: 'numeric';
  readonly accept?: string;
  readonly spellcheck?: boolean;
  readonly required?: boolean;
  readonly children?: ComponentChildren;
}) {
  return (
    <Field id={id} label={label} optional={optional} hint={hint}>
      <input
        id={id}
        name={name}
        // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- which attributes fit is only known from the type
        type={(type === 'email' ? 'text' : type) as 'text'}
        {...(type === 'email' ? emailInput : {})}
        required={!optional}
        {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
        {...input}
      />
      {children}
    </Field>
  );
}

/** Attributes of a field for an e-mail address. Browsers refuse letters outside ASCII in fields of the type email. */
export const emailInput = { type: 'text', inputMode: 'email', autocapitalize: 'none', spellcheck: false } as const;

/** A selection list with its label. */
export function Choice({
  label,
  optional = false,
  hint,
  name,
  ...select
}: Labelled & Omit<Parameters<typeof Select>[0], 'name'>) {
  return (
    <Field id={select.id} label={label} optional={optional} hint={hint}>
      <Select name={name ?? select.id} {...select} />
    </Field>
  );
}

/** Shown instead of something that needs a source: the way to the first one. */
export function NoSources({ frame }: { readonly frame: PageFrame }) {
  return (
    <p>
      No sources yet.{' '}
      {can(frame.role, 'administer') ? (
        <a href="/sources/new">Add the first one</a>
      ) : (
        'An owner or admin adds the first one.'
      )}
    </p>
  );
}

/** Leads to the address that the service has to know before anything can arrive. */
export function WebhookAddress({
  sources,
}: {
  readonly sources: readonly { readonly slug: string; readonly name: string }[];
}) {
  const [first, ...others] = sources;
  return first === undefined || others.length > 0 ? (
    <a href="/sources">webhook address of a source</a>
  ) : (
    <a href={`/sources/${first.slug}#webhook`}>
      webhook address of <bdi>{first.name}</bdi>
    </a>
  );
}

/** Shown instead of a form that needs a source that can be called. */
export function NoCallableSource() {
  return (
    <p>
      No source has an API address and an API key. <a href="/sources">See the sources</a>
    </p>
  );
}

/** Sources to choose from. */
export function sourceOptions(sources: readonly { readonly slug: string; readonly name: string }[]) {
  return sources.map(({ slug, name }) => [slug, name] as const);
}

/** In a choice of sources: all of them. */
export const EVERY_SOURCE = '*';

interface SourceChoiceProps {
  readonly frame: PageFrame;
  readonly sources: readonly { readonly slug: string; readonly name: string }[];
  /** What was chosen before. */
  readonly value?: string | undefined;
  readonly id?: string;
  /** The words for all of them, if that can be chosen. */
  readonly every?: string | undefined;
}

/**
 * The source that a form is about. The only one needs no choice; of several none is chosen for the person, except the one
 * that they work on.
 */
export function SourceChoice({ frame, sources, value = '', id = 'source', every }: SourceChoiceProps) {
  const [only] = sources;
  if (sources.length === 1 && every === undefined) return <input type="hidden" name="source" value={only?.slug} />;
  const current = sources.find(({ slug }) => slug === frame.current)?.slug ?? '';
  const all = every === undefined ? [] : [[EVERY_SOURCE, every] as const];
  const options = [['', 'Choose …'] as const, ...all, ...sourceOptions(sources)];
  return <Choice id={id} name="source" label="Source" value={value || current} options={options} required />;
}

/** Shown by a page about one of several sources until one is chosen. */
export function SourceToChoose({ action, sources, value }: SourceToChooseProps) {
  if (sources.length < 2) return null;
  return (
    <form method="get" action={action} class="filter">
      <label for="of">Source</label>
      <Select id="of" name="source" value={value} options={[['', 'Choose …'], ...sourceOptions(sources)]} required />
      <button type="submit" class="quiet slim">
        Show
      </button>
    </form>
  );
}

interface SourceToChooseProps {
  readonly action: string;
  readonly sources: readonly { readonly slug: string; readonly name: string }[];
  /** Empty: none yet. */
  readonly value: string;
}

/** The line above a list that narrows it, with what is active below, each to be removed with one click. */
export function FilterForm({ action, chips = [], children }: FilterFormProps) {
  return (
    <search id="filter">
      <form method="get" action={action} class="filters">
        {children}
        <button type="submit" class="quiet">
          Show
        </button>
      </form>
      {chips.length === 0 ? null : (
        <ul class="chips">
          {chips.map(({ text, href }) => (
            <li key={href}>
              <a href={href}>
                <bdi>{text}</bdi> <span aria-hidden="true">✕</span>
                <span class="unseen">remove</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}

interface FilterFormProps {
  readonly action: string;
  readonly chips?: readonly Chip[];
  readonly children: ComponentChildren;
}

/** An active part of a filter in words, and the address of the list without it. */
interface Chip {
  readonly text: string;
  readonly href: string;
}

/** The active parts of a filter. `words`: what a part is called, by its field; other fields are no parts. */
export function chipsOf(
  action: string,
  filter: Readonly<Record<string, string>>,
  words: Readonly<Record<string, (value: string) => string>>,
): readonly Chip[] {
  return Object.entries(words).flatMap(([name, inWords]) => {
    const value = filter[name] ?? '';
    if (value === '') return [];
    const others = Object.entries(filter).filter(([other, one]) => other !== name && one !== '');
    const query = new URLSearchParams(others).toString();
    return { text: inWords(value), href: query === '' ? action : `${action}?${query}` };
  });
}

/** Narrows a list to one source; empty if there is only one. To see all, a person works on all (the header). */
export function SourceFilter({ frame, sources, value }: SourceFilterProps) {
  const isListed = value === '' || sources.some(({ slug }) => slug === value);
  if (sources.length < 2 && isListed) return null;
  // An offboarded source is not listed, but links lead to its evidence.
  const options = [...sourceOptions(sources), ...(isListed ? [] : [[value, value] as const])];
  const all = frame.current === null ? [['', 'All sources'] as const] : [];
  return <Choice id="source" label="Source" value={value} options={[...all, ...options]} />;
}

interface SourceFilterProps {
  readonly frame: PageFrame;
  readonly sources: readonly { readonly slug: string; readonly name: string }[];
  readonly value: string;
}

/** Terms with their values; a null value is left out. */
export function Facts({
  rows,
}: {
  rows: readonly (readonly [term: ComponentChildren, value: ComponentChildren] | null)[];
}) {
  return (
    <dl class="facts">
      {rows.map((row) =>
        row === null ? null : (
          <>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </>
        ),
      )}
    </dl>
  );
}

export interface Column<T> {
  readonly title: string;
  /** Used on narrow screens, if it differs from the title. */
  readonly label?: string;
  readonly isNumber?: boolean;
  /** Null: the cell is empty. */
  readonly cell: (row: T) => ComponentChildren;
}

/** A table whose first column names the row; on narrow screens each row becomes a block. */
export function Table<T>({
  caption,
  columns,
  rows,
}: {
  caption: string | null;
  columns: readonly Column<T>[];
  rows: readonly T[];
}) {
  const classOf = ({ isNumber = false }: Column<T>) => (isNumber ? { class: 'number' } : {});
  const [first, ...others] = columns;
  return (
    <table class="stacks" role="table">
      {caption === null ? null : <caption>{caption}</caption>}
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.title} scope="col" role="columnheader" {...classOf(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, place) => (
          <tr role="row" key={place}>
            <th scope="row" role="rowheader">
              {first?.cell(row)}
            </th>
            {others.map((column) => {
              const shown = column.cell(row);
              const label = shown === null ? {} : { 'data-label': column.label ?? column.title };
              return (
                <td key={column.title} role="cell" {...label} {...classOf(column)}>
                  {shown}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface DayBarsProps {
  readonly what: string;
  /** `href`: the list of what a series counts. */
  readonly series: readonly { readonly name: string; readonly tone: Tone; readonly href?: string }[];
  /** `values`: one per series. */
  readonly days: readonly { readonly day: string; readonly values: readonly number[] }[];
}

/** A stacked bar for each day; its content is also given in words. */
export function DayBars({ what, series, days }: DayBarsProps) {
  const sums = days.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const most = Math.max(1, ...sums);
  const totals = series.map(
    ({ name }, place) => `${formatCount(days.reduce((sum, { values }) => sum + (values[place] ?? 0), 0))} ${name}`,
  );
  return (
    <figure class="bars">
      <figcaption>
        {what}:{' '}
        {series.map(({ name, tone, href }, place) => (
          <span key={name}>
            {place === 0 ? '' : ', '}
            <span class={`key ${tone}`} aria-hidden="true" />{' '}
            {href === undefined ? totals[place] : <a href={href}>{totals[place]}</a>}
          </span>
        ))}
        . Most in a day: {formatCount(Math.max(0, ...sums))}.
      </figcaption>
      <svg viewBox={`0 0 ${days.length * 10} 100`} preserveAspectRatio="none" role="img" aria-label={what}>
        {days.map(({ day, values }, place) => {
          let top = 100;
          return values.map((value, of) => {
            const height = (value / most) * 100;
            top -= height;
            return value === 0 ? null : (
              <rect
                key={`${day} ${of}`}
                class={series[of]?.tone ?? 'calm'}
                x={place * 10 + 1}
                y={top.toFixed(2)}
                width={8}
                height={height.toFixed(2)}
              >
                <title>{`${dateText(day)}: ${formatCount(value)} ${series[of]?.name ?? ''}`}</title>
              </rect>
            );
          });
        })}
      </svg>
      <p class="ends small soft">
        <Day date={days[0]?.day ?? null} />
        <Day date={days.at(-1)?.day ?? null} />
      </p>
    </figure>
  );
}

/** A policy text as its readers saw it, without markup. */
export function TextLines({ lines }: { lines: readonly string[] }) {
  return (
    <div class="sheet">
      {lines.map((line, place) => (
        <p key={place}>{line.startsWith('#') ? <strong>{line.replace(/^#+ */, '')}</strong> : line}</p>
      ))}
    </div>
  );
}

/** Links through a list longer than a page; null: there is no such page. */
export function Pages({ first, next }: { first: string | null; next: string | null }) {
  if (first === null && next === null) return null;
  return (
    <p class="pages">
      {first === null ? null : <a href={first}>First page</a>}
      {next === null ? null : (
        <a href={next} rel="next">
          Next page
        </a>
      )}
    </p>
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

/** What marks a date that follows a rule which the installation wrote. */
export const OWN_RULE = 'own rule of this installation';

/**
 * The legal limit of a request, how near it is, whether it is the installation’s own, and which laws were not looked at.
 */
export function LegalLimit({ view }: { view: Parameters<typeof dueText>[0] }) {
  const { limit, ownTarget } = view.deadline;
  const caveat = limit === null || !view.open ? null : unrecordedText(view.deadline);
  return (
    <>
      <Day date={limit} /> <Badge {...dueText(view)} />
      {caveat === null ? null : (
        <>
          {' '}
          <Badge text={caveat} tone="bad" />
        </>
      )}
      {ownTarget === null ? null : <OwnTarget date={ownTarget} />}
      {isOwnLimit(view.deadline) ? (
        <>
          {' '}
          <Badge text={OWN_RULE} tone="warn" />
        </>
      ) : null}
    </>
  );
}

/** The controller’s own target, which no law sets. */
export function OwnTarget({ date }: { date: string }) {
  return (
    <span class="soft small">
      {' '}
      your own target: <Day date={date} />
    </span>
  );
}

const whyTexts = {
  establishment: 'the controller is established there',
  place: 'the requester is there',
  both: 'the controller is established there, and the requester is there',
} as const;

/** Every applicable law with its own computation, and the deciding one. */
export function LawList({ deadline }: { deadline: Deadlines }) {
  return (
    <>
      {deadline.laws.map((law) => (
        <div key={law.id}>
          <h3>
            {law.name}: <Day date={law.limit} />{' '}
            {law.id === deadline.law && deadline.laws.length > 1 ? <Badge text="decides" tone="good" /> : null}{' '}
            {law.row.isOwn === true ? <Badge text={OWN_RULE} tone="warn" /> : null}{' '}
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

/** Asks for the password again before changes that a hijacked session must not make. */
export function PresentPassword({ id = 'present', hint }: { id?: string; hint?: string }) {
  return (
    <Input
      id={id}
      name="present"
      label="Current password"
      type="password"
      maxLength={PASSWORD_MAX * 4}
      autocomplete="current-password"
      {...(hint === undefined ? {} : { hint, required: false })}
    />
  );
}
