import type { FastifyInstance } from 'fastify';
import type { Cursors } from '../cursor.ts';
import type { Dialect } from '../dialect.ts';
import type { NewPolicy, Policy } from '../policies.ts';
import type { World } from '../world.ts';
import { invalidRequest, notFound } from './answers.ts';
import { type Authenticate, worldFor } from './authenticate.ts';
import { firstProblem } from './consent-logs.ts';
import { formA, formB } from './forms.ts';
import { type GenerateOptions, generatePolicy, newPolicyOf } from './generate.ts';

export interface PolicyRoutes extends GenerateOptions {
  readonly authenticate: Authenticate;
  readonly dialect: Dialect;
  readonly cursors: Cursors;
}

/** Policies a page in the cursor form of the list: few, so that a caller has to follow the cursor. */
const LIST_PAGE = 2;

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

/** Form A of the answer, as the MCP tool gives it too. */
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
