import { z } from 'zod';
import { isOneLine, ONE_LINE } from './validation.ts';

/**
 * Calls to the service that change something (docs/architecture.md, Calls). Each is an entry `intent` before it is sent
 * and an entry `result` afterwards, both of kind `call`. The body of an intent is what is sent, the body of a result
 * what came back, byte for byte; the facts needed later are in the meta, which is one of these. No field contains the
 * API key.
 */
const callOperations = ['generate', 'bulk', 'publish'] as const;
export type CallOperation = (typeof callOperations)[number];

/** How it was sent: the REST API, or the service's MCP endpoint (docs/service.md §4.9). */
const callWays = ['rest', 'mcp'] as const;
export type CallWay = (typeof callWays)[number];

/** The id of a policy as people give it. It is part of the request path: an empty id, `.` or `..` would change the address. */
export const policyIdSchema = z
  .string()
  .max(300)
  .refine((id) => !/^(\s*|\.{1,2})$/.test(id), 'must be the id of a policy')
  .refine(isOneLine, ONE_LINE);

const actor = z.string().min(1).max(200);
const text = z.string().nullable();
const seq = z.number().int().positive();
const position = z.number().int().nonnegative();

/** The outcome of an item of a batch, or of a call: `unknown` until something settles it. */
const itemOutcomes = ['created', 'skipped', 'failed', 'unknown'] as const;
const itemResult = z.object({ position, status: z.enum(itemOutcomes), policyId: text });

const intent = z.object({
  call: z.literal('intent'),
  requestId: z.string(),
  operation: z.enum(callOperations),
  via: z.enum(callWays),
  actor,
  /** Path below the API root. */
  path: z.string(),
  /** Identifies the API key by a keyed hash: sources that share a key share its limits. */
  keyId: z.string(),
  /** How long to wait for a response; without a result, the call counts as lost some time later. */
  timeoutMs: z.number().int().positive(),
  policyType: text,
  jurisdiction: text,
  language: text,
  businessName: text,
  /** The policy to publish. */
  policyId: text,
  /** The plan of a batch, and which of its items these are, from 0. */
  planId: text,
  positions: z.array(position),
  /**
   * Of a publish: what the person saw before the button. `textSha256`: the visible text of the response in entry `seq`;
   * null: the text was not known here. `readInService`: they said that they read it in the service. Absent: requested
   * by a program, a command, or an earlier version.
   */
  shown: z.object({ textSha256: text, seq: seq.nullable(), readInService: z.boolean() }).optional(),
});
const result = z.object({
  call: z.literal('result'),
  requestId: z.string(),
  /** `refused`: certainly nothing was changed. `unknown`: the outcome is not known. */
  outcome: z.enum(['done', 'refused', 'unknown']),
  status: z.number().int().nullable(),
  error: z.object({ kind: z.string(), message: z.string() }).nullable(),
  policyId: text,
  version: text,
  /** Without its token. */
  hostedUrl: text,
  remaining: z.number().int().nullable(),
  webhooksQueued: z.number().int().nullable(),
  batchId: text,
  items: z.array(itemResult),
});
/** No result was written in time, because the process ended in between. */
const lost = z.object({ call: z.literal('lost'), requestId: z.string() });
const settled = z.object({
  call: z.literal('settled'),
  requestId: z.string(),
  actor,
  /**
   * The basis: an officer's statement; or a delivery, a list or the response to a later call of ours, whose entry is
   * `evidence`.
   */
  basis: z.enum(['officer', 'webhook', 'list', 'call']),
  evidence: seq.nullable(),
  /** Null: some items of the batch are still unknown. */
  happened: z.boolean().nullable(),
  policyId: text,
  /** For a batch: the items that it settles. */
  items: z.array(z.object({ position, happened: z.boolean(), policyId: text, evidence: seq.nullable() })),
});
/** A file of items that is sent in batches; the body contains the items. */
const plan = z.object({
  call: z.literal('plan'),
  planId: z.string(),
  actor,
  file: text,
  /** SHA-256 of the items in canonical form. */
  digest: z.string(),
  items: z.number().int().positive(),
});
/** One page of the list of published policies (docs/service.md §4.3). */
const list = z.object({
  call: z.literal('list'),
  listId: z.string(),
  actor,
  page: z.number().int().nonnegative(),
  pages: z.number().int().positive(),
  /** SHA-256 over the bytes of all pages. */
  digest: z.string(),
  /**
   * False: the list itself says that there are more, so policies that it leaves out are not gone. Older entries lack
   * this field.
   */
  whole: z.boolean().default(true),
  policies: z.array(
    z.object({
      id: z.string(),
      policyType: text,
      title: text,
      jurisdiction: text,
      language: text,
      updatedAt: text,
      /** Without its token. */
      url: text,
    }),
  ),
});

/** Schema of the meta of a `call` entry. */
export const callSchema = z.discriminatedUnion('call', [intent, result, lost, settled, plan, list]);
export type CallMeta = z.infer<typeof callSchema>;
export type CallIntent = z.infer<typeof intent>;
export type CallResult = z.infer<typeof result>;
export type CallSettled = z.infer<typeof settled>;
export type CallPlan = z.infer<typeof plan>;
export type CallList = z.infer<typeof list>;

/**
 * The state of a call. `sent`: no result yet. `done`: the service said so. `refused`: it certainly changed nothing.
 * `unknown`: the outcome is not known. `happened`, `not-happened`: it was unknown and has been settled since.
 */
export type CallState = 'sent' | 'done' | 'refused' | 'unknown' | 'happened' | 'not-happened';

/** The state of a plan's item. `planned`: may be sent; so may `skipped` (beyond the quota) when a plan is resumed. */
export type PlanItemState = 'planned' | 'sent' | 'created' | 'skipped' | 'failed' | 'unknown';

/** How long after its time-out a call's result may still be written before it counts as lost. */
export const LOST_AFTER_MS = 60_000;

/**
 * What may be sent with one API key: 20 generations a minute, 5 batches a minute and 20 a day (docs/service.md §8).
 * Whether the service uses fixed or sliding windows is not documented; a sliding window satisfies both. A few seconds
 * are added, since requests do not all take equally long to arrive.
 */
export const callLimits: Readonly<
  Record<'generate' | 'bulk', readonly { readonly most: number; readonly windowMs: number }[]>
> = {
  generate: [{ most: 20, windowMs: 62_000 }],
  bulk: [
    { most: 5, windowMs: 62_000 },
    { most: 20, windowMs: 86_410_000 },
  ],
};
