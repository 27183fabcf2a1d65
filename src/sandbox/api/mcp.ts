import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Dialect } from '../dialect.ts';
import type { LimitedKind } from '../limits.ts';
import { AnswerError } from './answers.ts';
import { type Authenticate, type Caller, worldFor } from './authenticate.ts';
import { formA } from './forms.ts';
import { type GenerateOptions, generatePolicy, newPolicyOf, shapeA } from './policies.ts';

interface McpRoutes extends GenerateOptions {
  readonly authenticate: Authenticate;
  readonly dialect: Pick<Dialect, 'tellsRemaining'>;
  readonly limit: (request: FastifyRequest, reply: FastifyReply, kind: LimitedKind) => void;
}

/**
 * The MCP endpoint with its one tool (docs/service.md §4.9), using the official SDK, which is imported with the first
 * request. Without sessions: each POST is answered in JSON, and there is nothing to GET. Requests that name another
 * host or come from another site's page are refused, so that no web page can reach it through a rebound name.
 */
export function addMcpRoute(app: FastifyInstance, routes: McpRoutes): void {
  // Before the body is read: its content does not matter without a key.
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    routes.authenticate(request, 'write');
  };
  app.post('/api/mcp', { config: { target: 'mcp' }, onRequest }, async (request, reply) => {
    const caller = routes.authenticate(request, 'write');
    routes.limit(request, reply, isToolCall(request.body) ? 'generate' : 'other');
    const { WebStandardStreamableHTTPServerTransport: Transport } = await import(
      '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
    );
    const site = new URL(routes.siteUrl());
    const transport = new Transport({
      enableJsonResponse: true,
      enableDnsRebindingProtection: true,
      allowedHosts: [site.host, ...(isLoopback(site.hostname) ? [`localhost:${site.port}`] : [])],
      allowedOrigins: [site.origin],
    });
    const server = await createServer(caller, routes);
    await server.connect(transport);
    try {
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' && name !== 'content-length' ? [[name, value] as [string, string]] : [],
      );
      const answer = await transport.handleRequest(
        new Request(`${site.origin}/api/mcp`, { method: 'POST', headers, body: JSON.stringify(request.body) }),
        { parsedBody: request.body },
      );
      const body = await answer.text();
      const type = answer.headers.get('content-type');
      if (type !== null) reply.type(type);
      return await reply.code(answer.status).send(body);
    } finally {
      await server.close();
    }
  });
  app.route({
    method: ['GET', 'DELETE'],
    url: '/api/mcp',
    handler: async (_request, reply) => {
      reply.header('allow', 'POST');
      throw new AnswerError(405, 'method_not_allowed', 'This endpoint keeps no sessions: send POST.');
    },
  });
}

async function createServer(caller: Caller, routes: McpRoutes) {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  const server = new McpServer({ name: 'compliance-policy-service-sandbox', version: '1' });
  server.registerTool(
    'generate_policy',
    {
      title: 'Generate a policy',
      description: 'Generates a sample policy, saves it and counts against the quota of the plan.',
      // Not documented; the fields of form A.
      inputSchema: formA.shape,
    },
    async (asked): Promise<CallToolResult> => {
      const world = worldFor(caller, asked.domain);
      try {
        const policy = await generatePolicy(world, newPolicyOf(asked), routes);
        const made = shapeA(world, policy, routes.dialect);
        return { content: [{ type: 'text', text: JSON.stringify(made) }] };
      } catch (error) {
        if (!(error instanceof AnswerError)) throw error;
        const refusal = { error: { code: error.code, message: error.message } };
        return { isError: true, content: [{ type: 'text', text: JSON.stringify(refusal) }] };
      }
    },
  );
  return server;
}

function isToolCall(body: unknown): boolean {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  return messages.some(
    (message) =>
      typeof message === 'object' && message !== null && 'method' in message && message.method === 'tools/call',
  );
}

function isLoopback(hostname: string): boolean {
  return /^(127\.|localhost$|\[::1\]$)/.test(hostname);
}
