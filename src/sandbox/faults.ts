import { z } from 'zod';
import { mix, mulberry32, seedOf } from './prng.ts';

/** The service's endpoints by name, and its deliveries. */
export const faultTargets = [
  'any',
  'generate',
  'bulk',
  'list',
  'publish',
  'consent-logs',
  'openapi',
  'embed',
  'mcp',
  'webhooks',
] as const;
export type FaultTarget = (typeof faultTargets)[number];

const ms = z.number().int().min(0).max(600_000);
const times = {
  /** Endpoint where it happens. */
  on: z.enum(faultTargets).default('any'),
  /** Share of the requests affected. */
  rate: z.number().min(0).max(1).default(1),
  /** Maximum number of times; absent: unlimited. */
  times: z.number().int().min(1).optional(),
  /** Number of requests to leave alone first. */
  after: z.number().int().min(0).default(0),
};

/** Whether the request is carried out anyway, so that only its response is lost and the caller cannot know. */
const carriedOut = { carriedOut: z.boolean().default(false) };

/** Faults that can be requested, by name. Several may affect one request. */
export const faultSchema = z.discriminatedUnion('name', [
  // Of the connection
  z.strictObject({ name: z.literal('latency'), ...times, ms: ms.default(300) }),
  z.strictObject({ name: z.literal('time-out'), ...times, ...carriedOut }),
  z.strictObject({ name: z.literal('dropped-connection'), ...times, ...carriedOut }),
  // Of the status
  z.strictObject({
    name: z.literal('too-many-requests'),
    ...times,
    retryAfter: z.union([z.number().int().min(0), z.string(), z.null()]).default(1),
  }),
  z.strictObject({
    name: z.literal('server-error'),
    ...times,
    status: z.number().int().min(500).max(599).default(500),
  }),
  z.strictObject({ name: z.literal('bad-request'), ...times }),
  z.strictObject({ name: z.literal('unauthorized'), ...times }),
  z.strictObject({ name: z.literal('payment-required'), ...times }),
  z.strictObject({ name: z.literal('forbidden'), ...times }),
  // Of the body
  z.strictObject({ name: z.literal('truncated-json'), ...times }),
  z.strictObject({ name: z.literal('cut-off'), ...times }),
  z.strictObject({ name: z.literal('invalid-json'), ...times }),
  z.strictObject({ name: z.literal('web-page'), ...times }),
  // Of the pages of the consent log
  z.strictObject({ name: z.literal('repeated-page'), ...times }),
  z.strictObject({ name: z.literal('looping-cursor'), ...times, disguised: z.boolean().default(false) }),
  z.strictObject({ name: z.literal('shifted-page'), ...times, by: z.number().int().min(-200).max(200).default(-3) }),
  z.strictObject({ name: z.literal('reordered-page'), ...times }),
  z.strictObject({ name: z.literal('empty-page'), ...times }),
  z.strictObject({
    name: z.literal('expired-cursor'),
    ...times,
    status: z.number().int().min(400).max(499).default(400),
  }),
  z.strictObject({
    name: z.literal('cursor-expires-after'),
    ...times,
    /** Pages of a period that are returned; the cursor to the next one is refused. */
    pages: z.number().int().min(1).default(3),
    status: z.number().int().min(400).max(599).default(400),
  }),
  z.strictObject({ name: z.literal('late-rows'), ...times, ms: z.number().int().min(0).default(3_600_000) }),
  // Of deliveries
  z.strictObject({ name: z.literal('webhook-duplicated'), ...times }),
  z.strictObject({ name: z.literal('webhook-delayed'), ...times, ms: ms.default(500) }),
  z.strictObject({
    name: z.literal('webhook-reordered'),
    ...times,
    /** How many later deliveries of the same client are sent first. */
    by: z.number().int().min(1).max(100).default(2),
    /** Maximum delay, in case no later deliveries come. */
    ms: ms.default(2_000),
  }),
  z.strictObject({ name: z.literal('webhook-lost'), ...times }),
  z.strictObject({ name: z.literal('webhook-old-secret'), ...times }),
  z.strictObject({ name: z.literal('webhook-wrong-secret'), ...times }),
]);
export type Fault = z.infer<typeof faultSchema>;
export type FaultInput = z.input<typeof faultSchema>;
export type FaultName = Fault['name'];
type Named<Name extends FaultName> = Extract<Fault, { name: Name }>;

/** Bundles of faults by name. */
export const scenarios = {
  calm: [],
  slow: [{ name: 'latency', ms: 400, rate: 0.5 }],
  rough: [
    { name: 'latency', ms: 150, rate: 0.2 },
    { name: 'server-error', rate: 0.05 },
    { name: 'too-many-requests', rate: 0.05, retryAfter: 1 },
    { name: 'dropped-connection', rate: 0.02 },
    { name: 'webhook-duplicated', on: 'webhooks', rate: 0.1 },
    { name: 'webhook-reordered', on: 'webhooks', rate: 0.1 },
  ],
  'broken-pages': [
    { name: 'truncated-json', on: 'consent-logs', rate: 0.1 },
    { name: 'repeated-page', on: 'consent-logs', rate: 0.1 },
    { name: 'reordered-page', on: 'consent-logs', rate: 0.3 },
    { name: 'shifted-page', on: 'consent-logs', rate: 0.2, by: -3 },
  ],
  'late-rows': [{ name: 'late-rows', on: 'consent-logs', rate: 0.1, ms: 3_600_000 }],
  'rotated-secret': [{ name: 'webhook-old-secret', on: 'webhooks' }],
  outage: [
    { name: 'server-error', status: 503 },
    { name: 'webhook-lost', on: 'webhooks' },
  ],
} as const satisfies Record<string, readonly FaultInput[]>;
export type ScenarioName = keyof typeof scenarios;

export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(scenarios, name);
}

/** The faults that affect one request. */
export interface Drawn {
  /** Number of this request within the sandbox, from 1. */
  readonly number: number;
  find<Name extends FaultName>(name: Name): Named<Name> | null;
}

/** The faults of a running sandbox, which may be changed at any time. */
export type Faults = ReturnType<typeof createFaults>;

export function createFaults(seed: number, initial: readonly FaultInput[] = []) {
  let drawn = 0;
  let rules: { fault: Fault; seen: number; happened: number }[] = [];
  const faults = {
    set: (inputs: readonly FaultInput[]): void => {
      rules = inputs.map((input) => ({ fault: faultSchema.parse(input), seen: 0, happened: 0 }));
    },
    list: (): readonly Fault[] => rules.map(({ fault }) => fault),
    /** How often each fault has happened since it was set, in the order of `list`. */
    counts: (): readonly number[] => rules.map(({ happened }) => happened),
    /** Decides which faults affect the next request to an endpoint. The same seed and requests give the same faults. */
    draw: (target: Exclude<FaultTarget, 'any'>): Drawn => {
      const hit: Fault[] = [];
      rules.forEach((rule, position) => {
        const { fault } = rule;
        if (fault.name === 'late-rows' || !concerns(fault, target)) return;
        rule.seen += 1;
        if (rule.seen <= fault.after || (fault.times !== undefined && rule.happened >= fault.times)) return;
        if (mulberry32(mix(seedOf(seed, fault.name, position), rule.seen))() >= fault.rate) return;
        rule.happened += 1;
        hit.push(fault);
      });
      drawn += 1;
      return {
        number: drawn,
        find: <Name extends FaultName>(name: Name) =>
          (hit.find((fault) => fault.name === name) as Named<Name> | undefined) ?? null,
      };
    },
    /** How late a row appears in the log, milliseconds; 0: at once. */
    rowDelay: (index: number): number => {
      const rule = rules.find(({ fault }) => fault.name === 'late-rows');
      if (rule?.fault.name !== 'late-rows') return 0;
      return mulberry32(mix(seed ^ 0x6c617465, index))() < rule.fault.rate ? rule.fault.ms : 0;
    },
  };
  faults.set(initial);
  return faults;
}

/** A fault without `on` affects every endpoint for which it makes sense. */
function concerns(fault: Fault, target: Exclude<FaultTarget, 'any'>): boolean {
  const isOfDeliveries = fault.name.startsWith('webhook-');
  if (isOfDeliveries !== (target === 'webhooks')) return false;
  return fault.on === 'any' || fault.on === target;
}
