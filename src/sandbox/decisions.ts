import { createHash } from 'node:crypto';
import type { SandboxClient, SubjectRecipe } from './clients.ts';
import type { Choice, DecisionHappening, PurposeChoices } from './happenings.ts';
import { mix, mulberry32, pick, pickWeighted, type Random } from './prng.ts';

/** The policy under which a decision was made. */
export type PolicyAt = (at: Date) => { readonly id: string; readonly version: number } | null;

const BLOCK = 5;
const DAY = 86_400_000;

/** Builds a client's decisions, distributed over the rhythm of its site. */
export function createDecisions(client: SandboxClient, rhythm: Rhythm, policyAt: PolicyAt) {
  const total = rhythm.total;
  const { seed } = client;
  // About 1 in 61 lost and 1 in 97 contradictory, at least one of each if there are a few dozen rows, at most about
  // 200.
  const lostEvery = Math.max(Math.min(61, Math.max(7, Math.floor(total / 4))), Math.floor(total / 200));
  const conflictEvery = Math.max(Math.min(97, Math.max(11, Math.floor(total / 3))), Math.floor(total / 200) + 1);
  const group = groupSize(total);

  // The last row in each block of five is a returning visitor: it points to one row of the group of blocks before its
  // own. The mapping of blocks is a permutation, so no decision has two successors.
  const previousOf = (index: number): number | null => {
    if (index % BLOCK !== BLOCK - 1) return null;
    const block = Math.floor(index / BLOCK);
    const ownGroup = Math.floor(block / group);
    if (ownGroup === 0) return null;
    const step = mix(seed ^ 0x67726f75, ownGroup) | 1;
    const shift = mix(seed ^ 0x73686966, ownGroup);
    const target = (ownGroup - 1) * group + ((Math.imul(step, block % group) + shift) & (group - 1));
    return target * BLOCK + (mix(seed ^ 0x736c6f74, block) % BLOCK);
  };
  const firstOf = (index: number): number => {
    let first = index;
    for (let previous = previousOf(first); previous !== null; previous = previousOf(first)) first = previous;
    return first;
  };
  const choiceOf = (index: number): { choice: Choice; purposes: PurposeChoices } => {
    const previous = previousOf(index);
    const before = previous === null ? null : choiceOf(previous).choice;
    return drawChoice(mulberry32(mix(seed ^ 0x63686f69, index)), before);
  };
  const bannerAt = (index: number): string => {
    const random = mulberry32(mix(seed ^ 0x62616e6e, firstOf(index)));
    return (random() < 0.6 ? client.banners[0] : pick(random, client.banners))?.id ?? '';
  };
  const isLost = (index: number): boolean => index % lostEvery === seed % lostEvery;
  const isConflict = (index: number): boolean =>
    index % conflictEvery === (seed >>> 7) % conflictEvery && !isLost(index);
  const oldSecret = new Set([Math.floor(total * 0.31), Math.floor(total * 0.74)]);
  const isOldSecret = (index: number): boolean => oldSecret.has(index) && !isLost(index) && !isConflict(index);

  const decisionAt = (index: number): DecisionHappening => {
    const at = rhythm.timeAt(index);
    const visitor = visitorOf(client, firstOf(index));
    const policy = policyAt(at);
    return {
      event: 'consent.recorded',
      recordId: recordId(client, index),
      visitorHash: visitor.hash,
      bannerId: bannerAt(index),
      ...choiceOf(index),
      region: visitor.region,
      language: visitor.language,
      policyId: policy?.id ?? null,
      policyVersion: policy?.version ?? null,
      domain: client.domain,
      expiresAt: new Date(at.getTime() + (visitor.region === 'FR' ? 182 : 365) * DAY),
      at,
    };
  };
  return {
    total,
    /** The index-th decision as it was made, which is what the webhook reports. */
    at: decisionAt,
    /** The banner of a decision, cheaper than the whole decision. */
    bannerAt,
    visitorAt: (index: number): Visitor => visitorOf(client, firstOf(index)),
    /** The index of the same visitor's previous decision; null: it is the first. */
    previousOf,
    /** The webhook of this decision is never sent: only the row exists. */
    isLost,
    /** The row contradicts the webhook. */
    isConflict,
    /** The webhook is signed with the secret before the last rotation. */
    isOldSecret,
    /** The index-th decision as reported in the consent log. */
    rowAt: (index: number): DecisionHappening =>
      isConflict(index) ? contradict(decisionAt(index)) : decisionAt(index),
  };
}

/**
 * Every consent decision of one client, computed from its index alone: nothing is stored, so millions cost no memory.
 * Intended differences between rows and webhooks are decided here too.
 */
export type Decisions = ReturnType<typeof createDecisions>;

/** The service's own id of a decision: opaque, equal in webhook and row. */
function recordId(client: SandboxClient, index: number): string {
  const part = (salt: number): string =>
    mix(client.seed ^ salt, index)
      .toString(36)
      .padStart(7, '0');
  return `cr_${part(0x72656331)}${part(0x72656332)}${index.toString(36)}`;
}

/** Purposes that follow from a choice; `choose` draws them, never all or none. */
export function drawChoice(random: Random, before: Choice | null): { choice: Choice; purposes: PurposeChoices } {
  const odds: readonly (readonly [Choice, number])[] =
    before === null
      ? [
          ['accept', 55],
          ['reject', 25],
          ['choose', 20],
        ]
      : before === 'accept' || before === 'choose'
        ? [
            ['withdraw', 45],
            ['choose', 35],
            ['accept', 20],
          ]
        : [
            ['accept', 60],
            ['choose', 40],
          ];
  const choice = pickWeighted(random, odds);
  return { choice, purposes: purposesOf(choice, Math.floor(random() * 6)) };
}

function purposesOf(choice: Choice, variant: number): PurposeChoices {
  if (choice === 'accept') return { necessary: true, preferences: true, analytics: true, marketing: true };
  if (choice !== 'choose') return { necessary: true, preferences: false, analytics: false, marketing: false };
  const bits = variant + 1;
  return { necessary: true, preferences: (bits & 1) !== 0, analytics: (bits & 2) !== 0, marketing: (bits & 4) !== 0 };
}

/** A row that says the opposite about marketing. */
function contradict(decision: DecisionHappening): DecisionHappening {
  const purposes = { ...decision.purposes, marketing: !decision.purposes.marketing };
  const granted = [purposes.preferences, purposes.analytics, purposes.marketing].filter(Boolean).length;
  const choice: Choice = granted === 3 ? 'accept' : granted === 0 ? 'reject' : 'choose';
  return { ...decision, choice, purposes };
}

/** Blocks in a group: a power of two, so that about six or more groups cover the log. */
function groupSize(total: number): number {
  let size = 1;
  while (size * 2 <= Math.min(65_536, total / (BLOCK * 6))) size *= 2;
  return size;
}

/** A visitor of a banner. `number` is the index of the visitor's first row. */
export interface Visitor {
  readonly number: number;
  /** Lower-case hex SHA-256, as shown by the service. */
  readonly hash: string;
  /** Set for signed-in customers, whose hash is derived from their address by the client's recipe. */
  readonly person: Person | null;
  readonly region: string;
  readonly language: string;
}

interface Person {
  readonly name: string;
  readonly email: string;
}

const regions: readonly (readonly [string, string, number])[] = [
  ['GB', 'en', 22],
  ['DE', 'de', 24],
  ['FR', 'fr', 16],
  ['US-CA', 'en', 14],
  ['NL', 'nl', 7],
  ['US-VA', 'en', 4],
  ['SE', 'sv', 4],
  ['CA', 'fr', 4],
  ['AU', 'en', 3],
  ['SG', 'en', 2],
];

const weightedRegions = regions.map((entry) => [entry, entry[2]] as const);

const firstNames = [
  'Amelia',
  'Björn',
  'Chloé',
  'Dmitri',
  'Émile',
  'Fatima',
  'Grace',
  'Håkon',
  'Ines',
  'Jürgen',
  'Keiko',
  'Łukasz',
];
const lastNames = [
  'Ashworth',
  'Brandt',
  'Castaño',
  'Dubois',
  'Eriksson',
  'Fischer',
  'García',
  'Hughes',
  'Ibrahim',
  'Jansen',
  'Köhler',
  'Lefèvre',
];

/** Hashes an address like the client's site. */
function hashAddress(recipe: SubjectRecipe, address: string): string {
  return createHash('sha256')
    .update(recipe.salt + address.trim().toLowerCase(), 'utf8')
    .digest('hex');
}

/** Hashes the random id that the banner keeps in a visitor's browser. */
export function hashDevice(client: SandboxClient, number: number): string {
  return createHash('sha256').update(`${client.siteKey}\u0000device\u0000${number}`, 'utf8').digest('hex');
}

/** A person with an address in a reserved domain, so that no mail can ever reach anyone. */
export function drawPerson(seed: number, number: number): Person {
  const random = mulberry32(mix(seed ^ 0x70657273, number));
  const first = pick(random, firstNames);
  const last = pick(random, lastNames);
  const plain = (name: string): string =>
    name
      .replace('Ł', 'L')
      .replace('ł', 'l')
      .replace('ø', 'o')
      .normalize('NFD')
      .replace(/[^A-Za-z]/g, '');
  return { name: `${first} ${last}`, email: `${plain(first)}.${plain(last)}.${number}@example.org`.toLowerCase() };
}

/** The visitor behind a first row. About one in four is a signed-in customer. */
export function visitorOf(client: SandboxClient, number: number): Visitor {
  const random = mulberry32(mix(client.seed ^ 0x76697369, number));
  const home = regions.find(([code]) => code === client.home) ?? ([client.home, client.language, 0] as const);
  const [region, language] = random() < 0.4 ? home : pickWeighted(random, weightedRegions);
  const person = random() < 0.25 ? drawPerson(client.seed, number) : null;
  const hash = person === null ? hashDevice(client, number) : hashAddress(client.subjectRecipe, person.email);
  return { number, hash, person, region, language };
}

/** Below 1, so that time never runs backwards. */
const SWING = 0.8;

/** Distributes `total` times over [start, end) milliseconds. Each can be computed without the others. */
export function createRhythm(seed: number, total: number, start: number, end: number) {
  if (!(end > start)) throw new Error('the consent log must end after it begins');
  const warp = (at: number): number =>
    at + (SWING * DAY * Math.sin((2 * Math.PI * (at - DAY * 0.08)) / DAY)) / (2 * Math.PI);
  const first = warp(start);
  const scale = (end - start) / (warp(end) - first);
  const step = (end - start) / Math.max(1, total);
  const timeOf = (index: number): number => {
    const even = start + (index + mulberry32(mix(seed ^ 0x74696d65, index))()) * step;
    return Math.min(end - 1, Math.floor(start + (warp(even) - first) * scale));
  };
  return {
    total,
    timeAt: (index: number): Date => new Date(timeOf(index)),
    /** The first index with a time of at least `at` (milliseconds); `total` if there is none. */
    indexFrom: (at: number): number => {
      let low = 0;
      let high = total;
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        if (timeOf(middle) < at) low = middle + 1;
        else high = middle;
      }
      return low;
    },
  };
}

/** The times of a site's decisions: `total` in ascending order, more by day than by night. */
export type Rhythm = ReturnType<typeof createRhythm>;
