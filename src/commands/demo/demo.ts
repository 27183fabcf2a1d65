import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { loadConfig, readEnvironmentVariable } from '../../config/config.ts';
import type { Context } from '../../context/context.ts';
import { UsageError } from '../../core/errors.ts';
import { invitePerson, joinByLink } from '../../people/people.ts';
import type { PeopleDeps } from '../../people/sessions.ts';
import { type CommandIo, printResult, startedAs, withJson } from '../command-io.ts';
import { withContextOf } from '../run-context.ts';
import { alterOne } from './alter-entry.ts';
import { DEMO_OFFICER } from './keep-evidence.ts';
import type { DemoResult } from './run-demo.ts';

/** `demo` and `demo tamper`: the whole product with made-up traffic, entirely on this machine. */
export function registerDemo(program: CommandUnknownOpts, io: CommandIo): void {
  const command = withJson(program.command('demo'))
    .description('simulate a month of traffic: webhooks, sync, report, DSAR pack, verification')
    .option('--once', 'exit when done instead of serving the pages')
    .option('--folder <path>', 'output folder; an earlier demo in it is removed first', 'demo-output')
    .action(async (options) => {
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
        const accounts = await addPeople(demo.context);
        const signIn = { url: `${result.readMoreAt.adminUrl}/sign-in`, accounts };
        printResult(io, options, { ...result, signIn }, () => summary(result, signIn));
        await stopped;
      } finally {
        await demo.close();
      }
    });

  withJson(command.command('tamper'))
    .description('alter one record of the last demo directly in the database and run verify, which exits with code 3')
    .option('--folder <path>', 'folder of that demo (default: the same as for `demo`)')
    .action((options) => tamper(io, { ...command.opts(), ...options }));
}

/** The command that started the demo: npm in a checkout, otherwise the program itself. */
function demoCommand(...more: readonly string[]): string {
  if (readEnvironmentVariable('npm_lifecycle_event') !== 'demo') return [startedAs(), 'demo', ...more].join(' ');
  return ['npm run demo', ...(more.length > 0 ? ['--', ...more] : [])].join(' ');
}

function summary(result: DemoResult, signIn: SignIn | null): string {
  const { deliveries, rows, evidence, attention, folder, files, verification } = result;
  const here = relative(process.cwd(), folder) || folder;
  const again = demoCommand();
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
    pc.bold('Things to try next'),
    ...(signIn === null
      ? [`  ${again.padEnd(32)}  the same, then serve the officer’s pages`]
      : [
          `  open ${signIn.url} as`,
          ...signIn.accounts.map(({ email, password, about }) => `    ${email.padEnd(20)} ${password}   ${about}`),
        ]),
    `  ${demoCommand('tamper').padEnd(32)}  alter a record and watch verify fail`,
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

interface SignIn {
  readonly url: string;
  readonly accounts: Awaited<ReturnType<typeof addPeople>>;
}

/** Example people, each with a password only for this demo, as if they had accepted their invitations. */
async function addPeople(context: PeopleDeps & Pick<Context, 'sources'>) {
  const [first = '', second = first] = context.sources.list().map(({ slug }) => slug);
  const people = [
    {
      name: 'Olivia Owner',
      email: 'owner@demo.example',
      role: 'owner',
      sources: null,
      about: 'sees and may do everything',
    },
    {
      name: 'Adam Admin',
      email: 'admin@demo.example',
      role: 'admin',
      sources: null,
      about: 'sets up sources, invites people',
    },
    { name: 'Oscar Officer', email: 'officer@demo.example', role: 'officer', sources: null, about: 'handles requests' },
    {
      name: 'Clara Client',
      email: 'client@demo.example',
      role: 'officer',
      sources: [second],
      about: `handles requests of ${second} only`,
    },
    {
      name: 'Anna Auditor',
      email: 'auditor@demo.example',
      role: 'auditor',
      sources: [first],
      about: `views only, and only ${first}`,
    },
  ] as const;
  const accounts: { email: string; password: string; about: string }[] = [];
  for (const { about, ...person } of people) {
    const sources = person.sources === null ? null : [...person.sources];
    const invited = await invitePerson(context, { ...person, sources }, demoOwner);
    if (invited.outcome !== 'done' || invited.link === null) throw new Error(`${person.email} was not invited`);
    const password = randomBytes(10)
      .toString('hex')
      .replaceAll(/(.{5})(?=.)/g, '$1-');
    await joinByLink(context, invited.link.token, password, 'the demo');
    accounts.push({ email: person.email, password, about });
  }
  return accounts;
}

const demoOwner = { officer: DEMO_OFFICER, personId: null, role: 'owner' } as const;

/** Tampers with one recorded choice directly in the database, as the ledger must detect, then verifies. Ends with exit code 3. */
async function tamper(io: CommandIo, options: { folder: string; json?: boolean }): Promise<void> {
  const folder = findFolder(options.folder);
  await withContextOf(loadConfig({}, folder), async (context) => {
    const altered = await alterOne(context);
    const verification = await context.verify();
    io.exitCode = verification.faults.length > 0 ? 3 : 1;
    printResult(io, options, { altered, faults: verification.faults }, () =>
      [
        altered === null
          ? 'Nothing was altered: the demo has no refused choice left to change.'
          : `Someone with write access to the database changed entry ${altered.seq} of ${altered.source}: a refused choice now reads as given.`,
        '',
        verification.faults.length > 0 ? pc.red(`✗ ledger verify finds it:`) : pc.red('✗ ledger verify found nothing'),
        ...verification.faults.map(({ seq, fault, sentence }) => `  entry ${seq ?? '–'}: ${fault}: ${sentence}`),
        '',
        `Run \`${demoCommand()}\` again for an intact ledger.`,
      ].join('\n'),
    );
  });
}

const MARKER = '.consent-ledger-demo';

/** Empties the demo's folder. Refuses to touch a folder that the demo did not create. */
async function prepareFolder(path: string): Promise<string> {
  const folder = resolve(path);
  if (existsSync(folder) && !existsSync(join(folder, MARKER)) && (await readdir(folder)).length > 0) {
    throw new UsageError([`${folder} contains files that are not from a demo. Choose another folder with --folder.`]);
  }
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, MARKER), 'Made by `consent-ledger demo`, which empties this folder each time.\n');
  return folder;
}

/** The demo's folder from an earlier run. */
function findFolder(path: string): string {
  const folder = resolve(path);
  if (!existsSync(join(folder, MARKER))) {
    throw new UsageError([`No demo found in ${folder}: run \`${demoCommand()}\` first.`]);
  }
  return folder;
}
