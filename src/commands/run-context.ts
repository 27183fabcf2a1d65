import { InvalidArgumentError } from '@commander-js/extra-typings';
import { type Config, DEFAULT_SOURCE, loadProcessConfig } from '../config/config.ts';
import type { DatabaseAddress } from '../config/read-values.ts';
import { valuesSchema } from '../config/variables.ts';
import { type Context, openContext } from '../context/context.ts';
import { UsageError, unknownSource } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { createLog } from '../log/log.ts';
import { printable, printTimesIn } from './command-io.ts';

/**
 * Opens the installation described by environment and .env, does the work, and always closes it. Throws UsageError if
 * there is none.
 */
export async function withContext<T>(work: (context: Context) => Promise<T>): Promise<T> {
  const config = loadProcessConfig();
  return withContextOf(config, work);
}

/**
 * The same for a given configuration; `creates`: begins an installation if there is none. Commands print their own results; from the log they show warnings and errors as
 * sentences, and how far the read models are if they take long. A server logs JSON lines from `logLevel` up.
 */
export async function withContextOf<T>(
  config: Config,
  work: (context: Context) => Promise<T>,
  { logLevel, creates = false }: { readonly logLevel?: string; readonly creates?: boolean } = {},
): Promise<T> {
  printTimesIn(config.timeZone);
  const log = logLevel === undefined ? createCommandLog() : createLog(logLevel);
  // Only long-running servers fold in a thread, which needs the built file: tests run the sources.
  const foldsInThread = logLevel !== undefined && import.meta.url.endsWith('.js');
  const context = await openContext(config, log, { foldsInThread, creates });
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}

/** The same once the read models contain everything appended so far. */
export function withCaughtUp<T>(work: (context: Context) => Promise<T>): Promise<T> {
  return withContext(async (context) => {
    await context.projector.catchUp();
    return work(context);
  });
}

/** Parses a flag that takes a database address like DATABASE_URL. */
export function databaseAddress(text: string): DatabaseAddress {
  const parsed = valuesSchema.shape.DATABASE_URL.safeParse(text);
  if (!parsed.success)
    throw new InvalidArgumentError(`It ${parsed.error.issues.map(({ message }) => message).join(', ')}.`);
  if (parsed.data === undefined) throw new InvalidArgumentError('Use sqlite:<path> or postgres://….');
  return parsed.data;
}

/** A log that writes sentences. Exported for tests. */
export function createCommandLog(show = (text: string): void => void process.stderr.write(text)) {
  const write = (line: string) => {
    const entry = JSON.parse(line) as LogEntry;
    if (entry.level >= WARNING || entry.folded !== undefined) show(`${sentenceOf(entry)}\n`);
  };
  return createLog('info', { write });
}

/** pino's number for `warn`. */
const WARNING = 40;

interface LogEntry {
  readonly level: number;
  readonly source?: unknown;
  readonly msg?: unknown;
  readonly reason?: unknown;
  readonly err?: { readonly message?: unknown };
  /** Entries in the read models, of so many. */
  readonly folded?: number;
  readonly entries?: number;
}

/** A log entry in words: `shop: retrying a request to the service: It could not be reached …`. */
function sentenceOf({ source, msg, reason, err, folded, entries }: LogEntry): string {
  const progress = folded === undefined ? undefined : `${folded} of ${entries} entries`;
  const parts = [source, msg, reason, err?.message, progress].filter((part) => typeof part === 'string' && part !== '');
  return printable(parts.join(': '));
}

/** The actor recorded in the ledger for commands. */
export const COMMAND_LINE_ACTOR = 'operator (command line)';

/** The source with this slug. Throws UsageError if there is none. */
export function findSource({ sources }: Pick<Context, 'sources'>, slug: string): Source {
  const source = sources.find(slug);
  if (source === null) throw noSuchSource(slug);
  return source;
}

/** The source with this slug; without a slug, `default` or the only one. Throws UsageError if that is ambiguous. */
export function findOnlySource(context: Pick<Context, 'sources'>, slug: string | undefined): Source {
  if (slug !== undefined) return findSource(context, slug);
  const all = context.sources.list();
  const one = context.sources.find(DEFAULT_SOURCE) ?? (all.length === 1 ? all[0] : undefined);
  if (one !== undefined) return one;
  if (all.length === 0) throw noSuchSource(DEFAULT_SOURCE);
  throw new UsageError([
    `There are several sources: choose one with --source (${all
      .slice(0, 10)
      .map((source) => source.slug)
      .join(', ')}${all.length > 10 ? ', …' : ''}).`,
  ]);
}

/** Two people changed the same thing at once, and this was the second change. */
export function changedMeanwhile(what: string): string {
  return `Someone else changed ${what} at the same time: review it and try again.`;
}

export function noSuchSource(slug: string): UsageError {
  return new UsageError([unknownSource(printable(slug))]);
}
