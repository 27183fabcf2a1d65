import type { ComponentChildren } from 'preact';
import { fill } from '../../../reports/letters/letter.ts';
import { letterLanguages } from '../../../reports/letters/languages.ts';
import type { LetterTexts } from '../../../reports/letters/texts.ts';
import { isRequestKind } from '../../cases/fold.ts';
import type { messageKinds } from '../../cases/moves.ts';
import { sha256 } from '../../crypto/hash.ts';
import type { HandOverRow } from '../../hand-over/hand-over.ts';
import { MESSAGE_LENGTH } from '../../hand-over/visit.ts';
import { Csrf } from '../pages/layout.tsx';

/** What a page says in its language. */
export interface Say {
  /** A key of letterLanguages. */
  readonly language: string;
  readonly locale: string;
  readonly texts: LetterTexts;
  /** Puts the spaces and elisions of the language right. */
  fix(text: string): string;
  /** Date and time in the controller's time zone. */
  moment(iso: string): string;
  day(iso: string): string;
}

/** In the page itself, named by its hash in the Content-Security-Policy: one answer is the whole page. */
const style = `
:root { --ink: #1b2430; --soft: #556070; --line: #d9dfe7; --paper: #fff; --ground: #f4f6f9; --accent: #14527d; --on-accent: #fff; --bad: #9c1c1c; --bad-ground: #fdecea; --good: #1c5e36; --good-ground: #e6f4ea; --edge: #7d8896; color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e4e9f0; --soft: #a6b1bf; --line: #333d49; --paper: #1b222b; --ground: #12171d; --accent: #86bfea; --on-accent: #0b1a26; --bad: #ffb3ab; --bad-ground: #43201e; --good: #9ad7ad; --good-ground: #1b3826; --edge: #8895a5; } }
* { box-sizing: border-box; }
html { font: 17px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: var(--ink); background: var(--ground); }
body { margin: 0; }
main, footer { max-width: 42rem; margin: 0 auto; padding: 1.5rem 1.1rem; overflow-wrap: anywhere; }
footer { padding-top: 0; color: var(--soft); font-size: 0.9rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 0.5rem; }
h2 { font-size: 1.15rem; margin: 0 0 0.6rem; }
p { margin: 0 0 0.75rem; }
.from { color: var(--soft); margin-bottom: 0.25rem; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 1.1rem; margin: 1.25rem 0; }
section > :last-child, form > :last-child { margin-bottom: 0; }
ul, ol { margin: 0 0 0.75rem; padding-left: 1.3rem; }
li { margin-bottom: 0.3rem; }
code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 0.85rem; overflow-wrap: anywhere; }
label, legend { display: block; font-weight: 600; margin-bottom: 0.25rem; padding: 0; }
fieldset { border: 0; padding: 0; margin: 0 0 0.75rem; }
fieldset label { font-weight: 400; display: flex; gap: 0.5rem; align-items: baseline; padding: 0.3rem 0; }
input[type=text], textarea { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--edge); border-radius: 6px; padding: 0.55rem 0.7rem; width: 100%; margin-bottom: 0.9rem; }
input[type=text] { max-width: 14rem; font-size: 1.35rem; letter-spacing: 0.15em; display: block; }
textarea { min-height: 8rem; resize: vertical; }
button, .button { font: inherit; font-weight: 600; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); border-radius: 6px; padding: 0.6rem 1.3rem; cursor: pointer; display: inline-block; text-decoration: none; }
button.quiet { background: transparent; color: var(--accent); }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.notice { border-left: 5px solid var(--good); background: var(--good-ground); border-radius: 0 6px 6px 0; padding: 0.6rem 0.9rem; }
.notice.bad { border-color: var(--bad); background: var(--bad-ground); }
.languages { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; list-style: none; padding: 0; }
@media print { form, footer, .button { display: none; } html, body, section { background: #fff; border: 0; } }
`.trim();

/** The source of the one style that the page may have (CSP, `style-src`). */
export const portalStyleHash = `'sha256-${sha256(style).toString('base64')}'`;

function PortalPage({ say, title, children }: { say: Say; title: string; children: ComponentChildren }) {
  const { languages } = say.texts.handOver;
  return (
    <html lang={say.locale}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow, noarchive" />
        <meta name="referrer" content="no-referrer" />
        <title>{title}</title>
        <link rel="icon" href="data:," />
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <main>{children}</main>
        <footer>
          <nav aria-label={languages}>
            <ul class="languages">
              {Object.entries(letterLanguages).map(([code, { name }]) => (
                <li key={code}>
                  <a
                    href={`?language=${code}`}
                    lang={code}
                    hreflang={code}
                    {...(code === say.language ? { 'aria-current': 'true' as const } : {})}
                  >
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        </footer>
      </body>
    </html>
  );
}

function Notice({ bad = false, text }: { bad?: boolean; text: string }) {
  return (
    <p class={bad ? 'notice bad' : 'notice'} role={bad ? 'alert' : 'status'}>
      {text}
    </p>
  );
}

/** What went wrong, or that there is nothing here: the same for every link that opens nothing. */
export function MessagePage({ say, title, text }: { say: Say; title: string; text: string }) {
  return (
    <PortalPage say={say} title={title}>
      <h1>{title}</h1>
      <p>{say.fix(text)}</p>
    </PortalPage>
  );
}

interface CodeProps {
  readonly say: Say;
  readonly controller: string;
  readonly csrf: string;
  /** After a wrong code; null: none was entered. */
  readonly attemptsLeft: number | null;
}

/** Asks for the code. Says nothing of the request yet. */
export function CodePage({ say, controller, csrf, attemptsLeft }: CodeProps) {
  const t = say.texts.handOver;
  return (
    <PortalPage say={say} title={`${t.title} · ${controller}`}>
      <p class="from">
        <bdi>{controller}</bdi>
      </p>
      <h1>{t.title}</h1>
      <section>
        {attemptsLeft === null ? null : (
          <Notice bad text={say.fix(fill(t.wrongCode, { left: String(attemptsLeft) }))} />
        )}
        <form method="post">
          <Csrf token={csrf} />
          <p id="code-hint">{t.enterCode}</p>
          <label for="code">{t.code}</label>
          <input
            id="code"
            name="code"
            type="text"
            inputMode="numeric"
            autocomplete="one-time-code"
            required
            maxLength={20}
            aria-describedby="code-hint"
          />
          <button type="submit" name="do" value="code">
            {t.open}
          </button>
        </form>
      </section>
    </PortalPage>
  );
}

type MessageKind = (typeof messageKinds)[number];

interface PackProps {
  readonly say: Say;
  readonly controller: string;
  readonly csrf: string;
  readonly handOver: HandOverRow;
  readonly token: string;
  readonly kind: string;
  /** ISO 8601 UTC. */
  readonly receivedAt: string;
  readonly bytes: number;
  /** Where the log's verifier key is published; null: the public address is not known. */
  readonly keyAddress: string | null;
  /** When the messages of the data subject arrived. */
  readonly messages: readonly string[];
  readonly problem?: 'empty' | 'tooMany';
  /** A message that was refused, to be corrected. */
  readonly written?: { readonly about: MessageKind; readonly text: string };
}

/** What is in the pack, its download, how to check it, and a form to ask back or object. */
export function PackPage(props: PackProps) {
  const { say, controller, csrf, handOver, token, kind, receivedAt, bytes } = props;
  const { texts, fix } = say;
  const t = texts.handOver;
  const { name } = texts.kinds[isRequestKind(kind) ? kind : 'unknown'];
  return (
    <PortalPage say={say} title={`${t.title} · ${controller}`}>
      <p class="from">
        <bdi>{controller}</bdi>
      </p>
      <h1>{t.title}</h1>
      <p>
        {fix(fill(t.received, { received: say.day(receivedAt), kind: name }))}
        <br />
        {fix(fill(texts.frame.reference, { reference: handOver.case_id }))}
      </p>
      <section aria-labelledby="contents">
        <h2 id="contents">{t.contents}</h2>
        <ul>
          {contentsIn(texts, handOver).map((text) => (
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
      <CheckSection {...props} />
      <WriteSection {...props} />
      <form method="post">
        <Csrf token={csrf} />
        <button type="submit" name="do" value="leave" class="quiet">
          {t.leave}
        </button>
      </form>
    </PortalPage>
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

function WriteSection({ say, csrf, messages, problem, written }: PackProps) {
  const t = say.texts.handOver;
  const choice = (about: MessageKind, label: string) => (
    <label>
      <input type="radio" name="about" value={about} checked={(written?.about ?? 'question') === about} /> {label}
    </label>
  );
  return (
    <section aria-labelledby="write">
      <h2 id="write">{t.write}</h2>
      {messages.map((at) => (
        <Notice key={at} text={say.fix(fill(t.sent, { at: say.moment(at) }))} />
      ))}
      {problem === undefined ? null : <Notice bad text={say.fix(t[problem])} />}
      <p>{say.fix(t.writeLead)}</p>
      <form method="post">
        <Csrf token={csrf} />
        <fieldset>
          {choice('question', t.question)}
          {choice('objection', t.objection)}
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

/** Which files of a pack each description is about. */
const described: readonly (readonly [RegExp, keyof LetterTexts['answer']['files']])[] = [
  [/^history\.html$/, 'history'],
  [/^decisions\./, 'decisions'],
  [/^records-27560\.json$/, 'records27560'],
  [/^records\.jsonl$/, 'records'],
  [/^policies\.json$/, 'policies'],
  [/^policy-texts\.txt$/, 'policyTexts'],
  [/^banner-evidence/, 'evidence'],
  [/^case\.json$/, 'about'],
];

/** What is in the pack, in the language of the page. */
function contentsIn({ handOver, answer }: LetterTexts, { contents }: HandOverRow): readonly string[] {
  const names = JSON.parse(contents) as readonly string[];
  const found = described.filter(([pattern]) => names.some((name) => pattern.test(name)));
  return [handOver.letter, ...found.map(([, key]) => answer.files[key]), handOver.proofs];
}

function sizeIn(locale: string, bytes: number): string {
  const [value, unit] =
    bytes < 1_000_000 ? [Math.max(1, Math.round(bytes / 1000)), 'kilobyte'] : [bytes / 1_000_000, 'megabyte'];
  return new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: 1 }).format(value);
}
