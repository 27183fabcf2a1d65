import { randomBytes } from 'node:crypto';
import type { Algorithm } from '@node-rs/argon2';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';

/** NIST SP 800-63B-4 §3.1.1.2: at least 15 characters if a password may be the only factor; no composition rules. */
export const PASSWORD_MIN = 15;
export const PASSWORD_MAX = 256;

/**
 * Argon2id with at least the parameters of OWASP's Password Storage Cheat Sheet: 19 MiB, two passes. Runs on the thread
 * pool, 50 to 150 ms.
 */
const cost = { algorithm: 2 satisfies Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Loaded with the first password. */
const loadArgon2 = () => import('@node-rs/argon2');

/** Guesses that a password must withstand, as a power of ten: zxcvbn's "very unguessable". */
const GUESSES_LOG10 = 10;
/** Characters used for the estimate, whose time grows faster than the length. */
const ESTIMATED = 64;
/** Hashes computed concurrently; each takes 19 MiB and a core. */
const AT_ONCE = 2;
const WAITING = 50;

/**
 * The form that is hashed, which does not depend on how a keyboard composes letters (SP 800-63B-4: normalised with
 * NFKC).
 */
function normalised(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Why a password is refused, with what to do; null if it is accepted. It must be long enough, and neither a common
 * password nor made of the person's name, address or the name of this product (SP 800-63B-4 §3.1.1.2: blocklist).
 */
export async function passwordProblem(password: string, own: readonly string[]): Promise<string | null> {
  const length = [...normalised(password)].length;
  if (length < PASSWORD_MIN)
    return `The password is too short: use at least ${PASSWORD_MIN} characters, for example four or five words.`;
  if (length > PASSWORD_MAX) return `The password is too long: use at most ${PASSWORD_MAX} characters.`;
  const estimate = (await loadEstimator()).check(normalised(password).slice(0, ESTIMATED), [
    'consent-ledger',
    'consentledger',
    ...own.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).filter((text) => text.length > 2),
  ]);
  return estimate.guessesLog10 >= GUESSES_LOG10
    ? null
    : 'The password is easy to guess: it consists of common passwords, patterns or your own name. Choose another, for example four or five unrelated words.';
}

let estimator: Promise<ZxcvbnFactory> | null = null;

/** Imported when a password is first chosen: its word lists take a quarter of a second and some megabytes. */
function loadEstimator(): Promise<ZxcvbnFactory> {
  estimator ??= (async () => {
    const [{ ZxcvbnFactory: Factory }, { dictionary, adjacencyGraphs }] = await Promise.all([
      import('@zxcvbn-ts/core'),
      import('@zxcvbn-ts/language-common'),
    ]);
    return new Factory({ dictionary, graphs: adjacencyGraphs });
  })();
  return estimator;
}

/** Argon2id (RFC 9106) in PHC string format, with a random salt. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await loadArgon2();
  return oneOfFew(() => hash(normalised(password), cost));
}

let stranger: Promise<string> | null = null;

/**
 * Whether a password matches the hash. Without a hash (an unknown or disabled account) it takes as long and is false,
 * so that timing does not reveal who has an account.
 */
export async function passwordFits(password: string, stored: string | null): Promise<boolean> {
  stranger ??= hashPassword(randomBytes(32).toString('hex'));
  const other = await stranger;
  // Anything longer than a valid password is not hashed.
  const asked = password.length > PASSWORD_MAX * 4 ? '' : normalised(password);
  const { verify } = await loadArgon2();
  const fits = await oneOfFew(() => verify(stored ?? other, asked));
  return fits && stored !== null;
}

let running = 0;
const waiting: (() => void)[] = [];

/** Too many passwords are being checked at the moment. */
export class TooManyPasswords extends Error {
  override readonly name = 'TooManyPasswords';
}

/**
 * Limits concurrent hashes, so that a flood of sign-ins leaves some threads for the database. Throws TooManyPasswords
 * if the queue is full.
 */
async function oneOfFew<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= WAITING) throw new TooManyPasswords('too many passwords are being checked at the moment');
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
