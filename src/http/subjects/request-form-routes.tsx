import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { CaseRow } from '../../cases/fold.ts';
import { viewCase } from '../../cases/view.ts';
import { isPrivateTransport } from '../../core/address.ts';
import { isoNow } from '../../core/clock.ts';
import { CodedError } from '../../core/errors.ts';
import type { Source } from '../../core/source.ts';
import type { ControllerProfile } from '../../law/profile.ts';
import { requestFormState } from '../../request-form/offered.ts';
import {
  confirmAddress,
  confirmationOf,
  findRequest,
  isFormGood,
  issueForm,
  type RequestField,
  type RequestFormDeps,
  receiptToken,
  requestSchema,
  submitRequest,
} from '../../request-form/request-form.ts';
import { formOf } from '../form-of.ts';
import { renderPage } from '../pages/parts/layout.tsx';
import { html, untilProjected } from '../pages/parts/page-frame.ts';
import { FormPage, ReceivedPage } from './request-form-pages.tsx';
import {
  chosenFor,
  FORM_BYTES,
  MessagePage,
  type Say,
  type SubjectContext,
  sayIn,
  subjectScope,
} from './subject-page.tsx';

/** Requests and codes per address and hour. A family shares an address; a program that fills in forms exceeds this. */
const SENT_PER_HOUR = 40;
const onlyGet = { exposeHeadRoute: false };
const sending = { bodyLimit: FORM_BYTES, config: { rateLimit: { max: SENT_PER_HOUR, timeWindow: '1 hour' } } };

interface Params {
  readonly Params: { readonly source: string };
}
interface ReceiptParams {
  readonly Params: { readonly source: string; readonly receipt: string };
}

/** A source whose controller accepts requests through the form. */
interface Offered {
  readonly source: Source;
  readonly profile: ControllerProfile;
}

/**
 * The page where anyone can send a request: `/r/<source>` on the public listener, if the controller profile offers it
 * (docs/request-form.md). It needs neither cookies nor scripts, so it works in a frame on another website. No
 * protection against forged submissions is needed: they do nothing that their sender could not do here.
 */
export async function requestFormPages(app: FastifyInstance, context: SubjectContext): Promise<void> {
  const { config, projector } = context;
  const deps: RequestFormDeps = { ...context, catchUp: () => projector.catchUp() };
  const mails = config.mail !== null;
  await subjectScope(app, config.timeZone, (texts) => texts.requestForm.title);
  await app.register(formbody, { bodyLimit: FORM_BYTES });

  app.get<Params>('/:source', onlyGet, async (request, reply) => {
    const offered = await findOffered(context, request.params.source);
    const { kind = '', subject = '' } = formOf(request.query);
    return sendForm(request, reply, offered, { values: { kind, subject: subject.slice(0, 300) } });
  });

  app.post<Params>('/:source', sending, async (request, reply) => {
    const offered = await findOffered(context, request.params.source);
    const { source } = offered;
    const values = formOf(request.body);
    const read = requestSchema.safeParse(values);
    // The hidden field was filled in, or the form came back at once or after a day. A person sends it again, a program
    // rarely does.
    const { form = '', website = '' } = values;
    const good = website === '' && isFormGood(deps, source.slug, form);
    if (!read.success || !good)
      return sendForm(request, reply, offered, { values, wrong: read.success ? [] : wrongIn(read.error), status: 422 });
    const { language } = chosenFor(request, { ofController: offered.profile.language });
    const sent = await submitRequest(deps, read.data, { source: source.slug, form, language, mails });
    if (sent.outcome === 'too-many') {
      void reply.header('retry-after', '3600');
      return sendMessage(request, reply, offered, { text: (say) => say.texts.requestForm.tooMany, status: 429 });
    }
    await untilProjected(context, sent.seq);
    return reply.redirect(addressOf(request, `${source.slug}/${receiptToken(deps, source.slug, sent.caseId)}`), 303);
  });

  app.get<ReceiptParams>('/:source/:receipt', onlyGet, async (request, reply) => {
    const { offered, row } = await findReceipt(request.params);
    return sendReceipt(request, reply, offered, { row });
  });

  app.post<ReceiptParams>('/:source/:receipt', sending, async (request, reply) => {
    const { offered, row } = await findReceipt(request.params);
    const { code = '' } = formOf(request.body);
    const tried = await confirmAddress(deps, row, code);
    if (tried.outcome === 'wrong')
      return sendReceipt(request, reply, offered, { row, attemptsLeft: tried.attemptsLeft });
    if (tried.outcome === 'confirmed') await untilProjected(context, tried.seq);
    return reply.redirect(addressOf(request, request.params.receipt), 303);
  });

  async function findReceipt({ source: slug, receipt }: ReceiptParams['Params']) {
    // If the form is switched off because its source shares a profile, pages of earlier requests still work.
    const offered = await findOffered(context, slug, ['offered', 'unconfirmed']);
    const row = await findRequest(deps, slug, receipt);
    if (row === null) throw new CodedError('not_found');
    return { offered, row };
  }

  function sayTo(request: FastifyRequest, { profile }: Offered, own: string | null = null): Say {
    return sayIn(chosenFor(request, { own, ofController: profile.language }), config.timeZone);
  }

  function sendForm(
    request: FastifyRequest,
    reply: FastifyReply,
    offered: Offered,
    {
      status = 200,
      ...filled
    }: {
      readonly values: Readonly<Record<string, string>>;
      readonly wrong?: readonly RequestField[];
      readonly status?: number;
    },
  ) {
    const { source, profile } = offered;
    const page = (
      <FormPage
        say={sayTo(request, offered)}
        controller={profile}
        form={issueForm(deps, source.slug)}
        action={addressOf(request, source.slug)}
        mails={mails}
        {...filled}
      />
    );
    return sendPage(reply, offered, page, status);
  }

  function sendMessage(
    request: FastifyRequest,
    reply: FastifyReply,
    offered: Offered,
    { text, status }: { readonly text: (say: Say) => string; readonly status: number },
  ) {
    const say = sayTo(request, offered);
    return sendPage(
      reply,
      offered,
      <MessagePage say={say} title={say.texts.requestForm.title} text={text(say)} />,
      status,
    );
  }

  async function sendReceipt(
    request: FastifyRequest,
    reply: FastifyReply,
    offered: Offered,
    { row, attemptsLeft = null }: { readonly row: CaseRow; readonly attemptsLeft?: number | null },
  ) {
    const { regimes, timeZone } = context.cases;
    const { deadline } = viewCase(row, { regimes, timeZone, profile: offered.profile, now: isoNow(context.clock) });
    const page = (
      <ReceivedPage
        say={sayTo(request, offered, row.language)}
        controller={offered.profile}
        row={row}
        limit={deadline.limit}
        mails={mails}
        confirmation={await confirmationOf(deps, row)}
        attemptsLeft={attemptsLeft}
      />
    );
    return sendPage(reply, offered, page, attemptsLeft === null ? 200 : 403);
  }
}

/**
 * Any other source gets the same response as a page that does not exist, so that nobody can find out which sources
 * there are.
 */
async function findOffered(
  context: SubjectContext,
  slug: string,
  states: readonly ReturnType<typeof requestFormState>[] = ['offered'],
): Promise<Offered> {
  const source = context.sources.find(slug);
  const profile = source === null ? null : await loadProfile(context, source);
  if (source === null || profile === null || !states.includes(requestFormState(profile, source, context.sources)))
    throw new CodedError('not_found');
  const { publicUrl } = context.config;
  // The input would cross the network unencrypted.
  if (publicUrl !== null && !isPrivateTransport(publicUrl)) throw new CodedError('not_found');
  return { source, profile };
}

/** If the file is invalid, throws an error that is answered with 500 and logged: only the operator can fix it. */
async function loadProfile(context: SubjectContext, source: Source): Promise<ControllerProfile | null> {
  try {
    return await context.loadProfile(source);
  } catch (cause) {
    throw new Error('the controller profile cannot be read', { cause });
  }
}

/** Can be shown in a frame only by the websites named in the profile. */
function sendPage(reply: FastifyReply, { profile }: Offered, page: Parameters<typeof renderPage>[0], status: number) {
  const frames = profile.requestFormOn ?? [];
  if (frames.length > 0) {
    const policy = String(reply.getHeader('content-security-policy'));
    void reply
      .header(
        'content-security-policy',
        policy.replace("frame-ancestors 'none'", `frame-ancestors ${frames.join(' ')}`),
      )
      .removeHeader('x-frame-options');
  }
  return html(reply, renderPage(page), status);
}

/** A relative address that keeps the selected language. */
function addressOf(request: FastifyRequest, path: string): string {
  const { language = '' } = formOf(request.query);
  return language === '' ? path : `${path}?${new URLSearchParams({ language }).toString()}`;
}

/** The fields to correct. */
function wrongIn(error: z.ZodError): readonly RequestField[] {
  return [...new Set(error.issues.map(({ path }) => path[0] as RequestField))];
}
