import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { findBannerEvidence } from '../../banners/evidence.ts';
import type { Context } from '../../context/context.ts';
import { isoNow } from '../../core/clock.ts';
import { CodedError } from '../../core/errors.ts';
import { can } from '../../core/roles.ts';
import type { Source } from '../../core/source.ts';
import { INSTALLATION } from '../../core/vocabulary.ts';
import { findDocument } from '../../documents/check.ts';
import { sourceOfErasure } from '../../erasure/proposal.ts';
import { type Job, payloadText } from '../../jobs/job.ts';
import { hourOf, recordView } from '../../ledger/append-view.ts';
import { sourceOfEntry } from '../../ledger/read-entries.ts';
import type { Session } from '../../people/sessions.ts';
import { findOtherOwner } from '../../policies/show.ts';
import { sourceOfRejected } from '../../rejected/ring.ts';
import { sourceOfCase } from '../../store/queries/cases.ts';
import type { Store } from '../../store/store.ts';
import { formOf } from '../pages/parts/page-frame.ts';
import { otherRules, type Rule } from './route-permissions.ts';
import { officerOf } from './sessions.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its rule, from its page's definition or the table of the others. */
    rule?: Rule;
  }
}

/**
 * Throws if a route is registered that has no rule, so that the server does not start. Call it on the root, before any
 * route.
 */
export function requireRules(app: FastifyInstance): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    for (const method of [route.method].flat()) {
      const rule =
        route.config?.rule ?? otherRules[`${method} ${route.url.startsWith('/assets/') ? '/assets/*' : route.url}`];
      if (rule === undefined)
        throw new Error(
          `${method} ${route.url} has no rule: define it as a page, or add one to src/http/auth/route-permissions.ts`,
        );
      route.config = { ...route.config, rule };
    }
  });
}

/**
 * Enforces the rule of every route in the scope, in this one place. Call it after the session is known. `signIn`
 * answers people who are not signed in, at the latest once the body is read.
 */
export function enforceRules(
  app: FastifyInstance,
  context: Pick<Context, 'store' | 'ledger' | 'sources' | 'projector' | 'jobs' | 'log' | 'clock'>,
  signIn: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>,
): void {
  const noteView = createViewNotes(context);
  // Runs before the body is read.
  app.addHook('onRequest', async (request, reply) => {
    const { rule } = request.routeOptions.config;
    if (rule === undefined || rule.who === 'anyone') return undefined;
    const { signedIn } = request;
    if (signedIn === null) return signIn(request, reply);
    if (rule.who !== 'self' && !can(signedIn.role, rule.who)) {
      const { role } = signedIn;
      const isByToken = /^\/(api|mcp)\b/.test(request.routeOptions.url ?? '');
      throw new CodedError(
        'not_allowed',
        isByToken
          ? `This token may not do this: it needs the scope ${rule.who}. Create one, if your role allows it.`
          : `Your role (${role}) does not allow this. Ask an owner or admin if you need it.`,
      );
    }
    return undefined;
  });
  app.addHook('preHandler', async (request) => {
    const { rule } = request.routeOptions.config;
    if (rule === undefined || !('source' in rule)) return;
    const session = officerOf(request);
    const source = await sourceOf(context, rule.source, request);
    if (!maySee(session, source)) throw new CodedError('not_found');
    const known = source === INSTALLATION ? source : (context.sources.findAny(source ?? '')?.slug ?? null);
    if (rule.views === undefined) return;
    if (rule.views !== 'object') await noteView(session, known, rule.views);
    else if (known !== null) await noteView(session, known, objectOf(request));
  });
}

/** The source that a request concerns; null if it names none, or none that exists. */
async function sourceOf(
  { store, jobs, projector }: Pick<Context, 'store' | 'projector' | 'jobs'>,
  where: Extract<Rule, { source: unknown }>['source'],
  request: FastifyRequest,
): Promise<string | null> {
  const { params } = request;
  const {
    caseId = '',
    documentId = '',
    seq = '',
    refusedId = '',
    jobId = '',
    erasureId = '',
    slug = '',
  } = params as Readonly<Record<string, string>>;
  switch (where) {
    case 'installation':
      return null;
    case 'query':
      return formOf(request.query)['source'] || null;
    case 'form':
      return formOf(request.body)['source'] ?? '';
    case 'address':
      return slug;
    case 'case':
      return (await sourceOfCase(store.read, caseId)) ?? '';
    case 'document': {
      const find = () => findDocument(store.read, documentId);
      // Its job may be done before its entry has been folded.
      const row = (await find()) ?? (await projector.catchUp().then(find));
      return row?.source ?? '';
    }
    case 'evidence':
      return (/^\d{1,15}$/.test(seq) ? await findBannerEvidence(store, Number(seq)) : null)?.source ?? '';
    case 'entry':
      return (/^\d{1,15}$/.test(seq) ? await sourceOfEntry(store.read, Number(seq)) : null) ?? '';
    case 'refused':
      return (/^\d{1,9}$/.test(refusedId) ? await sourceOfRejected(store.read, Number(refusedId)) : null) ?? '';
    case 'erasure':
      return (await sourceOfErasure(store, erasureId)) ?? '';
    case 'job':
      return sourceOfJob(store, await jobs.find(jobId));
    default:
      return where satisfies never;
  }
}

/**
 * A job without a source belongs to the installation. A verification concerns everyone, and everyone who works may
 * start one.
 */
async function sourceOfJob(store: Store, job: Job | null): Promise<string | null> {
  if (job === null) return '';
  if (job.kind === 'verify') return null;
  return payloadText(job, 'source') ?? (await sourceOfCase(store.read, payloadText(job, 'caseId') ?? '')) ?? '';
}

/**
 * For someone limited to certain sources, missing and forbidden objects look the same; for someone who sees everything,
 * the page itself answers.
 */
function maySee({ sources }: Session, source: string | null): boolean {
  return sources === null || source === null || sources.includes(source);
}

/** The object of a view, as named in entries. */
function objectOf(request: FastifyRequest): string {
  const { caseId, seq, refusedId, erasureId } = request.params as Readonly<Record<string, string | undefined>>;
  if (erasureId !== undefined) return `erasure ${erasureId}`;
  if (refusedId !== undefined) return `refused delivery ${refusedId}`;
  const { rule } = request.routeOptions.config;
  const isEntry = rule !== undefined && 'source' in rule && rule.source === 'entry';
  return caseId ?? `${isEntry ? 'entry' : 'evidence'} ${seq ?? ''}`;
}

/** The number of recent views remembered. */
const VIEWS_REMEMBERED = 10_000;

/** Records access to personal data: one entry per session, object and hour. */
function createViewNotes({ ledger, clock, log }: Pick<Context, 'ledger' | 'log' | 'clock'>) {
  const noted = new Set<string>();
  return async ({ officer, handle }: Session, source: string | null, object: string): Promise<void> => {
    const now = isoNow(clock);
    const key = `${handle} ${hourOf(now)} ${source ?? ''} ${object}`;
    if (noted.has(key)) return;
    try {
      await recordView(ledger, source ?? INSTALLATION, { session: handle, actor: officer, object }, now);
    } catch (error) {
      // Requests must be answered even if nothing can be written: the view is then logged instead.
      log.warn({ err: error, object, session: handle.slice(0, 8) }, 'a view of personal data could not be recorded');
      return;
    }
    if (noted.size >= VIEWS_REMEMBERED) noted.clear();
    noted.add(key);
  };
}

/** The sources that the signed-in person may see, like `context.sources`. */
export function sourcesOf({ sources }: Pick<Context, 'sources'>, request: FastifyRequest) {
  const { sources: slugs } = officerOf(request);
  const only = (source: Source | null) =>
    source === null || slugs === null || slugs.includes(source.slug) ? source : null;
  return {
    /** Slugs; null: all. */
    slugs,
    list: (): readonly Source[] => sources.list().filter((source) => only(source) !== null),
    find: (slug: string): Source | null => only(sources.find(slug)),
    findAny: (slug: string): Source | null => only(sources.findAny(slug)),
  };
}

/**
 * Throws if the ledger knows that a policy belongs to another source: sources that share an API key could otherwise act
 * on each other's policies. Whether there is such a policy is told only to people who may see the other source.
 */
export async function assertPolicyOf(
  context: Pick<Context, 'sources' | 'store' | 'projector'>,
  request: FastifyRequest,
  source: string,
  policyId: string,
): Promise<void> {
  await context.projector.catchUp();
  const owner = await findOtherOwner(context, policyId, source);
  if (owner === null) return;
  const seen = sourcesOf(context, request).findAny(owner);
  throw new CodedError('not_found', seen === null ? undefined : `The policy belongs to the source ${seen.name}.`);
}
