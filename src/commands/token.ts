import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import { publicUrlOf, urlWithoutSlash, webUrlOf } from '../core/address.ts';
import { UsageError } from '../core/errors.ts';
import type { Context } from '../context.ts';
import { createSignInLink, DEFAULT_OFFICER, LINK_MINUTES } from '../people/links.ts';
import { type CommandIo, printResult, wholeNumber, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';

const OFFICER_MAX = 100;

/** `token create`: a one-time link with which an officer signs in to the admin pages. */
export function registerToken(program: CommandUnknownOpts, io: CommandIo): void {
  const token = program
    .command('token')
    .description(
      'one-time sign-in links for the admin pages, for emergencies: everyday sign-ins use an account (`people`)',
    );
  withJson(token.command('create'))
    .description('create a one-time sign-in link, with the rights of an owner and without an account')
    .option('--officer <name>', 'name of the officer to record in the ledger', officerName, DEFAULT_OFFICER)
    .option('--minutes <number>', 'how long the link is valid', wholeNumber(1, 7 * 24 * 60), LINK_MINUTES)
    .option(
      '--admin-url <url>',
      'address at which the officer reaches the admin listener (default: ADMIN_HOST and ADMIN_PORT)',
      adminUrl,
    )
    .action((options) =>
      withContext(async (context) => {
        const { officer, minutes } = options;
        const base = options.adminUrl ?? adminUrlOf(context);
        const link = await createSignInLink(context, { officer, minutes, actor: COMMAND_LINE_ACTOR });
        const url = signInUrl(base, link.token);
        printResult(
          io,
          options,
          { url, officer, expiresAt: link.expiresAt },
          () => `${url}\nsigns ${officer} in once, until ${link.expiresAt}`,
        );
      }),
    );
}

/** Where the admin listener is, as this installation is configured. Throws UsageError where that says no port. */
export function adminUrlOf({ config }: Context): string {
  if (config.adminUrl !== null) return config.adminUrl;
  if (config.adminPort === 0) {
    throw new UsageError([
      'ADMIN_PORT is 0, so the port changes with every start: set --admin-url to the address that `serve` printed.',
    ]);
  }
  return publicUrlOf({ publicUrl: null, host: config.adminHost }, config.adminPort);
}

/** The link itself. */
export function signInUrl(adminUrl: string, token: string): string {
  return `${adminUrl}/sign-in?token=${token}`;
}

export function adminUrl(text: string): string {
  const url = webUrlOf(text);
  if (url === null || url.search !== '' || url.hash !== '')
    throw new InvalidArgumentError('Use an address like https://ledger.example.org.');
  return urlWithoutSlash(url);
}

function officerName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > OFFICER_MAX)
    throw new InvalidArgumentError(`Use a name of 1 to ${OFFICER_MAX} characters.`);
  return name;
}
