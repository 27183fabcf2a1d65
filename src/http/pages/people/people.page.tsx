import { z } from 'zod';
import { counted, formatCount } from '../../../../reports/format.ts';
import { countOpenOf } from '../../../cases/list-cases.ts';
import type { Context } from '../../../context/context.ts';
import { CodedError } from '../../../core/errors.ts';
import { isLimitable, isRole, type Role, roles, rolesUnder } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { type ApiToken, listApiTokens } from '../../../people/api-tokens.ts';
import { changeAddress } from '../../../people/change-address.ts';
import type { NewLink } from '../../../people/links.ts';
import {
  changePerson,
  createPasswordLink,
  invitePerson,
  listHeld,
  listPeople,
  type Person,
  type PersonOutcome,
  setDisabled,
} from '../../../people/people.ts';
import { adminAddressOf } from '../../admin-address.ts';
import { pagesWith, type Said, several, text, ticked, type Visit } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Badge,
  Choice,
  type Column,
  Done,
  Field,
  Input,
  Moment,
  Notice,
  Panel,
  Problems,
  Table,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { reachText, roleTexts, type Worded } from '../parts/words.ts';

type Parts = 'store' | 'ledger' | 'keys' | 'clock' | 'sources' | 'projector' | 'jobs' | 'config';
const { page, form } = pagesWith<Parts>();

const rule = { who: 'administer', source: 'installation' } as const;

/** Everyone with an account, and what an owner or admin can do about it. */
const everyone = page({
  path: '/people',
  rule,
  query: z.object({ done: text, person: text }),
  done: {
    changed: 'The change has been saved. It takes effect with the person’s next click.',
    address: 'The address has been changed. The person signs in with it from now on.',
    disabled: 'The account is disabled and its sessions have ended.',
    enabled: 'The account is enabled again.',
  },
  async load(visit, { made, invited }: Said<{ made: Made; invited: Invitation }>) {
    const { context, fields, by, request } = visit;
    // The account that was just disabled.
    const left = fields.done === 'disabled' ? fields.person : '';
    if (left !== '') await context.projector.catchUp();
    return {
      people: await listPeople(context),
      held: await listHeld(context),
      sources: choices(context),
      tokens: await listApiTokens(context),
      ownId: by.personId,
      link:
        made === undefined
          ? null
          : { ...made, url: `${adminAddressOf(context.config, request)}/join?token=${made.link.token}` },
      leftOpen: left === '' ? null : { personId: left, count: await countOpenOf(context.store.read, left) },
      invited: invited ?? {},
    };
  },
  show: (data, { frame, said: { problems, done } }) => (
    <PeoplePage frame={frame} {...data} problems={problems} done={done} />
  ),
});

/** Role and sources in a form. */
const rights = { role: z.enum(roles), reach: text, sources: several };

const invite = form({
  path: '/people',
  rule,
  body: z.object({ name: text, email: text, ...rights }),
  async act(visit) {
    const { context, fields, by } = visit;
    const { name, email, role, reach } = fields;
    const { sources, ticked, contradiction } = rightsOf(context, fields);
    const outcome = contradiction ?? (await invitePerson(context, { name, email, role, sources }, by));
    return answer(visit, outcome, '', { name, email, role, reach, sources: ticked });
  },
});

const change = form({
  path: '/people/:personId',
  rule,
  body: z.object({ name: text, ...rights }),
  async act(visit) {
    const { context, params, fields, by } = visit;
    const { name, role } = fields;
    const { sources, contradiction } = rightsOf(context, fields);
    const outcome = contradiction ?? (await changePerson(context, params.personId, { name, role, sources }, by));
    return answer(visit, outcome, 'changed');
  },
});

const address = form({
  path: '/people/:personId/address',
  rule,
  body: z.object({ email: text }),
  async act(visit) {
    const { context, params, fields, by } = visit;
    return answer(visit, await changeAddress(context, params.personId, fields.email, by), 'address');
  },
});

const link = form({
  path: '/people/:personId/link',
  rule,
  body: z.object({ factor: text, known: ticked }),
  async act(visit) {
    const { context, params, fields, by } = visit;
    const what = { withoutSecondFactor: fields.factor === 'remove', isKnown: fields.known };
    return answer(visit, await createPasswordLink(context, params.personId, by, what), '');
  },
});

const access = form({
  path: '/people/:personId/access',
  rule,
  body: z.object({ access: text }),
  async act(visit) {
    const { context, params, fields, by } = visit;
    const { personId } = params;
    const isDisabled = fields.access !== 'enable';
    const set = await setDisabled(context, personId, isDisabled, by);
    return answer(visit, set, isDisabled ? `disabled&person=${personId}` : 'enabled');
  },
});

export const routes = [everyone, invite, change, address, link, access];

/** A new link, and whose it is. */
interface Made {
  readonly link: NewLink;
  readonly person: Person;
}

/** An invitation that was refused, as it was filled in. */
interface Invitation {
  readonly name?: string;
  readonly email?: string;
  readonly role?: string;
  readonly reach?: string;
  readonly sources?: readonly string[];
}

/**
 * The sources in a form; null: all. Ticked boxes beside “every source” are a contradiction: the ticks show that the
 * account was to be limited.
 */
function rightsOf(
  context: Pick<Context, 'sources'>,
  { reach, sources }: { readonly reach: string; readonly sources: readonly string[] },
) {
  const known = new Set(choices(context).map(({ slug }) => slug));
  const ticked = sources.filter((slug) => known.has(slug));
  const isLimited = reach === 'some';
  const contradiction =
    isLimited || ticked.length === 0
      ? null
      : {
          outcome: 'refused' as const,
          problems: [
            `You chose “every source” and also ticked ${counted(ticked.length, 'source', 'sources')}: choose “only those ticked below”, or untick them.`,
          ],
        };
  return { sources: isLimited ? ticked : null, ticked, contradiction };
}

/** The sources that an account can be limited to. An offboarded one still has its evidence. */
function choices({ sources }: Pick<Context, 'sources'>): readonly Pick<Source, 'slug' | 'name'>[] {
  return [
    ...sources.list(),
    ...sources.offboarded().map(({ source: { slug, name } }) => ({ slug, name: `${name} (offboarded)` })),
  ];
}

const nothing = { done: '', person: '' };

/** `done`: the end of the address to look at, unless there is a link to show. */
async function answer(
  visit: Visit<Parts>,
  outcome: PersonOutcome,
  done: string,
  invited: Invitation = {},
): ReturnType<typeof everyone.again> {
  switch (outcome.outcome) {
    case 'done': {
      const { link: made, person } = outcome;
      // Shown in the response itself: a link must not be in a URL, and is stored nowhere.
      if (made !== null)
        return everyone.again(visit, { fields: nothing, said: { made: { link: made, person } }, status: 200 });
      return visit.goTo(`/people?done=${done}`);
    }
    case 'refused':
      return everyone.again(visit, { fields: nothing, said: { problems: outcome.problems, invited } });
    case 'unknown':
      throw new CodedError('not_found', 'Unknown person.');
    default:
      return outcome satisfies never;
  }
}

interface PeopleProps {
  readonly frame: PageFrame;
  readonly people: readonly Person[];
  /** Accounts that a restore disabled, and nobody has confirmed since. */
  readonly held: readonly Person[];
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  /** Of everyone. */
  readonly tokens: readonly ApiToken[];
  /** The viewer's account; null without one. */
  readonly ownId: string | null;
  /** A new link. */
  readonly link: (Made & { readonly url: string }) | null;
  /** Open requests of the account that was just disabled. */
  readonly leftOpen: { readonly personId: string; readonly count: number } | null;
  readonly invited: Invitation;
  readonly problems: readonly string[];
  readonly done: string | null;
}

function PeoplePage(props: PeopleProps) {
  const { frame, people, held, sources, tokens, ownId, link, leftOpen, invited, problems, done } = props;
  const columns: readonly Column<Person>[] = [
    {
      title: 'Person',
      cell: (person) => (
        <>
          <bdi>{person.name}</bdi> {person.personId === ownId ? <span class="soft small">(you)</span> : null}
          <br />
          <span class="soft small outside">{person.email}</span>
        </>
      ),
    },
    { title: 'Role', cell: ({ role }) => roleTexts[role] },
    { title: 'Sources', cell: (person) => reachText(person.sources?.map(frame.sourceName) ?? null) },
    {
      title: 'State',
      cell: (person) => (
        <span>
          <Badge {...stateOf(person)} /> {person.hasSecondFactor ? <Badge text="one-time code" tone="good" /> : null}
        </span>
      ),
    },
    { title: 'Since', cell: ({ createdAt }) => <Moment iso={createdAt} timeZone={frame.timeZone} /> },
  ];
  const under = rolesUnder(frame.role);
  return (
    <Page title="People" frame={frame} current="people">
      <h1>People</h1>
      <p class="lead">Everyone who can sign in. Each change here, and each sign-in, is recorded in the ledger.</p>
      <Done text={done} />
      {held.length === 0 ? null : (
        <Notice tone="warn">
          <p>
            A backup was restored, and some accounts may have been disabled after it was made. Until you confirm them
            under “Change an account”, these stay disabled: {held.map(({ name }) => name).join(', ')}.
          </p>
        </Notice>
      )}
      {leftOpen === null || leftOpen.count === 0 ? null : (
        <Notice tone="warn">
          <p>
            {leftOpen.count === 1 ? 'One open request is' : `${formatCount(leftOpen.count)} open requests are`} still
            assigned to this account. <a href={`/cases?assignee=${leftOpen.personId}`}>Assign them to someone else</a>
          </p>
        </Notice>
      )}
      {link === null ? null : <LinkNotice {...link} frame={frame} />}
      <Problems title="This was not saved:" problems={problems} />
      <Panel id="people" title="Accounts">
        {people.length === 0 ? (
          <p>No accounts yet. Invite yourself first, as an owner.</p>
        ) : (
          <>
            <Table caption={null} columns={columns} rows={people} />
            <h3>Change an account</h3>
            {people
              .filter(({ role }) => under.includes(role))
              .map((person) => (
                <details key={person.personId}>
                  <summary>
                    {person.name} <span class="soft small">{person.email}</span>
                  </summary>
                  <PersonForms
                    {...{ frame, person, sources }}
                    isOwn={person.personId === ownId}
                    tokens={tokens.filter(({ personId }) => personId === person.personId).map(({ label }) => label)}
                  />
                </details>
              ))}
          </>
        )}
      </Panel>
      <Panel id="invite" title="Invite someone">
        <PostForm frame={frame} action="/people">
          <div class="pair">
            <Input id="name" label="Name" maxLength={100} value={invited.name ?? ''} autocomplete="off" />
            <Input
              id="email"
              label="E-mail"
              type="email"
              maxLength={254}
              value={invited.email ?? ''}
              autocomplete="off"
              hint="They sign in with it. No mail is sent: pass on the link yourself."
            />
          </div>
          <RightsFields
            id="new"
            under={under}
            role={roleOf(invited.role)}
            reach={invited.reach === 'some' ? (invited.sources ?? []) : null}
            ticked={invited.sources ?? []}
            sources={sources}
          />
          <button type="submit">Create the invitation</button>
        </PostForm>
      </Panel>
      <Panel id="roles" title="What the roles may do">
        <dl class="facts">
          {roles.map((role) => (
            <>
              <dt>{roleTexts[role]}</dt>
              <dd>{roleMeanings[role]}</dd>
            </>
          ))}
        </dl>
      </Panel>
    </Page>
  );
}

const roleMeanings: Readonly<Record<Role, string>> = {
  owner: 'Everything; only owners can create and change owners. There is always at least one.',
  admin: 'Everything except managing owners: invites and changes admins, officers and auditors.',
  officer: 'Handles requests, makes documents, adds evidence; for all sources or some.',
  auditor: 'Views and downloads, changes nothing; for all sources or some.',
};

function roleOf(text: string | undefined): Role {
  return isRole(text) ? text : 'officer';
}

function stateOf({ disabledAt, joinedAt }: Person): Worded {
  if (disabledAt !== null) return { text: 'disabled', tone: 'bad' };
  return joinedAt === null ? { text: 'invited', tone: 'warn' } : { text: 'active', tone: 'good' };
}

interface LinkNoticeProps extends Made {
  readonly url: string;
  readonly frame: PageFrame;
}

function LinkNotice({ link, person, url, frame }: LinkNoticeProps) {
  return (
    <Notice tone="good">
      <p>
        Give this link to {person.name} in a way that only they can read. It works once, until{' '}
        <Moment iso={link.expiresAt} timeZone={frame.timeZone} />, and is shown only once.
      </p>
      <p>
        As {roleTexts[person.role].toLowerCase()}, {person.name} sees{' '}
        {reachText(person.sources?.map(frame.sourceName) ?? null)}.
      </p>
      <p class="mono">{url}</p>
    </Notice>
  );
}

/** The forms for one account. */
function PersonForms({
  frame,
  person,
  sources,
  isOwn,
  tokens,
}: {
  frame: PageFrame;
  person: Person;
  sources: PeopleProps['sources'];
  isOwn: boolean;
  /** The labels of the person's API tokens. */
  tokens: readonly string[];
}) {
  const { personId, name, email, role, disabledAt, joinedAt } = person;
  const here = `/people/${encodeURIComponent(personId)}`;
  return (
    <div>
      <PostForm frame={frame} action={here}>
        <Input id={`name-${personId}`} name="name" label="Name" maxLength={100} value={name} autocomplete="off" />
        <RightsFields
          id={personId}
          under={rolesUnder(frame.role)}
          role={role}
          reach={person.sources}
          sources={sources}
        />
        <button type="submit" aria-label={`Save ${name}`}>
          Save
        </button>
      </PostForm>
      {isOwn ? (
        <p class="more">
          Change your e-mail address under <a href="/account#rights">Your account</a>.
        </p>
      ) : (
        <PostForm frame={frame} class="more" action={`${here}/address`}>
          <Input
            id={`email-${personId}`}
            name="email"
            label="E-mail"
            type="email"
            maxLength={254}
            value={email}
            autocomplete="off"
            hint={
              joinedAt === null
                ? 'The invitation link stays valid.'
                : 'Their sessions will end, and they will sign in with the new address.'
            }
          />
          <button class="quiet" type="submit" aria-label={`Change the address of ${name}`}>
            Change the address
          </button>
        </PostForm>
      )}
      <div class="buttons">
        {disabledAt !== null ? null : (
          <PostForm frame={frame} action={`${here}/link`}>
            {person.hasSecondFactor ? (
              <label class="box">
                <input type="checkbox" name="factor" value="remove" /> Also remove the one-time code (lost phone)
              </label>
            ) : null}
            {joinedAt === null ? null : (
              <label class="box">
                <input type="checkbox" name="known" value="yes" /> Somebody else knows the password: end it now, with
                all sessions and passkeys,{' '}
                {tokens.length === 0 ? (
                  'API tokens (there are none)'
                ) : (
                  <>
                    the API tokens <bdi>{tokens.join(', ')}</bdi>
                  </>
                )}{' '}
                and the calendar’s address
              </label>
            )}
            <button class="quiet" type="submit">
              {joinedAt === null ? 'New invitation link' : 'Create a reset link'}
            </button>
          </PostForm>
        )}
        <PostForm frame={frame} action={`${here}/access`}>
          <input type="hidden" name="access" value={disabledAt === null ? 'disable' : 'enable'} />
          <button class="quiet" type="submit">
            {disabledAt === null ? 'Disable the account' : 'Enable the account'}
          </button>
        </PostForm>
      </div>
    </div>
  );
}

interface RightsProps {
  readonly id: string;
  readonly under: readonly Role[];
  readonly role: Role;
  /** Null: all sources. */
  readonly reach: readonly string[] | null;
  /** Default: those of `reach`. */
  readonly ticked?: readonly string[];
  readonly sources: PeopleProps['sources'];
}

/** Fields for the role and the sources. */
function RightsFields({ id, under, role, reach, ticked = reach ?? [], sources }: RightsProps) {
  return (
    <div class="pair">
      <Choice
        id={`role-${id}`}
        name="role"
        label="Role"
        value={role}
        options={under.map((one) => [one, roleTexts[one]] as const)}
      />
      {sources.length < 2 && reach === null ? null : (
        <Field
          id={`reach-${id}`}
          label="Sources"
          hint={`Only ${roles
            .filter(isLimitable)
            .map((one) => roleTexts[one].toLowerCase())
            .join('s and ')}s can be limited to some.`}
        >
          <select id={`reach-${id}`} name="reach" aria-describedby={`reach-${id}-hint`}>
            <option value="all" selected={reach === null}>
              every source
            </option>
            <option value="some" selected={reach !== null}>
              only those ticked below
            </option>
          </select>
          <div class="boxes">
            {sources.map(({ slug, name }) => (
              <label class="box" key={slug}>
                <input type="checkbox" name="sources" value={slug} checked={ticked.includes(slug)} /> {name}
              </label>
            ))}
          </div>
        </Field>
      )}
    </div>
  );
}
