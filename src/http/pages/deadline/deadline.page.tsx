import { requestKinds } from '../../../core/vocabulary.ts';
import { dateIn } from '../../../core/zoned-days.ts';
import { type ComputedCase, computeCase, readDeadlineCase } from '../../../law/deadline-calculator.ts';
import { partsOf } from '../../../law/jurisdictions.ts';
import { datelessText, unrecordedText } from '../../../law/not-recorded.ts';
import { pagesWith, type Visit } from '../parts/define-page.ts';
import { FieldInput, type FormField, placeChoices } from '../parts/fields.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { Badge, Day, Facts, LawList, Panel, Problems } from '../parts/parts.tsx';
import { kindText } from '../parts/words.ts';

const { page } = pagesWith<'cases' | 'config' | 'clock'>();

/** The officers' deadline calculator: the form is sent in the address, so that a result can be kept as a link. */
const calculator = page({
  path: '/deadline',
  rule: { who: 'read', source: 'installation' },
  async load(visit) {
    const { context, typed } = visit;
    if (typed['received'] === undefined)
      return { form: { ...(await ownForm(visit)), ...typed }, problems: [], computed: null };
    const read = readDeadlineCase(caseOf(typed));
    return read.outcome === 'refused'
      ? { form: typed, problems: read.problems, computed: null }
      : { form: typed, problems: [], computed: computeCase(read.value, context.cases.regimes) };
  },
  show: (data, { frame }) => <DeadlinePage frame={frame} {...data} />,
  status: ({ problems }) => (problems.length > 0 ? 422 : 200),
});

export const routes = [calculator];

/** The initial form: this installation's controller, received today. */
async function ownForm({
  context: { cases, clock, config },
  permitted,
}: Visit<'cases' | 'config' | 'clock'>): Promise<Readonly<Record<string, string>>> {
  const [source] = permitted.list();
  const profile = source === undefined ? null : await cases.profileOf(source.slug);
  const { timeZone } = config;
  return {
    kind: 'access',
    received: dateIn(clock().toISOString(), timeZone),
    country: profile?.country ?? '',
    region: profile?.region ?? '',
    timeZone,
  };
}

/** The case in the form, as input of the calculator; empty fields are left out. */
function caseOf(form: Readonly<Record<string, string>>): unknown {
  const text = (name: string) => form[name]?.trim() || null;
  const pair = (asked: string, received: string) =>
    text(asked) === null && text(received) === null ? null : { askedAt: text(asked), receivedAt: text(received) };
  const clarification = pair('clarificationAsked', 'clarificationReceived');
  return {
    kind: text('kind'),
    received: text('received') ?? '',
    place: text('place'),
    controller: { country: text('country'), region: text('region'), timeZone: text('timeZone') },
    extension: text('noticeAt') === null ? null : { noticeAt: text('noticeAt'), until: text('until') },
    clarifications: clarification === null ? null : [clarification],
    identity: pair('identityAsked', 'identityReceived'),
    fee: pair('feeAsked', 'feeReceived'),
  };
}

interface DeadlinePageProps {
  readonly frame: PageFrame;
  readonly form: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
  /** Null: nothing has been entered yet, or the input was refused. */
  readonly computed: ComputedCase | null;
}

/** Countries whose regions the form suggests: their public holidays differ by region. */
const countriesOfRegions = ['AT', 'AU', 'CA', 'CH', 'DE', 'ES', 'GB', 'US'];

/** The deadline calculator. It records nothing: the input is in the address. */
function DeadlinePage({ frame, form, problems, computed }: DeadlinePageProps) {
  return (
    <Page title="Deadline calculator" frame={frame} current="deadline">
      <h1>Deadline calculator</h1>
      <p class="lead">
        When a request must be answered, under every applicable law. Nothing is recorded here; the dates of a case are
        shown with the case.
      </p>
      <Problems title="The deadline could not be calculated:" problems={problems} />
      {computed === null ? null : <Answer computed={computed} />}
      <Panel id="case" title="The case">
        <CaseForm form={form} timeZone={frame.timeZone} />
      </Panel>
    </Page>
  );
}

function CaseForm({ form, timeZone }: { form: Readonly<Record<string, string>>; timeZone: string }) {
  const value = (name: string) => form[name] ?? '';
  const input = (field: FormField) => (
    <FieldInput key={field.name} field={field} value={value(field.name)} timeZone={timeZone} />
  );
  return (
    <form method="get" action="/deadline">
      <div class="pair">{caseFields(value('place'), timeZone).map(input)}</div>
      <details open={happened.some(({ name }) => value(name) !== '')}>
        <summary>Events since then</summary>
        <div class="pair">{happened.map(input)}</div>
      </details>
      <br />
      <button type="submit">Compute</button>
    </form>
  );
}

function field(name: string, label: string, more: Partial<FormField> = {}): FormField {
  return { name, label, hint: null, type: 'line', required: false, choices: [], ...more };
}

/** Who requested what, when and from whom. */
function caseFields(place: string, timeZone: string): readonly FormField[] {
  const countries = placeChoices().filter(([code]) => code.length === 2 && code !== 'EU');
  return [
    field('kind', 'Kind of request', {
      type: 'choice',
      required: true,
      choices: requestKinds.map((kind) => [kind, kindText(kind)]),
    }),
    field('received', 'Received', {
      type: 'date',
      required: true,
      hint: 'The day on which it arrived through any channel of the controller.',
    }),
    field('place', 'Where the person is', { type: 'choice', choices: [['', 'unknown'], ...placeChoices(place)] }),
    field('country', 'Where the controller is established', {
      type: 'choice',
      choices: [['', 'unknown'], ...countries],
    }),
    field('region', 'Region of the controller', {
      maxLength: 20,
      hint: 'Needed where public holidays differ by region: a code like DE-BY.',
      suggestions: partsOf(...countriesOfRegions).map(({ code, name }) => [code, name]),
    }),
    field('timeZone', 'Time zone', { maxLength: 64, hint: `Of the controller, for example ${timeZone}.` }),
  ];
}

/** Dates that can move a deadline under one law or another. */
const happened: readonly FormField[] = [
  field('noticeAt', 'Notice of an extension sent', { type: 'date' }),
  field('until', 'New date given in this notice', { type: 'date' }),
  field('clarificationAsked', 'Clarification requested', { type: 'date' }),
  field('clarificationReceived', 'Clarification received', { type: 'date' }),
  field('identityAsked', 'Identity information requested', { type: 'date' }),
  field('identityReceived', 'Identity information received', { type: 'date' }),
  field('feeAsked', 'Fee requested', { type: 'date' }),
  field('feeReceived', 'Fee received', { type: 'date' }),
];

function Answer({ computed }: { computed: ComputedCase }) {
  const { answer, deadlines, timeZone } = computed;
  const caveat = unrecordedText(deadlines);
  return (
    <Panel id="answer" title="Answer by">
      {answer.limit === null ? (
        <p>
          <Badge text={datelessText(deadlines) ?? ''} tone="bad" />
        </p>
      ) : (
        <Facts
          rows={[
            [
              'Legal limit',
              <>
                <strong>
                  <Day date={answer.limit} />
                </strong>{' '}
                {answer.atOnce ? <Badge text="takes effect immediately" tone="warn" /> : null}{' '}
                {caveat === null ? null : <Badge text={caveat} tone="bad" />}
              </>,
            ],
            answer.aimFor === null || answer.atOnce ? null : ['Aim for', <Day date={answer.aimFor} />],
            answer.warnOn === null
              ? null
              : [
                  'Finish by',
                  <>
                    <Day date={answer.warnOn} /> <span class="soft">(the last working day before the limit)</span>
                  </>,
                ],
            answer.acknowledgeBy === null ? null : ['Confirm receipt by', <Day date={answer.acknowledgeBy} />],
          ]}
        />
      )}
      <LawList deadline={deadlines} />
      {deadlines.says.length === 0 ? null : (
        <ul class="plain">
          {deadlines.says.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <p class="hint">
        Days are counted in {timeZone}
        {computed.timeZoneBasis === 'UTC' ? ' because the controller’s country does not determine a zone' : ''}. This is
        a calculation, not legal advice.
      </p>
    </Panel>
  );
}
