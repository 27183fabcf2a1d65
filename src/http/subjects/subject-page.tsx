import cookie from '@fastify/cookie';
import csrf from '@fastify/csrf-protection';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren, JSX } from 'preact';
import { type ChosenLanguage, chooseLanguage, letterLanguages, textsIn } from '../../../reports/letters/languages.ts';
import type { LetterTexts } from '../../../reports/letters/texts.ts';
import { dateInWords, fixedSpaces, joined } from '../../../reports/letters/wording.ts';
import type { Context } from '../../context/context.ts';
import { addressGroup } from '../../core/address.ts';
import { errorCodes } from '../../core/errors.ts';
import { dateIn as dayIn } from '../../core/zoned-days.ts';
import { hmacSha256, sha256 } from '../../crypto/hash.ts';
import { requireCsrf } from '../auth/sessions.ts';
import { errorCodeOf } from '../error-pages.tsx';
import { formOf } from '../form-of.ts';
import { renderPage } from '../pages/parts/layout.tsx';
import { html } from '../pages/parts/page-frame.ts';

/** What the pages of data subjects need. */
export type SubjectContext = Pick<
  Context,
  | 'store'
  | 'jobs'
  | 'ledger'
  | 'clock'
  | 'keys'
  | 'cases'
  | 'documents'
  | 'sources'
  | 'projector'
  | 'config'
  | 'instance'
  | 'epoch'
  | 'loadProfile'
  | 'log'
>;

/**
 * Requests per address and minute. A page and a download take a handful; the rest is so that a proxy that hides
 * addresses does not lock everyone out.
 */
const REQUESTS_PER_MINUTE = 60;

/**
 * Prepares a scope of the public listener for data subjects: headers that keep its pages from caches, frames, referrers
 * and search engines, a limit per address, and errors in words. `title`: for pages about errors.
 */
export async function subjectScope(
  app: FastifyInstance,
  timeZone: string,
  title: (texts: LetterTexts) => string,
): Promise<void> {
  answerErrorsInWords(app, timeZone, title);
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: [styleHash],
        imgSrc: ['data:'],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    // TLS ends at the proxy in front, which decides whether this host is HTTPS-only.
    strictTransportSecurity: false,
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    void reply.header('cache-control', 'no-store').header('x-robots-tag', 'noindex, nofollow, noarchive');
    return payload;
  });
  await app.register(rateLimit, {
    max: REQUESTS_PER_MINUTE,
    timeWindow: '1 minute',
    keyGenerator: (request) => addressGroup(request.ip),
  });
}

/** The path prefix under which a proxy serves this program; empty: none. */
export function folderOf({ publicUrl }: Pick<Context['config'], 'publicUrl'>): string {
  return publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}

/** Maximum size of a form that a data subject sends, in bytes. */
export const FORM_BYTES = 65_536;

/**
 * Makes the forms of a scope accept only their own tokens. `cookieName`, `keyName`: names of the cookie and key of the
 * tokens. `path`: path of the scope. `ownerOf`: whose form a request is. Resolves with a function that generates
 * tokens.
 */
export async function protectForms(
  app: FastifyInstance,
  { config, instance, keys }: Pick<Context, 'config' | 'instance' | 'keys'>,
  scope: {
    readonly cookieName: string;
    readonly keyName: string;
    readonly path: string;
    readonly ownerOf: (request: FastifyRequest) => string;
  },
): Promise<(request: FastifyRequest, reply: FastifyReply) => string> {
  await app.register(cookie);
  await app.register(formbody, { bodyLimit: FORM_BYTES });
  await app.register(csrf, {
    sessionPlugin: '@fastify/cookie',
    cookieKey: `consent_ledger_${scope.cookieName}_${instance}`,
    cookieOpts: { path: `${folderOf(config)}${scope.path}`, httpOnly: true, sameSite: 'strict' },
    csrfOpts: {
      hmacKey: hmacSha256(keys.instance.session, Buffer.from(scope.keyName)).toString('base64'),
      userInfo: true,
    },
    getUserInfo: scope.ownerOf,
    getToken: (request) => (request.body as { _csrf?: string } | null)?._csrf,
  });
  requireCsrf(app);
  return (request, reply) => reply.generateCsrf({ userInfo: scope.ownerOf(request) });
}

/** Texts and formats in the language of a page. */
export interface Say {
  /** A key of letterLanguages. */
  readonly language: string;
  readonly locale: string;
  readonly texts: LetterTexts;
  /** Applies the language's spaces and elisions. */
  fix(text: string): string;
  /** Date and time in the controller's time zone. */
  moment(iso: string): string;
  day(iso: string): string;
  /** YYYY-MM-DD in words. */
  date(day: string): string;
}

/** Inline, and allowed by its hash in the Content-Security-Policy: the whole page is one response. */
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
input[type=text], input[type=email], select, textarea { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--edge); border-radius: 6px; padding: 0.55rem 0.7rem; width: 100%; margin-bottom: 0.9rem; }
input.code { max-width: 14rem; font-size: 1.35rem; letter-spacing: 0.15em; display: block; }
:is(input, select, textarea)[aria-invalid=true] { border-color: var(--bad); border-width: 2px; }
.hint { color: var(--soft); font-size: 0.9rem; margin: 0 0 0.3rem; }
address { font-style: normal; }
.soft { color: var(--soft); font-weight: 400; }
.wrong { color: var(--bad); font-weight: 600; margin: 0 0 0.3rem; }
.trap { position: absolute; left: -200vw; width: 1px; height: 1px; overflow: hidden; }
textarea { min-height: 8rem; resize: vertical; }
button, .button { font: inherit; font-weight: 600; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); border-radius: 6px; padding: 0.6rem 1.3rem; cursor: pointer; display: inline-block; text-decoration: none; }
button.quiet { background: transparent; color: var(--accent); }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.written { white-space: pre-wrap; }
.message { padding: 0.6rem 0.9rem; margin: 0 0 0.75rem; border-left: 5px solid var(--line); }
.message p { margin: 0; }
.notice { border-left: 5px solid var(--good); background: var(--good-ground); border-radius: 0 6px 6px 0; padding: 0.6rem 0.9rem; }
.notice.bad { border-color: var(--bad); background: var(--bad-ground); }
.languages { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; list-style: none; padding: 0; }
@media print { form, footer, .button { display: none; } html, body, section { background: #fff; border: 0; } }
`.trim();

/** The hash that allows the page's style (CSP, `style-src`). */
const styleHash = `'sha256-${sha256(style).toString('base64')}'`;

/** Who the page is from, and what it is. */
export function Heading({ controller, text }: { readonly controller: string; readonly text: string }) {
  return (
    <>
      <p class="from">
        <bdi>{controller}</bdi>
      </p>
      <h1>{text}</h1>
    </>
  );
}

/** A page for data subjects: the whole page is one response, in one of the languages of letters. */
export function SubjectPage({ say, title, children }: { say: Say; title: string; children: ComponentChildren }) {
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
                    {code === say.language ? say.texts.name : name}
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

export function Notice({ bad = false, text }: { bad?: boolean; text: string }) {
  return (
    <p class={bad ? 'notice bad' : 'notice'} role={bad ? 'alert' : 'status'}>
      {text}
    </p>
  );
}

/** Asks for a numeric code, explained by the element `code-hint`. */
export function CodeInput({ label }: { label: string }) {
  return (
    <>
      <label for="code">{label}</label>
      <input
        id="code"
        class="code"
        name="code"
        type="text"
        inputMode="numeric"
        autocomplete="one-time-code"
        required
        maxLength={20}
        aria-describedby="code-hint"
      />
    </>
  );
}

/** Says what went wrong, or that there is nothing here. The page is the same for every link that does not work. */
export function MessagePage({ say, title, text }: { say: Say; title: string; text: string }) {
  return (
    <SubjectPage say={say} title={title}>
      <h1>{title}</h1>
      <p>{say.fix(text)}</p>
    </SubjectPage>
  );
}

/**
 * The language of a page: the one selected on it, otherwise the reader's own as the case has it, otherwise the
 * browser's, otherwise the controller's. `place`: the reader's, for the format of dates.
 */
export function chosenFor(
  request: FastifyRequest,
  {
    own = null,
    ofController = null,
    place = null,
  }: { readonly own?: string | null; readonly ofController?: string | null; readonly place?: string | null } = {},
): ChosenLanguage {
  const picked = formOf(request.query)['language']?.slice(0, 35);
  return chooseLanguage([picked, own, ...acceptedLanguages(request), ofController], place);
}

/** RFC 9110 §12.5.4, in the order given: browsers send the preferred one first. */
function acceptedLanguages({ headers }: FastifyRequest): readonly string[] {
  const tags = (headers['accept-language'] ?? '').slice(0, 200).split(',');
  return tags.map((tag) => tag.split(';')[0]?.trim() ?? '').slice(0, 10);
}

/** Texts and formats in a language. */
export function sayIn({ language, locale }: ChosenLanguage, timeZone: string): Say {
  const texts = textsIn(locale);
  if (texts === undefined) throw new Error(`there are no texts in ${language}`);
  return {
    language,
    locale,
    texts,
    fix: (text) => fixedSpaces(joined(text, locale), language),
    moment(iso) {
      const time = new Intl.DateTimeFormat(locale, {
        hour: '2-digit',
        minute: '2-digit',
        timeZone,
        timeZoneName: 'short',
      }).format(new Date(iso));
      return `${dateInWords(dayIn(iso, timeZone), locale)}, ${time}`;
    },
    day: (iso) => dateInWords(dayIn(iso, timeZone), locale),
    date: (day) => dateInWords(day, locale),
  };
}

/** Beyond it, “in a minute” would be untrue. */
const LONG_WAIT_SECONDS = 60;

function answerErrorsInWords(app: FastifyInstance, timeZone: string, title: (texts: LetterTexts) => string): void {
  const send = (request: FastifyRequest, reply: FastifyReply, status: number, page: (say: Say) => JSX.Element) =>
    html(reply, renderPage(page(sayIn(chosenFor(request), timeZone))), status);
  const sendInvalid = (request: FastifyRequest, reply: FastifyReply) =>
    send(request, reply, 404, (say) => (
      <MessagePage say={say} title={say.texts.handOver.invalidTitle} text={say.texts.handOver.invalid} />
    ));
  app.setNotFoundHandler(sendInvalid);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const code = errorCodeOf(error);
    const { status } = errorCodes[code];
    if (code === 'not_found') return sendInvalid(request, reply);
    if (status >= 500 || code === 'conflict') request.log.error({ err: error }, 'a page for data subjects failed');
    if (status === 503) void reply.header('retry-after', '5');
    const text =
      code === 'too_many_requests' ? 'wait' : status < 500 && code !== 'conflict' ? 'formExpired' : 'unavailable';
    // The limiter says how long to wait, in seconds.
    const isLong = text === 'wait' && Number(reply.getHeader('retry-after') ?? 0) > LONG_WAIT_SECONDS;
    return send(request, reply, status, (say) => (
      <MessagePage
        say={say}
        title={title(say.texts)}
        text={isLong ? say.texts.requestForm.tooMany : say.texts.handOver[text]}
      />
    ));
  });
}
