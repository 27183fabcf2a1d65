import type { Command } from 'commander';
import { UsageError } from '../core/errors.ts';
import { type CommandIo, printResult, tableText, withJson } from './command-io.ts';
import { withContext } from './run-context.ts';

/** `policy list`: the policies that the service lists as published. */
export function registerPolicyList(policy: Command, io: CommandIo): void {
  withJson(policy.command('list'))
    .description('the published policies of every source (or one), as they are known here')
    .option('--source <slug>', 'only this source')
    .action((options: { source?: string; json?: boolean }) =>
      withContext(async (context) => {
        const { source } = options;
        if (source !== undefined && context.sources.find(source) === null) {
          throw new UsageError([`There is no source ${source}: \`consent-ledger source list\` names them.`]);
        }
        await context.projector.catchUp();
        let query = context.store.read.selectFrom('policies').selectAll().orderBy('source').orderBy('policy_id');
        if (source !== undefined) query = query.where('source', '=', source);
        const rows = await query.execute();
        printResult(io, options, rows, () =>
          tableText(
            ['source', 'type', 'jurisdiction', 'language', 'status', 'since', 'id'],
            rows.map((row) => [
              row.source,
              row.policy_type,
              row.jurisdiction,
              row.language,
              row.status,
              row.last_at.slice(0, 16),
              row.policy_id,
            ]),
            'No policy is known yet.',
          ),
        );
      }),
    );
}
