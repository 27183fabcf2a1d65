import type { ComponentChildren } from 'preact';
import { fill } from '../../../reports/letters/wording.ts';
import type { CaseRow } from '../../cases/fold.ts';
import { requestKinds } from '../../core/vocabulary.ts';
import { jurisdictionChoicesIn } from '../../law/jurisdictions.ts';
import type { ControllerProfile } from '../../law/profile.ts';
import { type Confirmation, codeExpires, type RequestField } from '../../request-form/request-form.ts';
import { CodeInput, Heading, Notice, type Say, SubjectPage } from './subject-page.tsx';

interface FormProps {
  readonly say: Say;
  readonly controller: ControllerProfile;
  /** The id of this form. */
  readonly form: string;
  readonly action: string;
  /** Whether a code is mailed. */
  readonly mails: boolean;
  /** The submitted values. */
  readonly values: Readonly<Record<string, string>>;
  /** The fields to correct; absent: the form is new. */
  readonly wrong?: readonly RequestField[];
}

/** The form for a request. Submitted values are kept if something has to be corrected. */
export function FormPage(props: FormProps) {
  const { say, controller, form, action, mails, values, wrong } = props;
  const t = say.texts.requestForm;
  return (
    <SubjectPage say={say} title={`${t.title} · ${controller.name}`}>
      <Heading controller={controller.name} text={say.fix(t.title)} />
      <p>{say.fix(t.lead)}</p>
      <section>
        {wrong === undefined ? null : <Notice bad text={say.fix(t.again)} />}
        <form method="post" action={action} noValidate>
          <input type="hidden" name="form" value={form} />
          <KindChoice {...props} />
          <TextField {...props} field="name" autocomplete="name" maxLength={300} />
          <TextField
            {...props}
            field="email"
            autocomplete="email"
            maxLength={254}
            {...(mails ? { hint: t.emailHint } : {})}
          />
          <Labelled say={say} wrong={wrong} field="place" label={t.place} hint={t.placeHint} optional>
            <select {...described('place', wrong)}>
              <option value="">{t.placeOpen}</option>
              {jurisdictionChoicesIn(say.language).map(({ code, name }) => (
                <option key={code} value={code} selected={values['place'] === code}>
                  {name}
                </option>
              ))}
            </select>
          </Labelled>
          <Labelled say={say} wrong={wrong} field="message" label={t.message} hint={t.messageHint} optional>
            <textarea {...described('message', wrong)} maxLength={4000}>
              {`\n${values['message'] ?? ''}`}
            </textarea>
          </Labelled>
          <TextField {...props} field="subject" autocomplete="off" maxLength={300} hint={t.subjectHint} optional />
          <div class="trap" aria-hidden="true">
            <label for="website">{t.trap}</label>
            <input id="website" name="website" type="text" tabIndex={-1} autocomplete="off" />
          </div>
          <button type="submit">{t.send}</button>
        </form>
      </section>
      <p class="hint">{say.fix(t.use)}</p>
      <Contact controller={controller} />
    </SubjectPage>
  );
}

function KindChoice({ say, values, wrong }: FormProps) {
  const t = say.texts.requestForm;
  const isWrong = wrong?.includes('kind') === true;
  return (
    <fieldset {...(isWrong ? { 'aria-describedby': 'kind-wrong' } : {})}>
      <legend>{say.fix(t.kind)}</legend>
      {isWrong ? (
        <p class="wrong" id="kind-wrong">
          {say.fix(t.wrong.kind)}
        </p>
      ) : null}
      {requestKinds.map((kind) => (
        <label key={kind}>
          <input type="radio" name="kind" value={kind} checked={values['kind'] === kind} required />{' '}
          {say.fix(t.kinds[kind])}
        </label>
      ))}
    </fieldset>
  );
}

interface FieldProps {
  readonly say: Say;
  readonly wrong?: readonly RequestField[] | undefined;
  readonly field: Exclude<RequestField, 'kind'>;
  readonly hint?: string;
  readonly optional?: boolean;
}

function TextField({
  values,
  autocomplete,
  maxLength,
  ...field
}: FieldProps & Pick<FormProps, 'values'> & { readonly autocomplete: string; readonly maxLength: number }) {
  const { field: name, say, wrong, optional = false } = field;
  const input = { ...described(name, wrong), value: values[name] ?? '', autocomplete, maxLength, required: !optional };
  return (
    <Labelled {...field} label={say.texts.requestForm[name]}>
      {name === 'email' ? (
        <input {...input} type="text" inputMode="email" autocapitalize="none" />
      ) : (
        <input {...input} type="text" />
      )}
    </Labelled>
  );
}

/** A field with its label, and below it a hint and the problem. */
function Labelled({
  say,
  wrong = [],
  field,
  label,
  hint,
  optional = false,
  children,
}: FieldProps & { readonly label: string; readonly children: ComponentChildren }) {
  const t = say.texts.requestForm;
  return (
    <>
      <label for={field}>
        {say.fix(label)}
        {optional ? <span class="soft"> ({t.optional})</span> : null}
      </label>
      <div id={`${field}-hint`}>
        {hint === undefined ? null : <p class="hint">{say.fix(hint)}</p>}
        {wrong.includes(field) ? <p class="wrong">{say.fix(t.wrong[field])}</p> : null}
      </div>
      {children}
    </>
  );
}

function described(field: RequestField, wrong: readonly RequestField[] = []) {
  return {
    id: field,
    name: field,
    'aria-describedby': `${field}-hint`,
    ...(wrong.includes(field) ? { 'aria-invalid': 'true' as const } : {}),
  };
}

/** Other ways to write to the controller. */
function Contact({ controller: { address, email, phone } }: Pick<FormProps, 'controller'>) {
  const lines = [...address, email, phone].filter((line) => line !== null);
  return lines.length === 0 ? null : (
    <address>
      {lines.map((line) => (
        <div key={line}>
          <bdi>{line}</bdi>
        </div>
      ))}
    </address>
  );
}

interface ReceivedProps {
  readonly say: Say;
  readonly controller: ControllerProfile;
  readonly row: CaseRow;
  /** YYYY-MM-DD; null: no law sets one. */
  readonly limit: string | null;
  /** Whether a code is mailed. */
  readonly mails: boolean;
  readonly confirmation: Confirmation;
  /** Set after a wrong code; null: none was entered. */
  readonly attemptsLeft: number | null;
}

/**
 * Confirms that a request was received, states the due date, and accepts the code that confirms the e-mail address.
 * Shows nothing that the requester wrote.
 */
export function ReceivedPage(props: ReceivedProps) {
  const { say, controller, row, limit, mails, confirmation } = props;
  const { requestForm: t, acknowledgement } = say.texts;
  return (
    <SubjectPage say={say} title={`${t.receivedTitle} · ${controller.name}`}>
      <Heading controller={controller.name} text={say.fix(t.receivedTitle)} />
      <section>
        <Notice text={say.fix(fill(t.received, { at: say.moment(row.receipt_at), reference: row.case_id }))} />
        {limit === null || confirmation === 'closed' ? null : (
          <p>{say.fix(fill(acknowledgement.due, { limit: say.date(limit) }))}</p>
        )}
        <p>{say.fix(t.keep)}</p>
      </section>
      {confirmation === 'open' ? mails ? <CodeSection {...props} /> : null : <p>{say.fix(t[confirmation])}</p>}
      <Contact controller={controller} />
    </SubjectPage>
  );
}

function CodeSection({ say, row, attemptsLeft }: ReceivedProps) {
  const { requestForm: t, handOver } = say.texts;
  return (
    <section aria-labelledby="code-heading">
      <h2 id="code-heading">{handOver.code}</h2>
      <p id="code-hint">{say.fix(fill(t.codeLead, { until: say.day(codeExpires(row)) }))}</p>
      {attemptsLeft === null ? null : (
        <Notice bad text={say.fix(fill(handOver.wrongCode, { left: String(attemptsLeft) }))} />
      )}
      <form method="post">
        <CodeInput label={handOver.code} />
        <button type="submit">{t.confirm}</button>
      </form>
      <p class="hint">{say.fix(t.noMail)}</p>
    </section>
  );
}
