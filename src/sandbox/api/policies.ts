import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Dialect } from '../dialect.ts';
import type { PolicyHappening } from '../happenings.ts';
import { type Cursors, deriveText } from '../keys.ts';
import type { NewPolicy, Policy } from '../policy-shelf.ts';
import type { World } from '../world.ts';
import { AnswerError, invalidRequest, notFound } from './answers.ts';
import { type Authenticate, worldFor } from './authenticate.ts';
import { firstProblem } from './consent-logs.ts';
import { formA, formB } from './forms.ts';

interface PolicyRoutes extends GenerateOptions {
  readonly authenticate: Authenticate;
  readonly dialect: Dialect;
  readonly cursors: Cursors;
}

/** Policies per page in the cursor form of the list: few, so that a caller has to follow the cursor. */
const LIST_PAGE = 1;

/** Generate, list and publish (docs/service.md §4.1, §4.3, §4.4). */
export function addPolicyRoutes(app: FastifyInstance, routes: PolicyRoutes): void {
  const { authenticate, clock, dialect, siteUrl, notify } = routes;

  app.post('/policies/generate', { config: { target: 'generate' } }, async (request, reply) => {
    const caller = authenticate(request);
    const { form, input, domain } = readGenerate(request.body);
    const world = worldFor(caller, domain);
    const policy = await generatePolicy(world, input, routes);
    return reply
      .code(dialect.createdStatus)
      .send(form === 'A' ? shapeA(world, policy, dialect) : shapeB(world, policy, siteUrl()));
  });

  app.get<{ Querystring: { cursor?: unknown } }>('/policies', { config: { target: 'list' } }, async (request) => {
    const caller = authenticate(request);
    const policies = caller.flatMap((world) =>
      world.shelf.list(clock()).map((policy) => ({
        id: policy.id,
        policy_type: policy.policyType,
        title: policy.title,
        jurisdiction: policy.jurisdiction,
        language: policy.language,
        updated_at: policy.updatedAt.toISOString(),
        url: `${siteUrl()}${world.shelf.path(policy)}`,
      })),
    );
    if (dialect.list === 'count') return { count: policies.length, policies };
    const query = JSON.stringify(['policies', ...caller.map(({ client }) => client.slug)]);
    const { cursor } = request.query;
    const start = cursor === undefined ? 0 : routes.cursors.read(query, typeof cursor === 'string' ? cursor : '');
    if (start === null) throw invalidRequest('The cursor does not belong to this list.');
    const end = start + LIST_PAGE;
    return {
      data: policies.slice(start, end),
      next_cursor: end < policies.length ? routes.cursors.make(query, end) : null,
    };
  });

  app.post<{ Params: { id: string } }>('/policies/:id/publish', { config: { target: 'publish' } }, async (request) => {
    const now = clock();
    const caller = authenticate(request);
    if (dialect.publishBody === 'required' && (typeof request.body !== 'object' || request.body === null))
      throw invalidRequest('The body must be a JSON object.');
    const world = caller.find(({ shelf }) => shelf.find(request.params.id, now) !== null);
    const policy = world?.shelf.publish(request.params.id, now) ?? null;
    if (world === undefined || policy === null) throw notFound('No such policy.');
    const publishedAt = policy.publishedAt ?? now;
    const queued = notify(world, world.shelf.happening(policy, 'policy.published', publishedAt));
    return {
      id: policy.id,
      hosted_url: `${siteUrl()}${world.shelf.path(policy)}`,
      published_at: publishedAt.toISOString(),
      webhook_deliveries_queued: queued,
    };
  });
}

function readGenerate(body: unknown): { form: 'A' | 'B'; input: NewPolicy; domain: string | undefined } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidRequest('The body must be a JSON object.');
  if ('type' in body && !('policy_type' in body)) {
    const parsed = formB.safeParse(body);
    if (!parsed.success) throw invalidRequest(firstProblem(parsed.error));
    const { type, jurisdiction: codes, language: lang, custom_clauses: clauses } = parsed.data;
    const input = {
      policyType: type.replaceAll('_', '-'),
      jurisdiction: codes.join(','),
      language: lang,
      brandName: null,
      domain: null,
      clauses,
    };
    return { form: 'B', input, domain: undefined };
  }
  const parsed = formA.safeParse(body);
  if (!parsed.success) throw invalidRequest(firstProblem(parsed.error));
  return { form: 'A', input: newPolicyOf(parsed.data), domain: parsed.data.domain };
}

/** Form A of the response, also returned by the MCP tool. */
export function shapeA(
  world: World,
  policy: Policy,
  { tellsRemaining }: Pick<Dialect, 'tellsRemaining'>,
): Record<string, unknown> {
  return {
    id: policy.id,
    policy_type: policy.policyType,
    jurisdiction: policy.jurisdiction,
    language: policy.language,
    content: world.shelf.markdown(policy),
    created_at: policy.createdAt.toISOString(),
    ...(tellsRemaining ? { policies_remaining: world.shelf.remaining() } : {}),
  };
}

function shapeB(world: World, policy: Policy, siteUrl: string): Record<string, unknown> {
  return {
    id: policy.id,
    type: policy.policyType.replaceAll('-', '_'),
    version: policy.version,
    hosted_url: `${siteUrl}${world.shelf.path(policy)}`,
    html: world.shelf.html(policy),
    markdown: world.shelf.markdown(policy),
    created_at: policy.createdAt.toISOString(),
  };
}

export interface GenerateOptions {
  readonly clock: () => Date;
  readonly siteUrl: () => string;
  /** Duration of a generation, milliseconds. */
  readonly generateMs: number;
  /** Waits by the sandbox's clock. */
  readonly wait: (ms: number) => Promise<void>;
  /** Queues webhooks; returns their number. */
  readonly notify: (world: World, happening: PolicyHappening) => number;
}

/** One generation, by REST or MCP: takes its time, counts against the quota, fires policy.created. 402 if the quota is used up. */
export async function generatePolicy(world: World, input: NewPolicy, options: GenerateOptions): Promise<Policy> {
  const spent = (): AnswerError => new AnswerError(402, 'quota_exhausted', 'The quota of the plan is used up.');
  if (world.shelf.remaining() === 0) throw spent();
  if (options.generateMs > 0) await options.wait(options.generateMs);
  const policy = world.shelf.generate(input, options.clock());
  // Others may have used it up in the meantime.
  if (policy === null) throw spent();
  options.notify(world, world.shelf.happening(policy, 'policy.created', policy.createdAt));
  return policy;
}

/** A new policy from form A. */
export function newPolicyOf(asked: z.infer<typeof formA>): NewPolicy {
  const { policy_type: policyType, jurisdiction: code, language: lang, business_name: brandName = null } = asked;
  return { policyType, jurisdiction: code, language: lang, brandName, domain: asked.domain ?? null, clauses: [] };
}

const MOST_ITEMS = 20;
const bodySchema = z.object({ items: z.array(z.unknown()).min(1).max(MOST_ITEMS) });

interface BulkResult {
  readonly id: string | null;
  readonly policy_type: string | null;
  readonly status: 'created' | 'skipped' | 'failed';
}

interface BulkRoutes extends PolicyRoutes {
  /** Numbers the batches, from 1. */
  readonly nextBatch: () => number;
}

/** POST /policies/bulk (docs/service.md §4.2): items beyond the quota are skipped, invalid ones failed. */
export function addBulkRoute(app: FastifyInstance, { authenticate, clock, notify, nextBatch }: BulkRoutes): void {
  app.post('/policies/bulk', { config: { target: 'bulk' } }, async (request) => {
    const caller = authenticate(request);
    const body = bodySchema.safeParse(request.body);
    if (!body.success) throw invalidRequest(`items: must be an array of 1 to ${MOST_ITEMS} objects`);
    const results = body.data.items.map((item): BulkResult => {
      const parsed = formA.safeParse(item);
      if (!parsed.success) return { id: null, policy_type: typeOf(item), status: 'failed' };
      const world = worldFor(caller, parsed.data.domain);
      const policy = world.shelf.generate(newPolicyOf(parsed.data), clock());
      if (policy === null) return { id: null, policy_type: parsed.data.policy_type, status: 'skipped' };
      notify(world, world.shelf.happening(policy, 'policy.created', policy.createdAt));
      return { id: policy.id, policy_type: policy.policyType, status: 'created' };
    });
    const count = (status: BulkResult['status']): number => results.filter((result) => result.status === status).length;
    return {
      batch_id: `bat_${deriveText(16, caller[0].client.seed, 'batch', nextBatch())}`,
      total: results.length,
      created: count('created'),
      failed: count('failed'),
      results,
    };
  });
}

function typeOf(item: unknown): string | null {
  return typeof item === 'object' && item !== null && 'policy_type' in item && typeof item.policy_type === 'string'
    ? item.policy_type
    : null;
}
