import { createHash } from 'node:crypto';
import type { SandboxClient, SubjectRecipe } from './clients.ts';
import { mix, mulberry32, pick, pickWeighted } from './prng.ts';

/** Someone who met a banner. `number` is the index of the first row that this visitor caused. */
export interface Visitor {
  readonly number: number;
  /** Lower-case hex SHA-256; what the service shows of the visitor. */
  readonly hash: string;
  /** Set for customers who are signed in: their hash is made of their address by the client's recipe. */
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

/** Hashes an address as the client's site does. */
function hashAddress(recipe: SubjectRecipe, address: string): string {
  return createHash('sha256')
    .update(recipe.salt + address.trim().toLowerCase(), 'utf8')
    .digest('hex');
}

/** Hashes the random id that the banner keeps in a visitor's browser. */
export function hashDevice(client: SandboxClient, number: number): string {
  return createHash('sha256').update(`${client.siteKey}\u0000device\u0000${number}`, 'utf8').digest('hex');
}

/** A person with an address under a reserved domain, so that nothing can ever be mailed to anyone. */
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
