import { Command, type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import type { Context } from '../context/context.ts';
import { UsageError } from '../core/errors.ts';
import { isRole, type Role, roles } from '../core/roles.ts';
import { type ApiToken, listApiTokens } from '../people/api-tokens.ts';
import { changeAddress } from '../people/change-address.ts';
import { createSetUpLink } from '../people/links.ts';
import {
  type Administrator,
  changePerson,
  createPasswordLink,
  hasPeople,
  invitePerson,
  listHeld,
  listPeople,
  type Person,
  type PersonOutcome,
  setDisabled,
} from '../people/people.ts';
import {
  type CommandIo,
  type OptionsOf,
  printable,
  printResult,
  tableText,
  timeText,
  withJson,
  withOptions,
} from './command-io.ts';
import { COMMAND_LINE_ACTOR, findSource, withContext } from './run-context.ts';
import { adminUrl, adminUrlOf, findAccount } from './token.ts';

/** Anyone with a shell here also has the keys. */
const administrator: Administrator = { officer: COMMAND_LINE_ACTOR, personId: null, role: 'owner' };

/** `people`: accounts of the admin pages; also works for people who can no longer sign in. */
export function registerPeople(program: CommandUnknownOpts, io: CommandIo): void {
  const people = program
    .command('people')
    .description('accounts of the admin pages: who may sign in, and what they may do');

  withJson(people.command('list'))
    .description('list accounts with role, sources and state')
    .action((options) =>
      withContext(async (context) => {
        const list = await listPeople(context);
        printResult(io, options, { people: list.map(summary) }, () =>
          tableText(
            ['e-mail', 'name', 'role', 'sources', 'state', 'id'],
            list.map((person) => {
              const { email, name, role, sources, personId } = person;
              return [email, name, role, sources?.join(', ') ?? 'all', stateOf(person), personId];
            }),
            'No accounts yet: `consent-ledger people set-up` prints the link that creates the first one.',
          ),
        );
      }),
    );

  withOptions(withJson(people.command('set-up')), addressOption)
    .description('print the one-time link that creates the first account, an owner')
    .action((options) =>
      withContext(async (context) => {
        if (await hasPeople(context))
          throw new UsageError([
            'There are accounts already: use `people invite`, or `people reset` for a lost password.',
          ]);
        const base = options.adminUrl ?? adminUrlOf(context);
        const { token, expiresAt } = await createSetUpLink(context, COMMAND_LINE_ACTOR);
        const url = `${base}/join?token=${token}`;
        printResult(
          io,
          options,
          { url, expiresAt },
          () => `${url}\ncreates the first account; works once, until ${timeText(expiresAt)}`,
        );
      }),
    );

  withOptions(withOptions(withJson(people.command('invite')), addressOption), rightsOptions)
    .description('add an account and print the link where the person chooses a password')
    .argument('<email>', 'e-mail address to sign in with')
    .requiredOption('--name <name>', 'name of the person on pages and in the ledger')
    .action((email, options) =>
      withContext(async (context) => {
        const sources = reachOf(context, options, null);
        const { name, role = 'officer' } = options;
        const base = options.adminUrl ?? adminUrlOf(context);
        print(io, options, base, {
          outcome: await invitePerson(context, { name, email, role, sources }, administrator),
        });
      }),
    );

  withOptions(withJson(people.command('change')), rightsOptions)
    .description('change name, e-mail address, role or sources of an account')
    .argument('<email>', 'e-mail address of the account')
    .option('--name <name>', 'name of the person on pages and in the ledger')
    .option('--email <email>', 'new address; ends the sessions of the account and notifies the old address by mail')
    .action((email, options) =>
      withContext(async (context) => {
        const person = await findAccount(context, email);
        const { email: address, json: _json, ...others } = options;
        let outcome: PersonOutcome = { outcome: 'done', person, link: null };
        if (address === undefined || Object.keys(others).length > 0) {
          const { name = person.name, role = person.role } = options;
          const changes = { name, role, sources: reachOf(context, options, person.sources) };
          outcome = await changePerson(context, person.personId, changes, administrator);
        }
        if (address !== undefined && outcome.outcome === 'done')
          outcome = await changeAddress(context, person.personId, address, administrator);
        print(io, options, null, { outcome });
      }),
    );

  withOptions(withJson(people.command('reset')), addressOption)
    .description('print the link where a person chooses a new password')
    .argument('<email>', 'e-mail address of the account')
    .option('--remove-code', 'also stop asking for a one-time code (lost phone)')
    .option(
      '--end-access',
      'somebody else knows the password: also end it, every session, passkey and API token, and the address of the calendar, at once',
    )
    .action((email, options) =>
      withContext(async (context) => {
        const { personId } = await findAccount(context, email);
        const base = options.adminUrl ?? adminUrlOf(context);
        const choices = { withoutSecondFactor: options.removeCode ?? false, isKnown: options.endAccess ?? false };
        const ended = choices.isKnown ? await listApiTokens(context, personId) : undefined;
        print(io, options, base, {
          outcome: await createPasswordLink(context, personId, administrator, choices),
          ended,
        });
      }),
    );

  withJson(people.command('disable'))
    .description('disable an account: its sessions and links end at once')
    .argument('<email>', 'e-mail address of the account')
    .action((email, options) =>
      withContext(async (context) => {
        const { personId } = await findAccount(context, email);
        print(io, options, null, { outcome: await setDisabled(context, personId, true, administrator) });
      }),
    );

  withJson(people.command('enable'))
    .description('enable a disabled account again')
    .argument('[email]', 'e-mail address of the account')
    .option('--held', 'instead: every account that a restore disabled, once an owner has confirmed the list')
    .action((email, options) =>
      withContext(async (context) => {
        if ((email === undefined) !== (options.held === true))
          throw new UsageError(['Specify the e-mail address of the account, or use --held without one.']);
        if (email !== undefined) {
          const { personId } = await findAccount(context, email);
          return print(io, options, null, { outcome: await setDisabled(context, personId, false, administrator) });
        }
        await context.projector.catchUp();
        const held = await listHeld(context);
        for (const { personId } of held) await setDisabled(context, personId, false, administrator);
        printResult(io, options, { enabled: held.map(summary) }, () =>
          held.length === 0
            ? 'No account is held.'
            : held.map(({ name, email: address }) => `${printable(name)} <${printable(address)}> enabled`).join('\n'),
        );
      }),
    );
}

const addressOption = new Command().option(
  '--admin-url <url>',
  'address at which people reach the admin listener (default: ADMIN_HOST and ADMIN_PORT)',
  adminUrl,
);

const rightsOptions = new Command()
  .option('--role <role>', `${roles.join(', ')} (default for a new account: officer)`, roleOf)
  .option('--source <slug...>', 'limit an officer or auditor to these sources')
  .option('--all-sources', 'remove the limit');

function roleOf(text: string): Role {
  if (!isRole(text)) throw new InvalidArgumentError(`Use one of ${roles.join(', ')}.`);
  return text;
}

function reachOf(
  context: Pick<Context, 'sources'>,
  { source, allSources }: OptionsOf<typeof rightsOptions>,
  before: readonly string[] | null,
): string[] | null {
  if (allSources === true) return null;
  if (source === undefined) return before === null ? null : [...before];
  return source.map((slug) => findSource(context, slug).slug);
}

/** `ended`: the API tokens that ended with it. */
function print(
  io: CommandIo,
  options: { json?: boolean },
  base: string | null,
  { outcome, ended }: { readonly outcome: PersonOutcome; readonly ended?: readonly ApiToken[] | undefined },
): void {
  switch (outcome.outcome) {
    case 'unknown':
      throw new UsageError(['The account was removed in the meantime.']);
    case 'refused':
      throw new UsageError(outcome.problems);
    case 'done': {
      const { person, link } = outcome;
      const url = link === null || base === null ? null : `${base}/join?token=${link.token}`;
      const expiresAt = link?.expiresAt ?? null;
      const endedTokens = ended === undefined ? {} : { endedTokens: ended.map(({ tokenId }) => tokenId) };
      printResult(io, options, { person: summary(person), url, expiresAt, ...endedTokens }, () => {
        const about = `${printable(person.name)} (${person.personId}): ${person.role}, ${person.sources?.join(', ') ?? 'all sources'}, ${stateOf(person)}`;
        const lines = (ended ?? []).map(({ tokenId, label }) => `API token ${tokenId} (${printable(label)}) has ended`);
        if (url !== null) lines.push(url, `works once, until ${timeText(expiresAt ?? '')}`);
        return [about, ...lines].join('\n');
      });
      return;
    }
    default:
      outcome satisfies never;
  }
}

function summary({ personId, email, name, role, sources, hasSecondFactor, joinedAt, disabledAt, createdAt }: Person) {
  return { personId, email, name, role, sources, hasSecondFactor, joinedAt, disabledAt, createdAt };
}

function stateOf({ disabledAt, joinedAt }: Person): string {
  if (disabledAt !== null) return 'disabled';
  return joinedAt === null ? 'invited' : 'active';
}
