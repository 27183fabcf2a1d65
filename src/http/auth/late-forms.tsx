import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context/context.ts';
import { findSender } from '../../people/sessions.ts';
import { Csrf, Page, type PageFrame, renderPage } from '../pages/parts/layout.tsx';
import { formOf, html, pageFrame } from '../pages/parts/page-frame.ts';
import { Panel } from '../pages/parts/parts.tsx';
import { officerOf, sessionCookie } from './sessions.ts';
import { localPath, sendSignIn } from './sign-in-routes.tsx';

/** How long a form is kept. It is in memory only, so a restart loses it. */
const KEPT_MS = 3_600_000;
/** Maximum characters kept of all forms together; beyond that, the oldest form is dropped. */
const KEPT_CHARACTERS = 16 << 20;
const PATH = '/unsent-form';

interface LateForm {
  readonly personId: string;
  /** Address to which it was sent. */
  readonly url: string;
  /** The page from which it was probably sent. */
  readonly page: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly until: number;
}

/**
 * Forms that arrive after the session ended. What was typed into them is kept for an hour, for the same account: after
 * signing in, its owner sees it and can send it. Call it once the session is known, before any route.
 */
export function lateForms(
  app: FastifyInstance,
  context: Pick<Context, 'config' | 'store' | 'keys' | 'instance' | 'version' | 'sources' | 'clock'>,
) {
  const kept = new Map<string, LateForm>();
  app.decorateRequest('lateSender', null);

  // By now the body has been read. Requests that get here come from someone who was signed in.
  app.addHook('preValidation', async (request, reply) => {
    const { lateSender: personId } = request;
    if (personId === null) return undefined;
    const isGenuine = await hasToken(app, request);
    request.lateSender = null;
    if (!isGenuine) return sendToSignIn(request, reply);
    const id = randomBytes(16).toString('hex');
    const page = formAddress(app, request);
    const fields = fieldsOf(request.body).filter(([name]) => name !== '_csrf');
    const until = context.clock().getTime() + KEPT_MS;
    kept.set(id, { personId, url: request.url, page, fields, until });
    dropOldest(kept);
    setTimeout(() => kept.delete(id), KEPT_MS).unref();
    const next = `${PATH}?${new URLSearchParams({ id, page }).toString()}`;
    const unsent =
      'Your session has ended, so nothing was saved. What you typed is kept for an hour: sign in with the same account to send it.';
    return sendSignIn(context, request, reply, { next, unsent, status: 401 });
  });

  // The form has now been sent; its own page shows any problems with it.
  app.addHook('preHandler', async ({ method, url, signedIn }) => {
    if (method !== 'POST' || signedIn === null) return;
    for (const [id, form] of kept) if (form.personId === signedIn.personId && form.url === url) kept.delete(id);
  });

  const sendKept = (request: FastifyRequest, reply: FastifyReply) => {
    const { id = '', page = '' } = formOf(request.query);
    const found = kept.get(id);
    const isTheirs = found?.personId === officerOf(request).personId && found.until > context.clock().getTime();
    const form = isTheirs ? found : null;
    const props = { frame: pageFrame(context, request, reply), form, page: localPath(page) };
    return html(reply, renderPage(<UnsentPage {...props} />));
  };

  function sendToSignIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const shown =
      request.method === 'GET' ? { next: request.url } : { next: formAddress(app, request), unsent: sessionEnded };
    return sendSignIn(context, request, reply, { ...shown, status: 401 });
  }

  return {
    routes: () => void app.get(PATH, sendKept),
    /** Answers someone who is not signed in; for a form with typed text only once its body is read, in the hook above. */
    async askToSignIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
      const { rule } = request.routeOptions.config;
      if (rule !== undefined && 'isWritten' in rule)
        request.lateSender = await findSender(context, request.cookies[sessionCookie(context)]);
      return request.lateSender === null ? sendToSignIn(request, reply) : undefined;
    },
  };
}

function dropOldest(kept: Map<string, LateForm>): void {
  const sizeOf = ({ fields }: LateForm) => fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  let total = [...kept.values()].reduce((sum, form) => sum + sizeOf(form), 0);
  for (const [id, form] of kept) {
    if (total <= KEPT_CHARACTERS) return;
    kept.delete(id);
    total -= sizeOf(form);
  }
}

const sessionEnded = 'Your session has ended, so nothing was saved. Sign in to return to the form, and send it again.';

/** All fields of a form, in order; a name may be repeated. */
function fieldsOf(body: unknown): (readonly [name: string, value: string])[] {
  return Object.entries((body ?? {}) as Record<string, unknown>).flatMap(([name, given]) =>
    [given].flat().flatMap((value) => (typeof value === 'string' ? [[name, value] as const] : [])),
  );
}

/** Whether the form has the token of the account whose session ended. */
function hasToken(app: FastifyInstance, request: FastifyRequest): Promise<boolean> {
  return new Promise((resolve) => {
    const refused = { send: () => resolve(false) } as unknown as FastifyReply;
    app.csrfProtection(request, refused, () => resolve(true));
  });
}

/** The page from which a form was probably sent: the nearest page above its address, since browsers send no Referer here. */
function formAddress(app: FastifyInstance, { url, routeOptions }: FastifyRequest): string {
  let [pattern = '/', path = '/'] = [routeOptions.url, url.split('?')[0]];
  if (app.hasRoute({ method: 'GET', url: `${pattern}/new` })) return `${path}/new`;
  while (pattern !== '' && !app.hasRoute({ method: 'GET', url: pattern })) {
    pattern = pattern.slice(0, pattern.lastIndexOf('/'));
    path = path.slice(0, path.lastIndexOf('/'));
  }
  return path === '' ? '/' : path;
}

interface UnsentProps {
  readonly frame: PageFrame;
  /** Null: nothing is kept for this person. */
  readonly form: LateForm | null;
  readonly page: string;
}

/** What a person had typed when their session ended. */
function UnsentPage({ frame, form, page }: UnsentProps) {
  if (form === null)
    return (
      <Page title="Nothing to send" frame={frame}>
        <h1>Nothing to send</h1>
        <p>
          A form sent after its session ended is kept for one hour, and only the account that sent it can see it. You
          have sent it since, the hour is over, or the server has restarted.
        </p>
        <p>
          <a href={page}>Continue to its page</a>
        </p>
      </Page>
    );
  // Short values are choices, or part of the form itself.
  const typed = form.fields.filter(([, value]) => /\s/.test(value.trim()));
  return (
    <Page title="Not sent yet" frame={frame}>
      <h1>Not sent yet</h1>
      <p class="lead">Your session had ended when you sent this form, so nothing has been saved.</p>
      <Panel id="typed" title="What you typed">
        {typed.map(([, value], place) => (
          <blockquote key={place} class="lines">
            {value}
          </blockquote>
        ))}
        <form method="post" action={form.url}>
          <Csrf token={frame.csrf} />
          {form.fields.map(([name, value], place) => (
            <input key={place} type="hidden" name={name} value={value} />
          ))}
          <p class="buttons">
            <button type="submit">Send it now</button>
            <a class="button quiet" href={form.page}>
              Go to its page without sending
            </a>
          </p>
        </form>
      </Panel>
    </Page>
  );
}
