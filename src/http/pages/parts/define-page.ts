import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { JSX } from 'preact';
import { z } from 'zod';
import type { Context } from '../../../context/context.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Session } from '../../../people/sessions.ts';
import { sourcesOf } from '../../auth/access.ts';
import type { Rule } from '../../auth/route-permissions.ts';
import { officerOf } from '../../auth/sessions.ts';
import { type LargeUpload, largeUploadForm } from './large-upload.ts';
import { type PageFrame, renderPage } from './layout.tsx';
import { formOf, html, pageFrame, untilDoneSoon, untilProjected } from './page-frame.ts';
import { type Upload, type UploadForm, uploadForm } from './upload.ts';

/**
 * A route of the officers' pages, as a page file lists it in `routes`. Its rule is its row in the table of permissions;
 * src/http/pages/pages.ts lists the files.
 */
export interface PageRoute {
  readonly method: 'GET' | 'POST';
  /** In Fastify's notation: `/cases/:caseId`. */
  readonly path: string;
  readonly rule: Rule;
  /** A form with a file has a scope of its own, next to the guarded one (upload.ts). */
  readonly hasFile: boolean;
  /** Adds it to the server. */
  add(app: FastifyInstance, context: Context): Promise<void>;
}

type Fields = z.ZodObject;
const none = z.object({});

/** The parts of an address that vary: `/cases/:caseId` → `caseId`. */
type ParamsOf<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Readonly<Record<Name, string>>
    : Readonly<Record<never, string>>;

/** A request of somebody who may make it: `N` names what it may touch of the installation, `Q` is the checked query or form. */
export interface Visit<N extends keyof Context, Q = unknown, P = Readonly<Record<string, string>>> {
  readonly context: Pick<Context, N>;
  readonly params: P;
  /** Of a page: the fields of the address; of a form: what was filled in. */
  readonly fields: Q;
  /** Every text field as it was sent, for showing a form again. */
  readonly typed: Readonly<Record<string, string>>;
  readonly by: Session;
  readonly frame: PageFrame;
  /** The sources that the person may see. */
  readonly permitted: ReturnType<typeof sourcesOf>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Resolves once the read models contain an entry, or after a few seconds. */
  projected(seq: number): Promise<void>;
  /** Resolves once a job has ended, or after a second or two. */
  doneSoon(jobId: string): Promise<void>;
  /** Answers a form: go and look at this address. */
  goTo(address: string): FastifyReply;
}

/** What a page says about the form that led to it, besides its content. */
export type Said<S = object> = {
  /** What was done, in a sentence; null: nothing. */
  readonly done: string | null;
  /** Why a form was refused. */
  readonly problems: readonly string[];
  /** What was typed into it. */
  readonly form: Readonly<Record<string, string>>;
} & Partial<S>;

/** A page that forms can show again. */
export interface Page<N extends keyof Context, Q, P, S> extends PageRoute {
  /** Shows it with what a form has to say, with status 422 unless another is given. */
  again(
    visit: Visit<N>,
    as: { readonly fields: Q; readonly params?: P; readonly said?: Partial<Said<S>>; readonly status?: number },
  ): Promise<FastifyReply>;
}

interface Address<P extends string> {
  readonly path: P;
  readonly rule: Rule;
}

/**
 * The ways to define a route of a page file, which begins with `const { page, form } = pagesWith<'store' | 'clock'>()`:
 * what it names is all that its functions may touch of the installation.
 */
export function pagesWith<N extends keyof Context>() {
  return {
    /**
     * A page: `load` gathers its data and `show` renders them. `done`: the sentences for `?done=…`. A field of the query
     * that is wrong counts as absent, so use the fields of this module.
     */
    page<const P extends string, D, Q extends Fields = typeof none, S extends object = object>(
      definition: Address<P> & {
        readonly query?: Q;
        readonly done?: Readonly<Record<string, string>>;
        /** Its fields are posted, so that they are in no address and no log. */
        readonly isPosted?: true;
        /** Another address to look at, where the page has nothing to show; null: none. */
        instead?(visit: Visit<N, z.output<Q>, ParamsOf<P>>): string | null;
        load(visit: Visit<N, z.output<Q>, ParamsOf<P>>, said: Said<S>): D | Promise<D>;
        show(data: D, shown: Shown<z.output<Q>, ParamsOf<P>, S>): JSX.Element;
        /** The status without a form, default 200. */
        status?(data: D): number;
      },
    ): Page<N, z.output<Q>, ParamsOf<P>, S> {
      const { path, rule, query, done = {}, isPosted = false } = definition;
      type Own = Visit<N, z.output<Q>, ParamsOf<P>>;
      const answer = async (visit: Own, said: Said<S>, wanted: number | null) => {
        const data = await definition.load(visit, said);
        const status = wanted ?? definition.status?.(data) ?? 200;
        const { frame, fields, params } = visit;
        return html(visit.reply, renderPage(definition.show(data, { frame, fields, params, said })), status);
      };
      return {
        ...route<N>({ method: isPosted ? 'POST' : 'GET', path, rule, fields: query ?? none }, async (visit) => {
          const instead = definition.instead?.(visit as unknown as Own) ?? null;
          if (instead !== null) return visit.goTo(instead);
          const said = { done: sentenceOf(done, visit.typed['done']), problems: [], form: {} } as unknown as Said<S>;
          return answer(visit as unknown as Own, said, null);
        }),
        again(visit, { fields, params, said = {}, status = 422 }) {
          const all = { done: null, problems: [], form: visit.typed, ...said } as unknown as Said<S>;
          return answer({ ...visit, fields, params: params ?? visit.params } as unknown as Own, all, status);
        },
      };
    },

    /** What a form of a page does: `act` answers with an address to look at, or with the page again and what was wrong. */
    form<const P extends string, B extends Fields = typeof none>(
      definition: Address<P> & {
        readonly body?: B;
        /** Its largest size; default: that of every form. */
        readonly bytes?: number;
        act(visit: Visit<N, z.output<B>, ParamsOf<P>>): Promise<FastifyReply>;
      },
    ): PageRoute {
      const { path, rule, body, bytes } = definition;
      type Own = Visit<N, z.output<B>, ParamsOf<P>>;
      return route<N>({ method: 'POST', path, rule, fields: body ?? none, bytes }, (visit) =>
        definition.act(visit as unknown as Own),
      );
    },

    /** A file to download, or whatever else an address answers with that is not a page. */
    file<const P extends string, Q extends Fields = typeof none>(
      definition: Address<P> & {
        readonly query?: Q;
        send(visit: Visit<N, z.output<Q>, ParamsOf<P>>): Promise<FastifyReply>;
      },
    ): PageRoute {
      const { path, rule, query } = definition;
      type Own = Visit<N, z.output<Q>, ParamsOf<P>>;
      return route<N>({ method: 'GET', path, rule, fields: query ?? none }, (visit) =>
        definition.send(visit as unknown as Own),
      );
    },

    /** A form with one file of at most `bytes`; `file` is null if none was chosen. */
    upload: <const P extends string, B extends Fields = typeof none>(
      definition: UploadDefinition<N, P, B, Upload>,
    ): PageRoute => uploadRoute(uploadForm, definition),

    /** The same for a file that is too large for memory: it waits in a temporary folder, which is removed after the response. */
    largeUpload: <const P extends string, B extends Fields = typeof none>(
      definition: UploadDefinition<N, P, B, LargeUpload>,
    ): PageRoute => uploadRoute(largeUploadForm, definition),
  };
}

interface UploadDefinition<N extends keyof Context, P extends string, B extends Fields, F> extends Address<P> {
  readonly body?: B;
  readonly bytes: number;
  act(visit: Visit<N, z.output<B>, ParamsOf<P>>, file: F | null): Promise<FastifyReply>;
  /** Answers with status 413. */
  tooLarge(visit: Visit<N, unknown, ParamsOf<P>>): Promise<FastifyReply>;
}

function uploadRoute<N extends keyof Context, P extends string, B extends Fields, F>(
  register: (app: FastifyInstance, form: UploadForm<F>) => Promise<void>,
  { path, rule, body, bytes, act, tooLarge }: UploadDefinition<N, P, B, F>,
): PageRoute {
  type Own = Visit<N, z.output<B>, ParamsOf<P>>;
  return {
    ...{ method: 'POST', path, rule, hasFile: true },
    add: (app, context) =>
      register(app, {
        ...{ path, rule, bytes },
        tooLarge: (request, reply) =>
          tooLarge(visitOf(context, request, reply, { fields: {}, sent: request.query }) as unknown as Own),
        handler: (request, reply, file) =>
          act(
            visitOf(context, request, reply, {
              fields: readForm(body ?? none, request.body),
              sent: request.body,
            }) as unknown as Own,
            file,
          ),
      }),
  };
}

/** What `show` gets besides the data. */
export interface Shown<Q, P, S> {
  readonly frame: PageFrame;
  readonly fields: Q;
  readonly params: P;
  readonly said: Said<S>;
}

function route<N extends keyof Context>(
  {
    method,
    path,
    rule,
    fields,
    bytes,
  }: Pick<PageRoute, 'method' | 'path' | 'rule'> & {
    readonly fields: Fields;
    readonly bytes?: number | undefined;
  },
  answer: (visit: Visit<N>) => Promise<FastifyReply>,
): PageRoute {
  return {
    ...{ method, path, rule, hasFile: false },
    async add(app, context) {
      const handler: RouteHandlerMethod = (request, reply) => {
        const sent = method === 'GET' ? request.query : request.body;
        return answer(visitOf(context, request, reply, { fields: readForm(fields, sent), sent }));
      };
      const limit = bytes === undefined ? {} : { bodyLimit: bytes };
      app.route({ method, url: path, handler, config: { rule }, ...limit });
    },
  };
}

function visitOf<N extends keyof Context>(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { fields, sent }: { readonly fields: unknown; readonly sent: unknown },
): Visit<N> {
  let frame: PageFrame | null = null;
  return {
    ...{ context, request, reply, fields },
    params: request.params as Readonly<Record<string, string>>,
    typed: formOf(sent),
    by: officerOf(request),
    // Only for pages: the token of its forms may set a cookie.
    get frame() {
      return (frame ??= pageFrame(context, request, reply));
    },
    permitted: sourcesOf(context, request),
    projected: (seq) => untilProjected(context, seq),
    doneSoon: (id) => untilDoneSoon(context, id),
    goTo: (address) => reply.redirect(address, 303),
  };
}

/** The fields of a form or query, with texts that can be stored. Throws invalid_request: pages send no other forms. */
function readForm(fields: Fields, sent: unknown): unknown {
  const lists = Object.entries(typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>) : {})
    .filter(([, value]) => Array.isArray(value))
    .map(([name, value]) => [name, (value as unknown[]).filter((one) => typeof one === 'string').map(wellFormed)]);
  const parsed = fields.safeParse({ ...formOf(sent), ...Object.fromEntries(lists) });
  if (!parsed.success) throw new CodedError('invalid_request');
  return parsed.data;
}

const wellFormed = (value: string) => Buffer.from(value).toString();

/** A text field; empty if absent. */
export const text = z.string().catch('');
/** A tick box with the value `yes`. */
export const ticked = z
  .unknown()
  .transform((value) => value === 'yes')
  .default(false);
/** Tick boxes of one name, or a choice of several. */
export const several = z
  .union([z.string().transform((value) => [value]), z.array(z.string())])
  .catch([])
  .transform((values): readonly string[] => values);
const numberOf = (digits: RegExp) => z.string().regex(digits).transform(Number).nullable().catch(null);
/** A whole number from 0; null if absent or none. */
export const number = numberOf(/^\d{1,15}$/);
/** One that fits into a column of 32 bits. */
export const smallNumber = numberOf(/^\d{1,9}$/);

/** The sentence for a name in an address; null: none. Names come from outside, so not those that every object has. */
function sentenceOf(done: Readonly<Record<string, string>>, name = ''): string | null {
  return Object.hasOwn(done, name) ? (done[name] ?? null) : null;
}
