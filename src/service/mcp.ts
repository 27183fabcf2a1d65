import { setMaxListeners } from 'node:events';
import type { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { z } from 'zod';
import type { DestinationRule } from '../core/destination.ts';
import { cleanText, readEnvelope } from './answer-json.ts';
import { createStreamingFetch, HttpTimeout, withDeadline } from './outgoing-http.ts';
import { waitFromHeaders } from './rate-limit.ts';
import { kindOfStatus, networkFaultOf, ServiceError, type ServiceErrorKind } from './service-error.ts';

/** The MCP endpoint for one source (docs/service.md §4.9), and what to send. */
interface McpGeneration {
  /** Public origin of the service; the endpoint is `/api/mcp` under it. */
  readonly siteUrl: string;
  /** Where that address may lead. */
  readonly destinations: DestinationRule;
  /** Sent as `Authorization: Bearer …` to that address only. */
  readonly apiKey: string;
  /** JSON of form A (docs/service.md §4.1). */
  readonly body: Buffer;
  /** Maximum total time in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The tool's response. */
interface McpAnswer {
  readonly status: number;
  /** The text of the tool's response, unchanged. */
  readonly bytes: Buffer;
}

const TOOL = 'generate_policy';
const formSchema = z.record(z.string(), z.string());

/**
 * Generates one policy through the service's MCP endpoint: asks for the fields of its undocumented tool, sends form A
 * with those names, and returns the response. The tool is called once only. Errors: ServiceError as for REST, `unsent`
 * if the tool was not called yet; the signal's reason if aborted.
 */
export async function generateViaMcp(generation: McpGeneration): Promise<McpAnswer> {
  const { siteUrl, destinations, apiKey, timeoutMs, signal } = generation;
  signal?.throwIfAborted();
  const form = formSchema.parse(JSON.parse(generation.body.toString('utf8')));
  // Imported here because nothing else needs it.
  const [{ Client }, { StreamableHTTPClientTransport }, { CallToolResultSchema }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const watched = createWatchedFetch(createStreamingFetch(destinations, timeoutMs));
  const client = new Client({ name: 'consent-ledger', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/api/mcp', siteUrl), {
    requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
    fetch: watched.fetch,
    // A broken stream is not resumed: the outcome of the call is settled by other evidence.
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
      // The SDK adds a listener to the signal for each request; this signal ends with the exchange.
      setMaxListeners(0, ending);
      const limits = { timeout: timeoutMs, signal: ending };
      await client.connect(transport, limits);
      const schema = await findToolSchema(client, limits);
      const given = toToolArguments(form, schema);
      if (given.outcome === 'impossible')
        throw new ServiceError('bad-request', { detail: given.reason, about: 'policies', unsent: true });
      called = true;
      // Not the SDK's callTool, which would compile the endpoint's result schema; a pattern in it might never finish.
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
    // Not awaited: the endpoint might not release its stream.
    void client.close().catch(() => undefined);
  }
}

/** The fields that the tool accepts; it may be on a later page of the list. */
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

/** The response's data, or else its first text; empty if it has neither. */
function textOf(result: Record<string, unknown>): string {
  if (typeof result['structuredContent'] === 'object' && result['structuredContent'] !== null)
    return JSON.stringify(result['structuredContent']);
  const content = Array.isArray(result['content']) ? (result['content'] as unknown[]) : [];
  const texts = content.flatMap((part) =>
    typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.find((text) => text.trimStart().startsWith('{')) ?? texts[0] ?? '';
}

/** The used part of a tool's input schema (JSON Schema). */
interface ToolSchema {
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: unknown;
}

/** `impossible`: the tool does not accept what was requested, or requires something that form A lacks. */
type ToolArguments =
  | { readonly outcome: 'mapped'; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'impossible'; readonly reason: string };

/** Other names that a field of form A may have in the tool, whose input is not documented (docs/assumptions.md). */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  policy_type: ['policyType', 'type', 'policy', 'document_type', 'documentType'],
  jurisdiction: ['jurisdictions', 'region', 'country'],
  language: ['lang', 'locale'],
  business_name: ['businessName', 'company_name', 'companyName', 'brand_name', 'brandName', 'company', 'business'],
  domain: ['website', 'website_url', 'websiteUrl', 'site_url', 'siteUrl', 'url'],
  industry: ['sector'],
  business_type: ['businessType', 'legal_structure', 'legalStructure', 'company_type', 'companyType', 'entity_type'],
};

/**
 * Form A in the tool's terms: by the same name, or else a likely other one. A value becomes a list if the tool requires
 * one, and takes the spelling (hyphens or underscores) that the tool lists. Nothing requested is dropped silently.
 */
export function toToolArguments(form: Readonly<Record<string, string>>, schema: ToolSchema): ToolArguments {
  const properties = schema.properties ?? {};
  const isSilent = Object.keys(properties).length === 0;
  const given: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(form)) {
    const name = [field, ...(otherNames[field] ?? [])].find((one) => Object.hasOwn(properties, one));
    if (name !== undefined) given[name] = fitted(value, properties[name]);
    else if (isSilent || schema.additionalProperties !== false) given[field] = value;
    else return { outcome: 'impossible', reason: `the MCP tool does not accept ${field}: leave it out, or use REST` };
  }
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0)
    return { outcome: 'impossible', reason: `the MCP tool also needs ${missing.join(', ')}: use REST` };
  return { outcome: 'mapped', arguments: given };
}

function fitted(value: string, property: unknown): unknown {
  if (typeof property !== 'object' || property === null) return value;
  const { type, items } = property as { type?: unknown; items?: unknown };
  if (type === 'array') return [spelled(value, items)];
  return spelled(value, property);
}

function spelled(value: string, property: unknown): string {
  const allowed =
    typeof property === 'object' && property !== null && 'enum' in property && Array.isArray(property.enum)
      ? (property.enum as unknown[])
      : [];
  const plain = (text: string) => text.toLowerCase().replaceAll('_', '-');
  const same = allowed.find((one): one is string => typeof one === 'string' && plain(one) === plain(value));
  return same ?? value;
}

/** How the last exchange with the endpoint ended, which the SDK's errors do not say. */
interface LastExchange {
  /** Status of a refusal; null if the last response was not a refusal. */
  readonly status: number | null;
  /** How long that refusal asks us to wait, milliseconds. */
  readonly retryAfterMs: number | null;
  /** Why there was no response; null if there was one. */
  readonly failure: unknown;
  readonly tooLarge: boolean;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** A fetch that follows no redirects, accepts no endless responses and remembers how the last exchange ended. */
function createWatchedFetch(ask: typeof fetch): { readonly fetch: typeof fetch; last(): LastExchange } {
  const silent: LastExchange = { status: null, retryAfterMs: null, failure: null, tooLarge: false };
  let last = silent;
  return {
    last: () => last,
    fetch: async (input, init) => {
      // The stream that the SDK opens in addition to its requests says nothing about them.
      const counts = init?.method === 'POST';
      try {
        const response = await ask(input, { ...init, redirect: 'manual' });
        const { status, headers } = response;
        if (counts)
          last = response.ok ? silent : { ...silent, status, retryAfterMs: waitFromHeaders(headers, Date.now()) };
        // With an opaque status, the SDK would continue as if it had been answered.
        if (status >= 300 && status < 400) {
          await response.body?.cancel();
          return new Response(null, { status: 502 });
        }
        if (response.body === null) return response;
        const bounded = response.body.pipeThrough(limit(() => (last = { ...last, tooLarge: true })));
        return new Response(bounded, { status, headers });
      } catch (error) {
        if (counts) last = { ...silent, failure: error };
        throw error;
      }
    },
  };
}

function limit(onTooLarge: () => void): TransformStream<Uint8Array, Uint8Array> {
  let total = 0;
  return new TransformStream({
    transform(chunk, controller) {
      total += chunk.length;
      if (total <= MAX_BYTES) return controller.enqueue(chunk);
      onTooLarge();
      controller.error(new Error('too large'));
    },
  });
}

/** Converts a failure of the protocol or the connection to what REST would have reported. */
function asMcpError(
  error: unknown,
  about: LastExchange & { readonly apiKey: string; readonly unsent: boolean },
): ServiceError {
  if (error instanceof ServiceError) return error;
  const { unsent, status, retryAfterMs } = about;
  const details = { about: 'policies', unsent } as const;
  if (about.tooLarge) return new ServiceError('too-large', details);
  if (error instanceof HttpTimeout) return new ServiceError('timeout', details);
  if (status !== null) {
    const kind = kindOfStatus(status);
    const envelope = error instanceof Error ? readEnvelope(jsonIn(error.message), about.apiKey) : {};
    const wait = kind === 'rate-limited' && retryAfterMs !== null ? { retryAfterMs } : {};
    return new ServiceError(kind, { ...details, status, ...envelope, ...wait });
  }
  const code = codeOf(error);
  // The SDK's codes for a time-out and a closed connection.
  if (code === REQUEST_TIMEOUT) return new ServiceError('timeout', details);
  if (about.failure !== null) {
    const cause = about.failure instanceof Error && about.failure.cause ? about.failure.cause : about.failure;
    return new ServiceError('network', { ...details, fault: networkFaultOf(cause) });
  }
  const detail = error instanceof Error ? cleanText(error.message, about.apiKey, 200) : '';
  if (error instanceof Error && error.name === 'ZodError') return new ServiceError('unreadable', details);
  return new ServiceError(kindOfCode(code), { ...details, ...(detail === '' ? {} : { detail }) });
}

const REQUEST_TIMEOUT = -32001;

function codeOf(error: unknown): number | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'number' ? code : null;
}

/** JSON-RPC: an invalid request was not acted on; any other error leaves it open. */
function kindOfCode(code: number | null): ServiceErrorKind {
  if (code === -32602 || code === -32601 || code === -32600 || code === -32700) return 'bad-request';
  return code === null ? 'network' : 'server-error';
}

/** The JSON in a text that begins with words, or the text itself if there is none. */
function jsonIn(text: string): string {
  const start = text.indexOf('{');
  return start === -1 ? text : text.slice(start);
}

/**
 * The meaning of a tool's error. Its texts are not documented: the REST envelope is looked for, and its code decides,
 * or the text if there is no code. If that is inconclusive, it remains open whether a policy was made.
 */
export function toolError(text: string, apiKey: string): ServiceError {
  const { code, detail } = readEnvelope(jsonIn(text), apiKey);
  const kind = code === undefined ? kindOfText(detail ?? text) : kindOfWord(code);
  return new ServiceError(kind, {
    about: 'policies',
    ...(code === undefined ? {} : { code }),
    detail: detail ?? cleanText(text, apiKey, 200),
    answer: Buffer.from(text, 'utf8'),
  });
}

/** Only codes about the request itself: `invalid_output` or `model_not_found` may come from half way through. */
const codes: readonly (readonly [RegExp, ServiceErrorKind])[] = [
  [/rate.?limit|too.?many/i, 'rate-limited'],
  [/quota|payment|subscription/i, 'payment-required'],
  [/unauthori[sz]ed|invalid.?(api.?)?key|revoked/i, 'unauthorized'],
  [/forbidden|permission|scope/i, 'forbidden'],
  [/^((policy|client|resource|banner).?)?not.?found$/i, 'not-found'],
  [
    /^(bad.?request|validation.*|missing.*|invalid(.?(request|input|argument|param|field|policy|type|jurisdiction|language).*)?)$/i,
    'bad-request',
  ],
];

function kindOfWord(code: string): ServiceErrorKind {
  return codes.find(([pattern]) => pattern.test(code))?.[1] ?? 'server-error';
}

/** Free text is only trusted if it cannot be about a failure half way through. */
function kindOfText(text: string): ServiceErrorKind {
  if (/^(MCP error -32602|Input validation error)/i.test(text.trim())) return 'bad-request';
  if (/rate limit|too many requests/i.test(text)) return 'rate-limited';
  return /\bquota\b|payment required/i.test(text) ? 'payment-required' : 'server-error';
}
