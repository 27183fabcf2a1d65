import { loadProcessConfig, type Config } from '../config.ts';
import { openContext } from '../context.ts';
import type { Context } from '../context/contract.ts';
import { createLog } from '../log.ts';

/** Opens the installation that environment and .env describe, does the work, and closes it again whatever happens. */
export async function withContext<T>(work: (context: Context) => Promise<T>): Promise<T> {
  const config = loadProcessConfig();
  return withContextOf(config, work);
}

/** The same for a configuration at hand. Commands log warnings and worse; what they do they print themselves. */
export async function withContextOf<T>(
  config: Config,
  work: (context: Context) => Promise<T>,
  logLevel = 'warn',
): Promise<T> {
  const log = createLog(logLevel);
  const context = await openContext(config, log);
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}

/** Who acts on the command line, as the ledger records it. */
export const COMMAND_LINE_ACTOR = 'operator (command line)';
