import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readEnvironmentVariable } from '../config.ts';
import { createEnvFile } from '../config/env-file.ts';
import { UsageError } from '../core/errors.ts';
import { type CommandIo, printResult, withJson } from './command-io.ts';

/** `init`: a commented .env with fresh keys, never overwriting. */
export function registerInit(program: CommandUnknownOpts, io: CommandIo): void {
  withJson(program.command('init'))
    .description('write a commented .env with new keys to this folder; never overwrites')
    .option('--folder <path>', 'folder to write to', '.')
    .action(async (options) => {
      const folder = await stat(options.folder).catch(() => null);
      if (folder?.isDirectory() !== true)
        throw new UsageError([`Folder ${options.folder} does not exist: create it first.`]);
      const dataDir = readEnvironmentVariable('DATA_DIR');
      const made = await createEnvFile(options.folder, dataDir === null ? undefined : resolve(dataDir));
      if (made.outcome === 'exists') io.exitCode = 1;
      printResult(io, options, made, () =>
        made.outcome === 'exists'
          ? `${made.path} already exists and was not changed. Move it away first to create a new one.`
          : [
              `Wrote ${made.path}.`,
              ...made.keys.map(
                (path) =>
                  `New key in ${path}: back it up separately from the database. Without it, nothing can be proven.`,
              ),
              ...made.keptKeys.map((path) => `Kept the key in ${path}: the database belongs to it.`),
              'Next: fill in SERVICE_BASE_URL, SERVICE_API_KEY and WEBHOOK_SECRETS there, then run `consent-ledger doctor`.',
            ].join('\n'),
      );
    });
}
