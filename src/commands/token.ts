import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Context } from '../context/context.ts';
import { publicUrlOf, urlWithoutSlash, webUrlOf } from '../core/address.ts';
import { UsageError } from '../core/errors.ts';
import { tokenScopes } from '../core/roles.ts';
import { isOneLine, ONE_LINE } from '../core/validation.ts';
import { createApiToken, listApiTokens, revokeApiToken, TOKEN_DAYS, TOKEN_DAYS_MAX } from '../people/api-tokens.ts';
import { createSignInLink, DEFAULT_OFFICER, LINK_MINUTES } from '../people/links.ts';
import { findPerson, findPersonByEmail, listPeople, type Person } from '../people/people.ts';
import { type CommandIo, printable, printResult, tableText, wholeNumber, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, findSource, withContext } from './run-context.ts';

const OFFICER_MAX = 100;

/** `token`: API tokens, and one-time links for signing in to the admin pages. */
export function registerToken(program: CommandUnknownOpts, io: CommandIo): void {
  const token = program
    .command('token')
    .description(
      'API tokens for other programs, and one-time sign-in links for emergencies: everyday sign-ins use an account (`people`)',
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

  withJson(token.command('api'))
    .description('create an API token that acts in the name of an account, and print it once (docs/api.md)')
    .argument('<email>', 'e-mail address of the account')
    .requiredOption('--for <what>', 'purpose of the token, shown in lists')
    .addOption(new Option('--scope <scope>', 'what it may do').choices(tokenScopes).default('read' as const))
    .option('--source <slug...>', 'only these sources (default: those that the account sees)')
    .option('--days <number>', 'how long the token is valid', wholeNumber(1, TOKEN_DAYS_MAX), TOKEN_DAYS)
    .action((email, options) =>
      withContext(async (context) => {
        const person = await findAccount(context, email);
        const { scope, days, for: label } = options;
        const sources = options.source?.map((slug) => findSource(context, slug).slug) ?? null;
        const made = await createApiToken(
          context,
          person,
          { label, scope, sources, days },
          { officer: COMMAND_LINE_ACTOR },
        );
        if (made.outcome === 'refused') throw new UsageError(made.problems);
        printResult(
          io,
          options,
          { secret: made.secret, ...made.token },
          () =>
            `${made.secret}\n${made.token.tokenId}: ${scope}, in the name of ${printable(person.name)}, until ${made.token.expiresAt}. It is shown only now.`,
        );
      }),
    );

  withJson(token.command('list'))
    .description('list API tokens that are still valid, with their last use')
    .action((options) =>
      withContext(async (context) => {
        const tokens = await listApiTokens(context);
        const people = new Map((await listPeople(context)).map(({ personId, email }) => [personId, email]));
        const shown = tokens.map((one) => ({ ...one, email: people.get(one.personId) ?? null }));
        printResult(io, options, { tokens: shown }, () =>
          tableText(
            ['id', 'account', 'for', 'may', 'sources', 'until', 'last used'],
            shown.map(({ tokenId, email, label, scope, sources, expiresAt, lastUsedAt }) => [
              tokenId,
              email ?? '–',
              printable(label),
              scope,
              sources?.join(', ') ?? 'all that the account sees',
              expiresAt,
              lastUsedAt ?? 'never',
            ]),
            'No API tokens.',
          ),
        );
      }),
    );

  withJson(token.command('revoke'))
    .description('revoke an API token at once')
    .argument('<id>', 'of the token, as `token list` shows it')
    .action((tokenId, options) =>
      withContext(async (context) => {
        const found = (await listApiTokens(context)).find((one) => one.tokenId === tokenId);
        const person = found === undefined ? null : await findPerson(context, found.personId);
        const revoked =
          person !== null && (await revokeApiToken(context, person, tokenId, { officer: COMMAND_LINE_ACTOR }));
        if (!revoked)
          throw new UsageError([`No API token ${printable(tokenId)} is valid: see \`consent-ledger token list\`.`]);
        printResult(io, options, { revoked: tokenId }, () => `${tokenId} is revoked`);
      }),
    );
}

/** The account with an e-mail address. Throws UsageError if there is none. */
export async function findAccount(context: Pick<Context, 'store'>, email: string): Promise<Person> {
  const person = await findPersonByEmail(context, email);
  if (person !== null) return person;
  throw new UsageError([`No account has the e-mail address ${printable(email)}: see \`consent-ledger people list\`.`]);
}

/** The configured address of the admin listener. Throws UsageError if the configuration fixes no port. */
export function adminUrlOf({ config }: Pick<Context, 'config'>): string {
  if (config.adminUrl !== null) return config.adminUrl;
  if (config.adminPort === 0) {
    throw new UsageError([
      'ADMIN_PORT is 0, so the port changes with every start: set --admin-url to the address that `serve` printed.',
    ]);
  }
  return publicUrlOf({ publicUrl: null, host: config.adminHost }, config.adminPort);
}

/** The link itself. */
function signInUrl(adminUrl: string, token: string): string {
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
  if (!isOneLine(name)) throw new InvalidArgumentError(`The name ${ONE_LINE}.`);
  // Entries name accounts in this form, and approvals by a second person are recognised by it.
  if (/\(p-[0-9a-f]{8}\)/.test(name))
    throw new InvalidArgumentError(
      'Leave out the account id (p-…): this link is for someone without an account; people with an account use that to sign in.',
    );
  return name;
}
