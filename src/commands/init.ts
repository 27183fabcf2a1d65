import type { Command } from 'commander';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readEnvironmentVariable } from '../config.ts';
import { createEnvFile } from '../config/env-file.ts';
import { UsageError } from '../core/errors.ts';
import { type CommandIo, printResult, withJson } from './command-io.ts';

/** `init`: a commented .env with fresh keys, never overwriting. */
export function registerInit(program: Command, io: CommandIo): void {
  withJson(program.command('init'))
    .description('write a commented .env with fresh keys into this folder; never overwrites')
    .option('--folder <path>', 'write there instead', '.')
    .action(async (options: { folder: string; json?: boolean }) => {
      const folder = await stat(options.folder).catch(() => null);
      if (folder?.isDirectory() !== true)
        throw new UsageError([`There is no folder ${options.folder}: make it first.`]);
      const dataDir = readEnvironmentVariable('DATA_DIR');
      const made = await createEnvFile(options.folder, dataDir === null ? undefined : resolve(dataDir));
      if (made.outcome === 'exists') io.exitCode = 1;
      printResult(io, options, made, () =>
        made.outcome === 'exists'
          ? `${made.path} exists already and was left as it is. Move it away first if you want a new one.`
          : [
              `Wrote ${made.path}.`,
              ...made.keys.map(
                (path) =>
                  `New key in ${path}: back it up apart from the database. Without it, nothing can be proven any more.`,
              ),
              ...made.keptKeys.map((path) => `Kept the key in ${path}: the database belongs to it.`),
              'Next: fill in SERVICE_BASE_URL, SERVICE_API_KEY and WEBHOOK_SECRETS there, then run `consent-ledger doctor`.',
            ].join('\n'),
      );
    });
}
