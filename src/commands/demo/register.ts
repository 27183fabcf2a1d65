import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import pc from 'picocolors';
import { createSignInLink } from '../../http/auth/sign-in-links.ts';
import { type CommandIo, printResult, withJson } from '../command-io.ts';
import { DEMO_OFFICER } from './answer-request.ts';
import { prepareFolder } from './demo-folder.ts';
import type { DemoResult } from './run-demo.ts';
import { tamper } from './tamper.ts';

interface DemoFlags {
  readonly once?: boolean;
  readonly folder: string;
  readonly json?: boolean;
}

/** `demo` and `demo tamper`: the main job on made-up traffic, everything on this machine. */
export function registerDemo(program: Command, io: CommandIo): void {
  const command = withJson(program.command('demo'))
    .description('simulate a month of traffic: webhooks, sync, report, DSAR pack, verification')
    .option('--once', 'exit when done instead of serving the pages')
    .option('--folder <path>', 'output folder; an earlier demo in it is removed first', 'demo-output')
    .action(async (options: DemoFlags) => {
      const stopped = options.once ? null : io.untilStopped();
      io.stderr.write(`${pc.bold('consent-ledger demo')}: a simulated service and the product, talking over HTTP\n`);
      const { runDemo } = await import('./run-demo.ts');
      const demo = await runDemo(await prepareFolder(options.folder), io);
      try {
        const { result } = demo;
        if (stopped === null) {
          printResult(io, options, result, () => summary(result, null));
          return;
        }
        const { token } = await createSignInLink(demo.context, {
          officer: DEMO_OFFICER,
          minutes: 60,
          actor: DEMO_OFFICER,
        });
        printResult(io, options, result, () => summary(result, `${result.readMoreAt.adminUrl}/sign-in?token=${token}`));
        await stopped;
      } finally {
        await demo.close();
      }
    });

  withJson(command.command('tamper'))
    .description('alter one record of the last demo directly in the database and run verify, which exits with code 3')
    .option('--folder <path>', 'folder of that demo (default: the same as for `demo`)')
    .action((options: Partial<DemoFlags>) => {
      const { folder, json } = { ...command.opts<DemoFlags>(), ...options };
      return tamper(io, { folder, ...(json === undefined ? {} : { json }) });
    });
}

function summary(result: DemoResult, signIn: string | null): string {
  const { deliveries, rows, evidence, attention, folder, files, verification } = result;
  const here = relative(process.cwd(), folder) || folder;
  const command = `cd ${here} && node ${relative(folder, fileURLToPath(new URL('../../cli.js', import.meta.url)))}`;
  return [
    '',
    pc.bold('What happened'),
    `  ${deliveries.sent} deliveries arrived; ${deliveries.accepted} were kept (repeats once), ${deliveries.refused} had an invalid signature or none`,
    `  ${rows.pulled} rows were pulled from the consent log and reconciled with them`,
    `  ${evidence.texts} fetches of policy texts, ${evidence.banners.length} files of banner evidence, ${evidence.disputed.length} disputed decisions, ${evidence.withdrawals.length} withdrawal by request`,
    `  ${verification.entries} entries, root ${verification.root.slice(0, 16)}…`,
    '',
    pc.bold('What needs attention'),
    `  ${attention}`,
    '',
    pc.bold(`Files (in ${here}/, every page marked SAMPLE)`),
    ...files.map((file) => `  ${relative(folder, file)}`),
    '',
    pc.bold('What to try next'),
    ...(signIn === null
      ? ['  npm run demo                      the same, then serve the officer’s pages']
      : [
          `  open ${signIn}`,
          '                                    the officer’s pages (one-time link, valid for an hour)',
        ]),
    '  npm run demo -- tamper            alter a record and watch verify fail',
    `  ${command} dsar list`,
    `  ${command} banner evidence list`,
    ...evidence.disputed
      .slice(0, 1)
      .map(
        ({ source, decisionId, at }) => `  ${command} consent show ${decisionId} --source ${source} --at ${at} --text`,
      ),
    `  ${command} ledger verify`,
    ...(signIn === null ? [] : ['', 'Serving. Press Ctrl-C to stop.']),
  ].join('\n');
}
