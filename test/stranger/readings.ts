/**
 * What the documentation of the service (docs/service.md) leaves open, and the interpretations of each clause. The
 * first of each clause is the plain one; a reading chooses one per clause.
 */
const ways = {
  // §4, transport: "Requests and responses are JSON."
  jsonType: ['application/json', 'application/json; charset=utf-8', 'text/json', 'application/vnd.service.v1+json', ''],
  encoding: ['none', 'gzip', 'br', 'deflate'],
  framing: ['length', 'chunked'],
  connection: ['kept', 'closed'],
  // §2: "string", "ISO 8601 (UTC) timestamp"
  ids: ['string', 'number', 'uuid', 'punctuated'],
  times: ['milliseconds, Z', 'microseconds, Z', 'milliseconds, +00:00', 'another offset', 'no offset', 'a space'],
  // §8: "rate limits reported in response headers"
  limitHeaders: ['none', 'X-RateLimit', 'RateLimit', 'structured', 'lists, milliseconds'],
  // §7: the first answer to a call: 429 "wait and retry", 500
  firstAnswer: ['plain', '429, seconds', '429, date', '429, X-RateLimit-Reset', '429, RateLimit-Reset', '500'],
  // §4.1: forms A and B, "HTTP success status"
  generateRequest: ['a', 'b', 'both'],
  generateAnswer: ['a with the quota', 'a', 'b'],
  generateStatus: [200, 201, 202],
  createdEvent: ['sent', 'not sent'],
  // §4.2
  bulkStatus: [200, 201, 202, 207],
  bulkOrder: ['as sent', 'reversed'],
  bulkType: ['as sent', 'underscores'],
  bulkQuota: [20, 2],
  skippedId: ['null', 'absent', 'empty'],
  bulkFails: [20, 1],
  failedItem: ['listed', 'left out'],
  // §4.3
  listForm: ['count and policies', 'data and next_cursor'],
  listPage: [100, 1],
  listEnd: ['null', 'absent', 'empty', 'false'],
  // §4.4: "Request body: not shown"
  publishBody: ['any', 'none', 'object'],
  publishStatus: [200, 201, 202],
  publishAddress: ['with its token', 'without its token'],
  // §4.5: "ISO date range", "limit: 1 to 200", "cursor"; it does not say which of them are required
  logDates: [
    'days and times',
    'days',
    'times',
    'times of whole seconds',
    'times in milliseconds',
    'no Z',
    'times without an offset',
    'times cut down to days',
  ],
  logTo: ['the end of its day', 'the beginning of its day'],
  logRange: ['optional', 'from required', 'both required', 'both or none', 'a month at most'],
  logLimit: ['optional', 'required'],
  logBanner: ['optional', 'required'],
  unknownBanner: ['404', '400', 'empty'],
  logCursor: ['beside the others', 'alone', 'with the limit', 'with the same parameters'],
  cursors: ['base64', 'json', 'digits', 'number', 'long'],
  logEnd: ['null', 'absent', 'empty', 'false', 'an empty page'],
  logOrder: ['newest first', 'oldest first', 'as recorded'],
  logPage: [3, 1, 200],
  // §2.8: "Fields of the record: not shown"
  consentRow: ['plain', 'camel case', 'numbers', 'nested', 'lists', 'flags', 'without an id', 'without a banner'],
  // §4.6: "the OpenAPI 3.1 specification"
  openapiKey: ['yes', 'no'],
  openapiBody: ['json', 'yaml'],
  // §4.7: "Response body shape: not shown"
  embedBody: ['html', 'content', 'policy.content', 'data.html', 'html document', 'html fragment', 'markdown'],
  wrongSiteKey: [401, 403, 404],
  // §4.9: "Input schema of the tool: not shown"
  mcpAnswer: ['json', 'event stream'],
  mcpSession: ['none', 'kept'],
  mcpFields: ['form a', 'camel case', 'form b', 'none'],
  mcpResult: ['text', 'structured'],
  mcpVersion: ['2025-06-18', '2025-03-26', '2024-11-05'],
  // §2.5, §5: two kinds of keys. §6: the origin of the signing secret is not shown
  apiKey: ['named', 'legacy'],
  secret: ['text', 'hex', 'base64'],
  // §6: header names, payloads of other events, retries
  headerCase: ['documented', 'lower case', 'upper case'],
  signatures: ['both', 'the first', 'the second'],
  deliveryType: [
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'application/x-www-form-urlencoded',
    '',
  ],
  deliveryFraming: ['length', 'chunked'],
  deliverySpacing: ['none', 'indented'],
  deliveries: ['once', 'twice'],
  deliveryTime: ['after the answer', 'before the answer'],
  eventEnvelope: ['flat', 'data', 'type and data', 'payload'],
} as const;

type Ways = typeof ways;
export type Clause = keyof Ways;
/** One interpretation of each clause. */
export type Reading = { readonly [Name in Clause]: Ways[Name][number] };

export const clauses = Object.keys(ways) as readonly Clause[];

/** The number of interpretations of a clause. */
export const waysOf = (clause: Clause): readonly (string | number)[] => ways[clause];

/** The reading with interpretation number `choose(clause)` of each clause, modulo its number of interpretations. */
export function readingOf(choose: (clause: Clause) => number): Reading {
  return Object.fromEntries(
    clauses.map((clause) => [clause, ways[clause][choose(clause) % ways[clause].length]]),
  ) as unknown as Reading;
}

export const plainReading: Reading = readingOf(() => 0);

/**
 * As many readings as the largest number of interpretations: together they contain each interpretation of each clause,
 * in different combinations.
 */
export const manyReadings: Readonly<Record<string, Reading>> = Object.fromEntries(
  Array.from({ length: Math.max(...clauses.map((clause) => ways[clause].length)) }, (_, row) => [
    `reading-${row}`,
    readingOf((clause) => row + clauses.indexOf(clause)),
  ]),
);

export const steps = ['policies', 'bulk', 'log', 'texts', 'mcp', 'key'] as const;
export type Step = (typeof steps)[number];

/** The steps in which a clause matters. */
export function stepsOf(clause: Clause): readonly Step[] {
  const prefixes: Readonly<Record<string, readonly Step[]>> = {
    log: ['log'],
    cursors: ['log'],
    consentRow: ['log'],
    unknownBanner: ['log'],
    firstAnswer: ['policies', 'log'],
    generate: ['policies', 'mcp'],
    createdEvent: ['policies'],
    bulk: ['bulk'],
    skippedId: ['bulk'],
    failedItem: ['bulk'],
    list: ['policies'],
    publish: ['policies'],
    embed: ['texts'],
    wrongSiteKey: ['texts'],
    secret: ['log'],
    mcp: ['mcp'],
    openapi: ['key'],
    header: ['log'],
    signatures: ['log'],
    deliver: ['policies', 'log'],
    eventEnvelope: ['log'],
  };
  return Object.entries(prefixes).find(([prefix]) => clause.startsWith(prefix))?.[1] ?? steps;
}
