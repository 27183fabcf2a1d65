/**
 * Spellings of the limit headers: the service documents that there are such headers, but not their names
 * (docs/service.md §8).
 */
export const limitHeaderForms = ['x-ratelimit', 'ratelimit', 'ratelimit-ietf', 'none'] as const;
export type LimitHeaderForm = (typeof limitHeaderForms)[number];

export interface LimitOptions {
  /** Documented: 20. */
  readonly generatePerMinute?: number;
  /** Documented: 5. */
  readonly bulkPerMinute?: number;
  /** Documented: 20. */
  readonly bulkPerDay?: number;
  /** Everything else, per key; null: unlimited. The limit is documented, its value is not. Default 6,000. */
  readonly otherPerMinute?: number | null;
  /** Default: by dialect. */
  readonly headers?: LimitHeaderForm;
}

export type LimitedKind = 'generate' | 'bulk' | 'other';

/** Whether a request is within the limits, with the headers that say how much is left. */
type LimitVerdict =
  | { readonly outcome: 'free'; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly outcome: 'exceeded';
      readonly headers: Readonly<Record<string, string>>;
      readonly retryAfterSeconds: number;
    };

interface Rule {
  readonly name: string;
  readonly most: number;
  readonly windowMs: number;
}

const MINUTE = 60_000;
export const OTHERS_PER_MINUTE = 6_000;
const DAY = 86_400_000;

/** The limits as numbers; null: unlimited. */
export interface LimitValues {
  readonly generatePerMinute: number;
  readonly bulkPerMinute: number;
  readonly bulkPerDay: number;
  readonly otherPerMinute: number | null;
}

/** Limits not given are as documented (docs/service.md §8). */
export function limitValues(options: LimitOptions): LimitValues {
  return {
    generatePerMinute: options.generatePerMinute ?? 20,
    bulkPerMinute: options.bulkPerMinute ?? 5,
    bulkPerDay: options.bulkPerDay ?? 20,
    otherPerMinute: options.otherPerMinute === undefined ? OTHERS_PER_MINUTE : options.otherPerMinute,
  };
}

/** Builds the limits of one sandbox (docs/service.md §8). */
export function createLimits(options: LimitOptions, form: LimitHeaderForm) {
  const { generatePerMinute, bulkPerMinute, bulkPerDay, otherPerMinute } = limitValues(options);
  const rules: Record<LimitedKind, readonly Rule[]> = {
    generate: [{ name: 'generate', most: generatePerMinute, windowMs: MINUTE }],
    bulk: [
      { name: 'bulk', most: bulkPerMinute, windowMs: MINUTE },
      { name: 'bulk-day', most: bulkPerDay, windowMs: DAY },
    ],
    other: otherPerMinute === null ? [] : [{ name: 'default', most: otherPerMinute, windowMs: MINUTE }],
  };
  const windows = new Map<string, { since: number; count: number }>();

  return {
    take: (key: string, kind: LimitedKind, now: Date): LimitVerdict => {
      const at = now.getTime();
      const states = rules[kind].map((rule) => {
        const name = `${rule.name}\u0000${key}`;
        const found = windows.get(name);
        const window =
          found !== undefined && at < found.since + rule.windowMs && at >= found.since
            ? found
            : { since: at, count: 0 };
        windows.set(name, window);
        return { rule, window, resetMs: window.since + rule.windowMs - at };
      });
      const exceeded = states.filter(({ rule, window }) => window.count >= rule.most);
      if (exceeded.length === 0) for (const { window } of states) window.count += 1;
      // The tightest rule is the one reported.
      const told = [...(exceeded.length > 0 ? exceeded : states)].sort(
        (a, b) => left(a) - left(b) || b.resetMs - a.resetMs,
      )[0];
      const headers =
        told === undefined ? {} : limitHeaders(form, told.rule, { remaining: left(told), resetMs: told.resetMs, at });
      if (exceeded.length === 0 || told === undefined) return { outcome: 'free', headers };
      return { outcome: 'exceeded', headers, retryAfterSeconds: Math.max(1, Math.ceil(told.resetMs / 1000)) };
    },
  };
}

/** Counts requests per key in fixed windows that begin with a key's first request. */
export type Limits = ReturnType<typeof createLimits>;

function left({ rule, window }: { rule: Rule; window: { count: number } }): number {
  return Math.max(0, rule.most - window.count);
}

function limitHeaders(
  form: LimitHeaderForm,
  rule: Rule,
  { remaining, resetMs, at }: { readonly remaining: number; readonly resetMs: number; readonly at: number },
): Record<string, string> {
  const seconds = Math.max(0, Math.ceil(resetMs / 1000));
  switch (form) {
    case 'x-ratelimit':
      return {
        'x-ratelimit-limit': String(rule.most),
        'x-ratelimit-remaining': String(remaining),
        'x-ratelimit-reset': String(Math.ceil((at + resetMs) / 1000)),
      };
    case 'ratelimit':
      return {
        'ratelimit-limit': String(rule.most),
        'ratelimit-remaining': String(remaining),
        'ratelimit-reset': String(seconds),
      };
    case 'ratelimit-ietf':
      return {
        'ratelimit-policy': `"${rule.name}";q=${rule.most};w=${rule.windowMs / 1000}`,
        ratelimit: `"${rule.name}";r=${remaining};t=${seconds}`,
      };
    case 'none':
      return {};
  }
}
