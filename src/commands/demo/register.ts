import { relative } from 'node:path';
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
    .description(
      'play a month of made-up traffic against this program: webhooks, sync, report, DSAR pack, verification',
    )
    .option('--once', 'end when it is done instead of serving on')
    .option('--folder <path>', 'everything goes there; emptied first if it is an earlier demo', 'demo-output')
    .action(async (options: DemoFlags) => {
      const stopped = options.once ? null : io.untilStopped();
      io.stderr.write(
        `${pc.bold('consent-ledger demo')}: a stand-in of the service, the product, and everything between them over HTTP\n`,
      );
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
    .description('alter one record of the last demo behind the ledger’s back, and let verify find it; exit code 3')
    .option('--folder <path>', 'where that demo is; default as of `demo`')
    .action((options: Partial<DemoFlags>) => {
      const { folder, json } = { ...command.opts<DemoFlags>(), ...options };
      return tamper(io, { folder, ...(json === undefined ? {} : { json }) });
    });
}

function summary(result: DemoResult, signIn: string | null): string {
  const { deliveries, rows, evidence, attention, folder, files, verification } = result;
  const here = relative(process.cwd(), folder) || folder;
  return [
    '',
    pc.bold('What happened'),
    `  ${deliveries.sent} deliveries came; ${deliveries.accepted} were kept (repeats once), ${deliveries.refused} had a wrong signature or none`,
    `  ${rows.pulled} rows were pulled from the consent log and set against them`,
    `  ${evidence.texts} looks at policy texts, ${evidence.banners.length} files that show a banner, ${evidence.disputed.length} disputed decisions, ${evidence.withdrawals.length} withdrawal by request`,
    `  ${verification.entries} entries, root ${verification.root.slice(0, 16)}…`,
    '',
    pc.bold('What needs attention'),
    `  ${attention}`,
    '',
    pc.bold(`Where it lies (${here}/, every page marked SAMPLE)`),
    ...files.map((file) => `  ${relative(folder, file)}`),
    '',
    pc.bold('What to try next'),
    ...(signIn === null
      ? ['  npm run demo                      the same, and goes on serving the officer’s page']
      : [
          `  open ${signIn}`,
          '                                    the officer’s page (the link works once, for an hour)',
        ]),
    '  npm run demo -- tamper            alter a record, and see verify turn red',
    `  cd ${here} && node ../dist/src/cli.js dsar list`,
    `  cd ${here} && node ../dist/src/cli.js banner evidence list`,
    ...evidence.disputed
      .slice(0, 1)
      .map(
        ({ source, decisionId, at }) =>
          `  cd ${here} && node ../dist/src/cli.js consent show ${decisionId} --source ${source} --at ${at} --text`,
      ),
    `  cd ${here} && node ../dist/src/cli.js ledger verify`,
    ...(signIn === null ? [] : ['', 'Serving. Ctrl-C ends it.']),
  ].join('\n');
}
