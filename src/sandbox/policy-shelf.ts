import type { SandboxClient } from './clients.ts';
import type { PolicyHappening } from './happenings.ts';
import { deriveText } from './keys.ts';

/** One policy of a client in its current state. */
export interface Policy {
  readonly id: string;
  readonly policyType: string;
  readonly title: string;
  readonly brandName: string;
  readonly domain: string;
  readonly jurisdiction: string;
  readonly language: string;
  readonly version: number;
  readonly clauses: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly publishedAt: Date | null;
}

export interface NewPolicy {
  readonly policyType: string;
  readonly jurisdiction: string;
  readonly language: string;
  /** Default: the client's. */
  readonly brandName: string | null;
  /** Default: the client's. */
  readonly domain: string | null;
  readonly clauses: readonly string[];
}

/** What was added to the policies made from the seed. */
interface ShelfChanges {
  /** The number of generated policies. */
  readonly generated: number;
  readonly policies: readonly Policy[];
  /** Ids of deleted policies. */
  readonly deleted: readonly string[];
}

/** Builds the shelf from the timeline of a client's policies and what callers add. */
export function createPolicyShelf(client: SandboxClient, timeline: readonly PolicyHappening[], quota: Quota) {
  const policies = new Map<string, Policy>();
  const touched = new Set<string>();
  const deleted = new Set<string>();
  let applied = 0;
  let generated = 0;

  const set = (happening: PolicyHappening): void => {
    if (happening.event === 'policy.deleted') {
      policies.delete(happening.policyId);
      return;
    }
    if (deleted.has(happening.policyId)) return;
    const before = policies.get(happening.policyId);
    policies.set(happening.policyId, {
      id: happening.policyId,
      policyType: happening.policyType,
      title: happening.title,
      brandName: happening.brandName,
      domain: before?.domain ?? client.domain,
      jurisdiction: happening.jurisdiction,
      language: happening.language,
      version: happening.version,
      clauses: before?.clauses ?? [],
      createdAt: before?.createdAt ?? happening.at,
      updatedAt: happening.at,
      publishedAt: happening.event === 'policy.published' ? happening.at : (before?.publishedAt ?? null),
    });
  };
  const catchUp = (now: Date): void => {
    for (let next = timeline[applied]; next !== undefined && next.at <= now; next = timeline[applied]) {
      set(next);
      applied += 1;
    }
  };
  const path = ({ id, policyType }: Pick<Policy, 'id' | 'policyType'>): string =>
    `/policy/${policyType}/${id}?token=${deriveText(24, client.seed, 'hosted', id)}`;

  return {
    list: (now: Date): readonly Policy[] => {
      catchUp(now);
      return [...policies.values()].filter((policy) => policy.publishedAt !== null);
    },
    find: (id: string, now: Date): Policy | null => {
      catchUp(now);
      return policies.get(id) ?? null;
    },
    /** A policy for an event: the newest one waiting to be published, otherwise the first published one. */
    candidate: (event: PolicyHappening['event'], now: Date): Policy | null => {
      catchUp(now);
      const all = [...policies.values()];
      const waiting =
        event === 'policy.published' ? all.findLast(({ publishedAt }) => publishedAt === null) : undefined;
      return waiting ?? all.find(({ publishedAt }) => publishedAt !== null) ?? null;
    },
    /** Counts against the quota. Null: nothing is left of it. */
    generate: (input: NewPolicy, now: Date): Policy | null => {
      catchUp(now);
      if (!quota.take()) return null;
      generated += 1;
      const policy: Policy = {
        id: `pol_${deriveText(16, client.seed, 'generated', generated)}`,
        policyType: input.policyType,
        title: titleOf(input.policyType),
        brandName: input.brandName ?? client.name,
        domain: input.domain ?? client.domain,
        jurisdiction: input.jurisdiction,
        language: input.language,
        version: 1,
        clauses: input.clauses,
        createdAt: now,
        updatedAt: now,
        publishedAt: null,
      };
      policies.set(policy.id, policy);
      touched.add(policy.id);
      return policy;
    },
    /** Null: no such policy. Publishing again updates the time and keeps the address. */
    publish: (id: string, now: Date): Policy | null => {
      catchUp(now);
      const policy = policies.get(id);
      if (policy === undefined) return null;
      const published = { ...policy, publishedAt: now, updatedAt: now };
      policies.set(id, published);
      touched.add(id);
      return published;
    },
    /** Applies an event to a policy, so that later responses agree with the event. */
    apply: (happening: PolicyHappening): void => {
      catchUp(happening.at);
      set(happening);
      touched.add(happening.policyId);
      if (happening.event === 'policy.created') quota.take();
      if (happening.event === 'policy.deleted') deleted.add(happening.policyId);
    },
    /** How much of the plan's quota is used. */
    used: () => quota.used(),
    /** What is left of it. */
    remaining: () => quota.remaining(),
    /** What callers and triggers created or changed. */
    changes: (): ShelfChanges => ({
      generated,
      policies: [...touched].flatMap((id) => {
        const policy = policies.get(id);
        return policy === undefined ? [] : [policy];
      }),
      deleted: [...deleted],
    }),
    /** Restores saved changes as of a given time. */
    restore: (changes: ShelfChanges, at: Date): void => {
      catchUp(at);
      generated = changes.generated;
      for (const id of changes.deleted) {
        deleted.add(id);
        policies.delete(id);
      }
      for (const policy of changes.policies) {
        policies.set(policy.id, policy);
        touched.add(policy.id);
      }
    },
    path,
    markdown: sampleMarkdown,
    html: sampleHtml,
    happening: (policy: Policy, event: PolicyHappening['event'], at: Date): PolicyHappening => ({
      event,
      policyId: policy.id,
      policyType: policy.policyType,
      title: policy.title,
      brandName: policy.brandName,
      jurisdiction: policy.jurisdiction,
      language: policy.language,
      userId: client.userId,
      version: policy.version,
      at,
    }),
  };
}

/** The policies of one client. Everything in the timeline up to `now` is applied before every answer. */
export type PolicyShelf = ReturnType<typeof createPolicyShelf>;

const smallWords = new Set(['of', 'and', 'to', 'for']);

/** `terms-of-service` → `Terms of Service`. */
export function titleOf(policyType: string): string {
  return policyType
    .split('-')
    .map((word) => (smallWords.has(word) ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`))
    .join(' ');
}

/** The rest of a plan's generations: one client's own, or pooled by an agency's clients (docs/service.md §8). */
export function createQuota(most: number, used = 0) {
  let taken = used;
  return {
    most,
    used: () => taken,
    remaining: () => Math.max(0, most - taken),
    /** Counts one generation; false: nothing is left. */
    take: (): boolean => {
      if (taken >= most) return false;
      taken += 1;
      return true;
    },
  };
}

export type Quota = ReturnType<typeof createQuota>;

/** The input of a sample policy. */
interface SampleInput {
  readonly title: string;
  readonly brandName: string;
  readonly jurisdiction: string;
  readonly language: string;
  readonly version: number;
  readonly domain: string;
  readonly clauses: readonly string[];
}

/**
 * The text of a generated policy. It is not a legal text, and says so in its first and last line: the sandbox imitates
 * how the service behaves, not what it writes.
 */
function sampleMarkdown(input: SampleInput): string {
  const lines = [
    '> **SAMPLE — not a legal text.** Made by a sandbox for trying software. Do not publish it.',
    '',
    `# ${input.title}`,
    '',
    `${input.brandName} · ${input.domain} · ${input.jurisdiction} · ${input.language} · version ${input.version}`,
    '',
    '## 1. Who we are',
    '',
    `SAMPLE: this paragraph would name ${input.brandName}, its site ${input.domain} and how to reach it.`,
    '',
    '## 2. What happens with data',
    '',
    'SAMPLE: this paragraph would describe necessary, preference, analytics and marketing cookies.',
    '',
    ...(input.version > 1
      ? ['## 3. What changed', '', `SAMPLE: text that first appeared in version ${input.version}.`, '']
      : []),
    ...input.clauses.flatMap((clause, index) => [`## Custom clause ${index + 1}`, '', `SAMPLE: ${clause}`, '']),
    '*SAMPLE — not a legal text.*',
  ];
  return `${lines.join('\n')}\n`;
}

/** The same text as HTML; everything supplied by a caller is escaped. */
function sampleHtml(input: SampleInput): string {
  const body = sampleMarkdown(input)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const heading = /^(#{1,2}) (.*)$/.exec(line);
      if (heading !== null) return `<h${heading[1]?.length}>${escapeHtml(heading[2] ?? '')}</h${heading[1]?.length}>`;
      return `<p>${escapeHtml(line.replace(/^> /, '').replaceAll('*', ''))}</p>`;
    });
  return `<article lang="${escapeHtml(input.language)}">\n${body.join('\n')}\n</article>\n`;
}

/** Escapes text for HTML content and quoted attributes. */
export function escapeHtml(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? character);
}
