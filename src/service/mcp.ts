import type { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { z } from 'zod';
import { createStreamingFetch, withDeadline } from './http.ts';
import { ServiceError } from './service-error.ts';
import { asMcpError, createWatchedFetch, toolError } from './mcp-errors.ts';
import { type ToolSchema, toToolArguments } from './mcp-fields.ts';

/** How to reach the MCP endpoint for one source (docs/service.md §4.9), and what to send. */
export interface McpGeneration {
  /** Public origin of the service; the endpoint is `/api/mcp` under it. */
  readonly siteUrl: string;
  /** Sent as `Authorization: Bearer …`, to that address only. */
  readonly apiKey: string;
  /** JSON of form A (docs/service.md §4.1). */
  readonly body: Buffer;
  /** Longest time for all of it, milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What the tool answered. */
export interface McpAnswer {
  readonly status: number;
  /** The text of the tool's answer, as it came. */
  readonly bytes: Buffer;
}

const TOOL = 'generate_policy';
const formSchema = z.record(z.string(), z.string());

/**
 * Generates one policy through the service's MCP endpoint: asks which fields its tool takes, since they are not documented, sends form A
 * in those words, and hands the answer on. The tool is called once, never again.
 * Errors: ServiceError as for REST, `unsent` where the tool was not called yet; the signal's reason when aborted.
 */
export async function generateViaMcp(generation: McpGeneration): Promise<McpAnswer> {
  const { siteUrl, apiKey, timeoutMs, signal } = generation;
  signal?.throwIfAborted();
  const form = formSchema.parse(JSON.parse(generation.body.toString('utf8')));
  // Loaded only here: nothing else needs it.
  const [{ Client }, { StreamableHTTPClientTransport }, { CallToolResultSchema }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const watched = createWatchedFetch(createStreamingFetch(timeoutMs));
  const client = new Client({ name: 'consent-ledger', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/api/mcp', siteUrl), {
    requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
    fetch: watched.fetch,
    // A stream that breaks is not taken up again: what became of the call is settled by other evidence.
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 1000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  let called = false;
  try {
    return await withDeadline(timeoutMs, signal, async (ending) => {
      const limits = { timeout: timeoutMs, signal: ending };
      await client.connect(transport, limits);
      const schema = await findToolSchema(client, limits);
      const given = toToolArguments(form, schema);
      if (given.outcome === 'impossible')
        throw new ServiceError('bad-request', { detail: given.reason, about: 'policies', unsent: true });
      called = true;
      // Not the SDK's callTool: it would compile the endpoint's schema of the result, and a pattern in it may never end.
      const params = { name: TOOL, arguments: given.arguments };
      const result = await client.request({ method: 'tools/call', params }, CallToolResultSchema, limits);
      const text = textOf(result);
      if (result.isError === true) throw toolError(text, apiKey);
      return { status: 200, bytes: Buffer.from(text, 'utf8') };
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw asMcpError(error, { apiKey, unsent: !called, ...watched.last() });
  } finally {
    // An endpoint that does not let go of its stream is not waited for.
    void client.close().catch(() => undefined);
  }
}

/** Which fields the tool takes; it may stand on a later page of the list. */
async function findToolSchema(client: McpClient, limits: RequestOptions): Promise<ToolSchema> {
  const { ListToolsResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  let cursor: string | undefined;
  for (let page = 0; page < 20; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const list = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, limits);
    const tool = list.tools.find(({ name }) => name === TOOL);
    if (tool !== undefined) return tool.inputSchema;
    if (list.nextCursor === undefined) break;
    cursor = list.nextCursor;
  }
  throw new ServiceError('unreadable', {
    detail: `the MCP endpoint has no tool ${TOOL}`,
    about: 'policies',
    unsent: true,
  });
}

/** The answer's data, else its first text; empty where it has neither. */
function textOf(result: Record<string, unknown>): string {
  if (typeof result['structuredContent'] === 'object' && result['structuredContent'] !== null)
    return JSON.stringify(result['structuredContent']);
  const content = Array.isArray(result['content']) ? (result['content'] as unknown[]) : [];
  const texts = content.flatMap((part) =>
    typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.find((text) => text.trimStart().startsWith('{')) ?? texts[0] ?? '';
}
