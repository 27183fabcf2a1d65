import type { Command } from 'commander';
import { verifierKeyPath } from '../context/data-directory.ts';
import { type CommandIo, printResult, withJson } from './command-io.ts';
import { withContext } from './run-context.ts';

/** `ledger key|prove|consistency`: what others need to check the ledger without its keys (docs/proofs.md). */
export function registerLedgerProofs(ledger: Command, io: CommandIo): void {
  withJson(ledger.command('key'))
    .description('print the verifier key: the public key that checks every checkpoint of this ledger')
    .action((options: { json?: boolean }) =>
      withContext(async ({ verifierKey, instance, epoch, config }) => {
        const file = verifierKeyPath(config.dataDir);
        printResult(io, options, { verifierKey, instance, epoch, file }, () => verifierKey);
      }),
    );
}
