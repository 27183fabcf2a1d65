import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { type ComputedCase, computeCase, readDeadlineCase } from '../../law/deadline-case.ts';
import { dateIn } from '../../core/zoned-days.ts';
import { renderPage, Page, type PageFrame } from './layout.tsx';
import { formOf, html, pageFrame } from './frame.ts';
import { partsOf } from '../../law/jurisdictions.ts';
import { requestKinds } from '../../core/vocabulary.ts';
import { Badge, Choice, Day, Facts, Input, LawList, Panel, Problems } from './parts.tsx';
import { placeChoices } from './move-fields.ts';
import { kindText } from './words.ts';

/** The deadline calculator of the officer: a form that is sent in the address, so that an answer can be kept as a link. */
export async function deadlineRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/deadline', async (request, reply) => {
    const form = formOf(request.query);
    const asked = form['received'] !== undefined;
    let problems: readonly string[] = [];
    let computed: ComputedCase | null = null;
    if (asked) {
      const read = readDeadlineCase(caseOf(form));
      if (read.outcome === 'refused') problems = read.problems;
      else computed = computeCase(read.value, context.cases.regimes);
    }
    const shown = asked ? form : { ...(await ownForm()), ...form };
    const frame = pageFrame(context, request, reply);
    const page = <DeadlinePage frame={frame} form={shown} problems={problems} computed={computed} />;
    return html(reply, renderPage(page), problems.length > 0 ? 422 : 200);
  });

  /** The controller of this installation, received today. */
  async function ownForm(): Promise<Readonly<Record<string, string>>> {
    const [source] = context.sources.list();
    const profile = source === undefined ? null : await context.cases.profileOf(source.slug);
    const { timeZone } = context.config;
    return {
      kind: 'access',
      received: dateIn(context.clock().toISOString(), timeZone),
      country: profile?.country ?? '',
      region: profile?.region ?? '',
      timeZone,
    };
  }
}

/** The case that the form describes, in the shape of the calculator; what is empty is left out. */
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
  /** Null: nothing was asked yet, or it was refused. */
  readonly computed: ComputedCase | null;
}

/** Countries whose regions the form proposes: their public holidays differ by region. */
const countriesOfRegions = ['AT', 'AU', 'CA', 'CH', 'DE', 'ES', 'GB', 'US'];

/** The deadline calculator. It records nothing: the question is in the address. */
function DeadlinePage({ frame, form, problems, computed }: DeadlinePageProps) {
  return (
    <Page title="Deadline calculator" frame={frame}>
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
  const countries = placeChoices().filter(([code]) => code.length === 2 && code !== 'EU');
  return (
    <form method="get" action="/deadline">
      <div class="pair">
        <Choice
          id="kind"
          label="Kind of request"
          value={value('kind')}
          options={requestKinds.map((kind) => [kind, kindText(kind)])}
        />
        <Input
          id="received"
          label="Received"
          type="date"
          value={value('received')}
          hint="The day on which it arrived through any channel of the controller."
        />
        <Choice
          id="place"
          label="Where the person is"
          optional
          value={value('place')}
          options={[['', 'unknown'], ...placeChoices(value('place'))]}
        />
        <Choice
          id="country"
          label="Where the controller is established"
          optional
          value={value('country')}
          options={[['', 'unknown'], ...countries]}
        />
        <Input
          id="region"
          label="Region of the controller"
          optional
          maxLength={20}
          value={value('region')}
          list="regions"
          autocomplete="off"
          hint="Needed where public holidays differ by region: a code like DE-BY."
        >
          <datalist id="regions">
            {partsOf(...countriesOfRegions).map(({ code, name }) => (
              <option key={code} value={code}>
                {name}
              </option>
            ))}
          </datalist>
        </Input>
        <Input
          id="timeZone"
          label="Time zone"
          optional
          maxLength={64}
          value={value('timeZone')}
          hint={`Of the controller, for example ${timeZone}.`}
        />
      </div>
      <details open={happened.some(([name]) => value(name) !== '')}>
        <summary>What happened since</summary>
        <div class="pair">
          {happened.map(([name, label]) => (
            <Input key={name} id={name} label={label} optional type="date" value={value(name)} />
          ))}
        </div>
      </details>
      <br />
      <button type="submit">Compute</button>
    </form>
  );
}

/** Days that can move a date under one law or another. */
const happened: readonly (readonly [name: string, label: string])[] = [
  ['noticeAt', 'Notice of an extension sent'],
  ['until', 'New date given in this notice'],
  ['clarificationAsked', 'Clarification requested'],
  ['clarificationReceived', 'Clarification received'],
  ['identityAsked', 'Identity information requested'],
  ['identityReceived', 'Identity information received'],
  ['feeAsked', 'Fee requested'],
  ['feeReceived', 'Fee received'],
];

function Answer({ computed }: { computed: ComputedCase }) {
  const { answer, deadlines, timeZone } = computed;
  return (
    <Panel id="answer" title="Answer by">
      {answer.limit === null ? (
        <p>No deadline: no implemented law requires an answer.</p>
      ) : (
        <Facts
          rows={[
            [
              'Legal limit',
              <>
                <strong>
                  <Day date={answer.limit} />
                </strong>{' '}
                {answer.atOnce ? <Badge text="takes effect immediately" tone="warn" /> : null}
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
