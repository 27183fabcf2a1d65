import { contentsOfPack } from '../../../reports/dsar-pack/described.ts';
import { fill, rightNames } from '../../../reports/letters/wording.ts';
import type { ThreadMessage } from '../../cases/messages.ts';
import type { messageKinds } from '../../cases/moves.ts';
import type { RequestKind } from '../../core/vocabulary.ts';
import { namesInPack } from '../../hand-over/given-files.ts';
import type { HandOverRow } from '../../hand-over/hand-over.ts';
import { MESSAGE_LENGTH } from '../../hand-over/visit.ts';
import { Csrf } from '../pages/parts/layout.tsx';
import { CodeInput, Heading, Notice, type Say, SubjectPage } from './subject-page.tsx';

interface CodeProps {
  readonly say: Say;
  readonly controller: string;
  readonly csrf: string;
  /** Set after a wrong code; null: none was entered. */
  readonly attemptsLeft: number | null;
}

/** Asks for the code. Reveals nothing about the request yet. */
export function CodePage({ say, controller, csrf, attemptsLeft }: CodeProps) {
  const t = say.texts.handOver;
  return (
    <SubjectPage say={say} title={`${t.title} · ${controller}`}>
      <Heading controller={controller} text={t.title} />
      <section>
        {attemptsLeft === null ? null : (
          <Notice bad text={say.fix(fill(t.wrongCode, { left: String(attemptsLeft) }))} />
        )}
        <form method="post">
          <Csrf token={csrf} />
          <p id="code-hint">{t.enterCode}</p>
          <CodeInput label={t.code} />
          <button type="submit" name="do" value="code">
            {t.open}
          </button>
        </form>
      </section>
    </SubjectPage>
  );
}

type MessageKind = (typeof messageKinds)[number];

interface PackProps {
  readonly say: Say;
  readonly controller: string;
  readonly csrf: string;
  readonly handOver: HandOverRow;
  readonly token: string;
  /** Every right of the request. */
  readonly kinds: readonly RequestKind[];
  /** ISO 8601 UTC. */
  readonly receivedAt: string;
  readonly bytes: number;
  /** Files handed over with the pack. */
  readonly files: readonly {
    readonly documentId: string;
    readonly name: string;
    readonly sha256: string;
    readonly bytes: number;
  }[];
  /** Where the log's verifier key is published; null: the public address is unknown. */
  readonly keyAddress: string | null;
  /** What was written so far, oldest first. */
  readonly messages: readonly ThreadMessage[];
  readonly problem?: 'empty' | 'tooMany';
  /** A refused message, to be corrected. */
  readonly written?: { readonly about: MessageKind; readonly text: string };
}

/** The content of the pack, its download, how to check it, and a form for a question or objection. */
export function PackPage(props: PackProps) {
  const { say, controller, csrf, handOver, token, kinds, receivedAt, bytes } = props;
  const { texts, fix } = say;
  const t = texts.handOver;
  const name = rightNames(texts, kinds, say.locale);
  return (
    <SubjectPage say={say} title={`${t.title} · ${controller}`}>
      <Heading controller={controller} text={t.title} />
      <p>
        {fix(fill(t.received, { received: say.day(receivedAt), kind: name }))}
        <br />
        {fix(fill(texts.frame.reference, { reference: handOver.case_id }))}
      </p>
      <section aria-labelledby="contents">
        <h2 id="contents">{t.contents}</h2>
        <ul>
          {contentsOfPack(texts, namesInPack(handOver)).map((text) => (
            <li key={text}>{fix(text)}</li>
          ))}
        </ul>
        <p>
          <a class="button" href={`${token}/pack`} download>
            {fix(fill(t.download, { size: sizeIn(say.locale, bytes) }))}
          </a>
        </p>
        <p>{fix(fill(t.until, { until: say.moment(handOver.expires_at) }))}</p>
      </section>
      <FilesSection {...props} />
      <CheckSection {...props} />
      <WriteSection {...props} />
      <form method="post">
        <Csrf token={csrf} />
        <button type="submit" name="do" value="leave" class="quiet">
          {t.leave}
        </button>
      </form>
    </SubjectPage>
  );
}

/** Files that the officer added to the answer, each with its hash. */
function FilesSection({ say, token, files }: PackProps) {
  const t = say.texts.handOver;
  if (files.length === 0) return null;
  return (
    <section aria-labelledby="files">
      <h2 id="files">{t.files}</h2>
      <ul>
        {files.map(({ documentId, name, sha256, bytes }) => (
          <li key={documentId}>
            <a href={`${token}/files/${documentId}`} download>
              <bdi>{name}</bdi>
            </a>{' '}
            ({sizeIn(say.locale, bytes)})
            <br />
            {say.fix(t.fileChecksum)} <code>{sha256}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

function CheckSection({ say, handOver, keyAddress }: PackProps) {
  const t = say.texts.handOver;
  const steps = keyAddress === null ? t.checkSteps.slice(0, -1) : t.checkSteps;
  return (
    <section aria-labelledby="check">
      <h2 id="check">{t.check}</h2>
      <ol>
        {steps.map((step) => (
          <li key={step}>{say.fix(fill(step, { key: keyAddress ?? '' }))}</li>
        ))}
      </ol>
      <p>
        {say.fix(t.checksum)}
        <br />
        <code>{handOver.sha256}</code>
      </p>
    </section>
  );
}

function WriteSection({ say, csrf, controller, messages, problem, written }: PackProps) {
  const { handOver: t, messages: words } = say.texts;
  const isAnswered = messages.some(({ move }) => move === 'reply');
  const chosen = written?.about ?? (isAnswered ? 'reply' : 'question');
  const choice = (about: MessageKind, label: string) => (
    <label>
      <input type="radio" name="about" value={about} checked={chosen === about} /> {label}
    </label>
  );
  return (
    <section aria-labelledby="write">
      <h2 id="write">{t.write}</h2>
      {messages.map(({ seq, move, at, text }) => (
        <div key={seq} class={move === 'reply' ? 'message notice' : 'message'}>
          <p class="soft">
            {say.fix(fill(move === 'reply' ? words.replied : t.sent, { at: say.moment(at), controller }))}
          </p>
          <p class="written">
            <bdi>{text}</bdi>
          </p>
        </div>
      ))}
      {problem === undefined ? null : <Notice bad text={say.fix(t[problem])} />}
      <p>{say.fix(t.writeLead)}</p>
      <form method="post">
        <Csrf token={csrf} />
        <fieldset>
          {choice('question', t.question)}
          {choice('objection', t.objection)}
          {isAnswered ? choice('reply', words.answering) : null}
        </fieldset>
        <label for="text">{t.message}</label>
        <textarea id="text" name="text" required maxLength={MESSAGE_LENGTH}>
          {`\n${written?.text ?? ''}`}
        </textarea>
        <button type="submit" name="do" value="message">
          {t.send}
        </button>
      </form>
    </section>
  );
}

function sizeIn(locale: string, bytes: number): string {
  const [value, unit] =
    bytes < 1000
      ? [bytes, 'byte']
      : bytes < 1_000_000
        ? [Math.max(1, Math.round(bytes / 1000)), 'kilobyte']
        : [bytes / 1_000_000, 'megabyte'];
  return new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: 1 }).format(value);
}
