import { open, readFile, rename, rm } from 'node:fs/promises';
import { z } from 'zod';
import { accountStates } from './clients.ts';

const moment = z.iso.datetime().transform((text) => new Date(text));

const policySchema = z.strictObject({
  id: z.string(),
  policyType: z.string(),
  title: z.string(),
  brandName: z.string(),
  domain: z.string(),
  jurisdiction: z.string(),
  language: z.string(),
  version: z.int().min(1),
  clauses: z.array(z.string()),
  createdAt: moment,
  updatedAt: moment,
  publishedAt: moment.nullable(),
});

const decisionSchema = z.strictObject({
  event: z.literal('consent.recorded'),
  recordId: z.string(),
  visitorHash: z.string(),
  bannerId: z.string(),
  choice: z.enum(['accept', 'reject', 'choose', 'withdraw']),
  purposes: z.strictObject({
    necessary: z.boolean(),
    preferences: z.boolean(),
    analytics: z.boolean(),
    marketing: z.boolean(),
  }),
  region: z.string(),
  language: z.string(),
  policyId: z.string().nullable(),
  policyVersion: z.int().nullable(),
  domain: z.string(),
  expiresAt: moment,
  at: moment,
});

/** What callers and live traffic have added to a sandbox; everything else follows from the seed and the window. */
const stateSchema = z.strictObject({
  version: z.literal(1),
  seed: z.int(),
  savedAt: moment,
  window: z.strictObject({ start: moment, end: moment }),
  /** Events made on demand, and batches, so far: ids continue from here. */
  made: z.int().min(0),
  batches: z.int().min(0),
  /** Revoked API keys. */
  revoked: z.array(z.string()),
  clients: z.record(
    z.string(),
    z.strictObject({
      generated: z.int().min(0),
      /** Used part of the quota; for an agency's clients, all together. */
      used: z.int().min(0),
      policies: z.array(policySchema),
      deleted: z.array(z.string()),
      decisions: z.array(decisionSchema),
      endpoints: z.array(z.strictObject({ url: z.string(), events: z.union([z.literal('all'), z.array(z.string())]) })),
      account: z.enum(accountStates),
    }),
  ),
});
export type SandboxState = z.output<typeof stateSchema>;
export type ClientState = SandboxState['clients'][string];

/** A state file that cannot be used: `reason` says why. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError';
}

/** Reads a state file. Null: there is none yet. Throws a StateFileError if it is invalid, or from another seed. */
export async function loadState(path: string, seed: number): Promise<SandboxState | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new StateFileError(`The state file ${path} cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new StateFileError(`The state file ${path} is not JSON.`);
  }
  const parsed = stateSchema.safeParse(content);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new StateFileError(
      `${path} is not a sandbox state file: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
    );
  }
  if (parsed.data.seed !== seed)
    throw new StateFileError(`The state file ${path} belongs to the seed ${parsed.data.seed}, not ${seed}.`);
  return parsed.data;
}

/** The file is written under another name and renamed, so that it is always complete. */
export function createStateKeeper(path: string, read: () => SandboxState, delayMs = 200) {
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  let failure: unknown = null;
  // A large file is written less often, so that writing takes at most a tenth of the time.
  let waitMs = delayMs;
  const write = (): void => {
    timer = null;
    writing = writing
      .then(async () => {
        const started = performance.now();
        await replaceFile(path, `${JSON.stringify(read())}\n`);
        waitMs = Math.max(delayMs, 10 * (performance.now() - started));
      })
      .then(
        () => {
          failure = null;
        },
        (error: unknown) => {
          failure = error;
        },
      );
  };
  return {
    /** Something changed: the file will be written within `delayMs`. */
    changed: (): void => {
      timer ??= setTimeout(write, waitMs);
    },
    /** Writes now. Throws a StateFileError if that fails. */
    flush: async (): Promise<void> => {
      if (timer !== null) clearTimeout(timer);
      write();
      await writing;
      if (failure !== null) {
        const reason = failure instanceof Error ? failure.message : 'unknown reason';
        throw new StateFileError(`The state file ${path} cannot be written: ${reason}`);
      }
    },
  };
}

/** Keeps a state file up to date. */
export type StateKeeper = ReturnType<typeof createStateKeeper>;

async function replaceFile(path: string, text: string): Promise<void> {
  const beside = `${path}.${process.pid}.part`;
  try {
    // It contains only invented people, but still should not be readable by other users.
    const file = await open(beside, 'w', 0o600);
    try {
      await file.writeFile(text, 'utf8');
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
