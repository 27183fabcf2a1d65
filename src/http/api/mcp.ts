import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listCases } from '../../cases/list-cases.ts';
import { summariseCase } from '../../cases/summarise.ts';
import type { CaseView } from '../../cases/view.ts';
import { lookUpConsent, readLookUpTime } from '../../consent/look-up.ts';
import type { Context } from '../../context/context.ts';
import { isoNow } from '../../core/clock.ts';
import { loadPolicyTexts } from '../../policy-snapshots/stored-texts.ts';
import { officerOf } from '../auth/sessions.ts';
import { timeText, timeWords } from './times.ts';

/** The answer to several messages in one request, of which the limit of requests would count one. */
const ONE_MESSAGE = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32600, message: 'Send one message per request: batches are not accepted (MCP 2025-06-18).' },
};

/** What the tools may touch of the installation. */
type Needs = Pick<
  Context,
  | 'config'
  | 'store'
  | 'ledger'
  | 'keys'
  | 'instance'
  | 'version'
  | 'sources'
  | 'projector'
  | 'cases'
  | 'cosigned'
  | 'clock'
>;

/**
 * The Model Context Protocol over HTTP (Streamable HTTP of 2025-06-18), read-only, for holders of an API token. Without
 * sessions: each POST is answered in full and nothing is kept afterwards, so the next one may go to another process.
 */
export async function mcpOverHttp(app: FastifyInstance, context: Needs): Promise<void> {
  app.post('/mcp', async (request, reply) => {
    const { officer, sources } = officerOf(request);
    if (Array.isArray(request.body)) return reply.code(400).send(ONE_MESSAGE);
    const { WebStandardStreamableHTTPServerTransport } = await import(
      '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
    );
    const server = await createMcpServer(context, { actor: `${officer} (MCP)`, sources });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    try {
      await server.connect(transport);
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
      );
      const asked = new Request('http://localhost/mcp', { method: 'POST', headers });
      const answered = await transport.handleRequest(asked, { parsedBody: request.body });
      const type = answered.headers.get('content-type');
      if (type !== null) void reply.type(type);
      return await reply.code(answered.status).send(await answered.text());
    } finally {
      await server.close();
    }
  });
  // There is no server-initiated stream and no session to end.
  app.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    handler: (_request, reply) => reply.code(405).header('allow', 'POST').send(),
  });
}

/** The caller: `actor` as named in the ledger. `sources`: slugs that may be asked about; null: all. */
interface Asker {
  readonly actor: string;
  readonly sources: readonly string[] | null;
}

/** Dependencies of the tools. */
interface Asked extends Asker {
  readonly context: Needs;
  /** Whether the source exists and the caller may ask about it. */
  isOpen(source: string): boolean;
}

/** A server with all tools, which use the same use cases as the pages. */
export async function createMcpServer(context: Needs, { actor, sources }: Asker): Promise<McpServer> {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  const server = new McpServer({ name: 'consent-ledger', version: context.version });
  const isOpen = (source: string) =>
    context.sources.findAny(source) !== null && (sources === null || sources.includes(source));
  const asked = { context, actor, sources, isOpen };
  for (const addTool of [addListSources, addConsentAt, addRequestsDue, addPolicyTexts]) addTool(server, asked);
  return server;
}

const annotations = { readOnlyHint: true, openWorldHint: false };
const slug = z.string().max(100).describe('Slug of the source, from list_sources.');
const unknownSource = 'Unknown source: see list_sources.';

function addListSources(server: McpServer, { context, isOpen }: Asked): void {
  server.registerTool(
    'list_sources',
    { title: 'List the sources', description: 'Slugs and names of the sources that can be queried.', annotations },
    () =>
      answer({
        sources: context.sources
          .list()
          .filter((source) => isOpen(source.slug))
          .map(({ slug: own, name }) => ({ slug: own, name })),
      }),
  );
}

function addConsentAt(server: McpServer, { context, actor, isOpen }: Asked): void {
  server.registerTool(
    'consent_at',
    {
      title: 'A person’s consent at a given time',
      description:
        'Was a purpose allowed by this visitor hash, e-mail address or record id at that time, by which decision, and under which text? Every entry that the answer cites (seq) was checked against the sealed ledger. The look-up is recorded, without the identifier. Nothing found does not mean that no data is held.',
      inputSchema: {
        source: slug,
        identifier: z.string().trim().min(1).max(500).describe('Visitor hash, e-mail address, or consent record id.'),
        at: timeText.describe(`The time in question: ${timeWords}. A day means its end.`),
      },
      annotations,
    },
    async ({ source, identifier, at: typed }) => {
      if (!isOpen(source)) return refusal(unknownSource);
      const read = readLookUpTime(typed, context.config.timeZone, isoNow(context.clock));
      if (read.problem !== undefined) return refusal(`Invalid time ${JSON.stringify(typed)}: ${read.problem}`);
      const { at } = read;
      const asOf = await context.projector.catchUp();
      const found = await lookUpConsent(context, { source, identifier, at, asOf, actor });
      switch (found.outcome) {
        case 'untrusted':
          return refusal(found.problem);
        case 'refused':
          return refusal(found.problems.join(' '));
        case 'not-found':
          return answer({ outcome: 'not-found', recordedAsEntry: found.recorded });
        case 'found': {
          const { outcome, standing, knownThen, decisions, total, later, recorded } = found;
          return answer({ outcome, at, asOf, standing, knownThen, decisions, total, later, recordedAsEntry: recorded });
        }
        default:
          return found satisfies never;
      }
    },
  );
}

function addRequestsDue(server: McpServer, { context, sources, isOpen }: Asked): void {
  server.registerTool(
    'requests_due',
    {
      title: 'Which data subject requests are due',
      description:
        'Open requests by legal limit, nearest first, without names. openedSeq and lastSeq are the entries that they are based on.',
      inputSchema: {
        source: slug.optional(),
        withinDays: z.int().min(0).max(3660).default(30).describe('Due by then, or overdue.'),
      },
      annotations,
    },
    async ({ source, withinDays }) => {
      if (source !== undefined && !isOpen(source)) return refusal(unknownSource);
      const asOf = await context.projector.catchUp();
      const only = source === undefined ? sources : [source];
      const open = await listCases(context.cases, {
        open: true,
        now: isoNow(context.clock),
        ...(only === null ? {} : { sources: only }),
      });
      const due = open.filter(({ daysLeft }) => daysLeft === null || daysLeft <= withinDays);
      return answer({ asOf, requests: due.map(requestOf) });
    },
  );
}

/** A request without names. */
function requestOf(view: CaseView) {
  const { caseId, source, kind, state, legalLimit, ownRule, aimFor, ...more } = summariseCase(view);
  const { daysLeft, overdue, explanation, notRecorded, caveat, ownTarget } = more;
  const dates = { legalLimit, ownRule, aimFor, daysLeft, overdue, notRecorded, caveat, ownTarget };
  const seqs = { openedSeq: view.row.opened_seq, lastSeq: view.row.last_seq };
  return { caseId, source, kind, state, ...dates, explanation, ...seqs };
}

function addPolicyTexts(server: McpServer, { context, isOpen }: Asked): void {
  server.registerTool(
    'policy_texts',
    {
      title: 'The texts of a policy',
      description:
        'Versions of a policy’s text as fetched, with the times between which each was seen and the entry (bodySeq) that contains it.',
      inputSchema: { source: slug, policyId: z.string().min(1).max(300) },
      annotations,
    },
    async ({ source, policyId }) => {
      if (!isOpen(source)) return refusal(unknownSource);
      const asOf = await context.projector.catchUp();
      return answer({ asOf, texts: await loadPolicyTexts(context.store.read, { source, policyId, asOf }) });
    },
  );
}

function answer(value: object): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}

function refusal(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}
