import { InvalidArgumentError } from '@commander-js/extra-typings';
import { type Config, DEFAULT_SOURCE, loadProcessConfig } from '../config.ts';
import { type DatabaseAddress, valuesSchema } from '../config/variables.ts';
import { type Context, openContext } from '../context.ts';
import { UsageError, unknownSource } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { createLog } from '../log.ts';
import { printable, printTimesIn } from './command-io.ts';

/** Opens the installation that environment and .env describe, does the work, and closes it again whatever happens. */
export async function withContext<T>(work: (context: Context) => Promise<T>): Promise<T> {
  const config = loadProcessConfig();
  return withContextOf(config, work);
}

/**
 * The same for a configuration at hand. Commands print what they do themselves; besides that they tell of warnings and worse, a sentence each.
 * A server's log is JSON lines, from `logLevel` on.
 */
export async function withContextOf<T>(
  config: Config,
  work: (context: Context) => Promise<T>,
  logLevel?: string,
): Promise<T> {
  printTimesIn(config.timeZone);
  const log = logLevel === undefined ? createLog('warn', sentences) : createLog(logLevel);
  // A server: also the only one that folds for as long as it runs. Sources are run without being built, in tests, and have no file for a thread.
  const foldsInThread = logLevel !== undefined && import.meta.url.endsWith('.js');
  const context = await openContext(config, log, { foldsInThread });
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}

/** Parses a flag that takes the address of a database, as DATABASE_URL does. */
export function databaseAddress(text: string): DatabaseAddress {
  const parsed = valuesSchema.shape.DATABASE_URL.safeParse(text);
  if (!parsed.success)
    throw new InvalidArgumentError(`It ${parsed.error.issues.map(({ message }) => message).join(', ')}.`);
  if (parsed.data === undefined) throw new InvalidArgumentError('Use sqlite:<path> or postgres://….');
  return parsed.data;
}

const sentences = { write: (line: string) => void process.stderr.write(`${sentenceOf(line)}\n`) };

/** A line of the log in words: `shop: retrying a request to the service: It could not be reached …`. Exported for tests. */
function sentenceOf(line: string): string {
  const { source, msg, reason, err } = JSON.parse(line) as Record<string, unknown> & { err?: { message?: unknown } };
  const parts = [source, msg, reason, err?.message].filter((part) => typeof part === 'string' && part !== '');
  return printable(parts.join(': '));
}

/** Who acts on the command line, as the ledger records it. */
export const COMMAND_LINE_ACTOR = 'operator (command line)';

/** The source with this slug. Throws UsageError if there is none. */
export function findSource({ sources }: Pick<Context, 'sources'>, slug: string): Source {
  const source = sources.find(slug);
  if (source === null) throw noSuchSource(slug);
  return source;
}

/** The source with this slug; without one `default`, or the only one that there is. Throws UsageError where that is not clear. */
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

/** Two changed the same thing at once, and this was the second. */
export function changedMeanwhile(what: string): string {
  return `Someone else changed ${what} at the same time: review it and try again.`;
}

export function noSuchSource(slug: string): UsageError {
  return new UsageError([unknownSource(printable(slug))]);
}
