import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted, formatCount } from '../../../../reports/format.ts';
import { countOpenOf } from '../../../cases/list-cases.ts';
import type { Context } from '../../../context.ts';
import { CodedError } from '../../../core/errors.ts';
import { isLimitable, isRole, type Role, roles, rolesUnder } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { changeAddress } from '../../../people/change-address.ts';
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
import { type ApiToken, listApiTokens } from '../../../people/api-tokens.ts';
import type { NewLink } from '../../../people/links.ts';
import { officerOf } from '../../auth/sessions.ts';
import { formOf, html, pageFrame } from '../parts/page-frame.ts';
import { Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
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
import { reachText, roleTexts, type Worded } from '../parts/words.ts';

interface PersonParams {
  readonly Params: { readonly personId: string };
}

const doneTexts: Readonly<Record<string, string>> = {
  changed: 'The change has been saved. It takes effect with the person’s next click.',
  address: 'The address has been changed. The person signs in with it from now on.',
  disabled: 'The account is disabled and its sessions have ended.',
  enabled: 'The account is enabled again.',
};

/** Everyone with an account, and what an owner or admin can do about it. */
export async function peopleRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/people', (request, reply) => {
    const { done = '', person = '' } = formOf(request.query);
    return sendPeople(request, reply, { done: doneTexts[done] ?? null, left: done === 'disabled' ? person : '' });
  });

  app.post('/people', async (request, reply) => {
    const form = formOf(request.body);
    const { name = '', email = '' } = form;
    const rights = rightsOf(request);
    const invited =
      rights.contradiction ?? (await invitePerson(context, { name, email, ...rights }, officerOf(request)));
    return answer(request, reply, invited, { form: { ...form, sources: rights.ticked }, done: null });
  });

  app.post<PersonParams>('/people/:personId', async (request, reply) => {
    const { name = '' } = formOf(request.body);
    const { personId } = request.params;
    const rights = rightsOf(request);
    const changed =
      rights.contradiction ?? (await changePerson(context, personId, { name, ...rights }, officerOf(request)));
    return answer(request, reply, changed, { done: 'changed' });
  });

  app.post<PersonParams>('/people/:personId/address', async (request, reply) => {
    const { email = '' } = formOf(request.body);
    const changed = await changeAddress(context, request.params.personId, email, officerOf(request));
    return answer(request, reply, changed, { done: 'address' });
  });

  app.post<PersonParams>('/people/:personId/link', async (request, reply) => {
    const { factor, known } = formOf(request.body);
    const what = { withoutSecondFactor: factor === 'remove', isKnown: known === 'yes' };
    const { personId } = request.params;
    const made = await createPasswordLink(context, personId, officerOf(request), what);
    return answer(request, reply, made, { done: null });
  });

  app.post<PersonParams>('/people/:personId/access', async (request, reply) => {
    const isDisabled = formOf(request.body)['access'] !== 'enable';
    const { personId } = request.params;
    const set = await setDisabled(context, personId, isDisabled, officerOf(request));
    return answer(request, reply, set, { done: isDisabled ? `disabled&person=${personId}` : 'enabled' });
  });

  /**
   * Role and sources in a form. Several checkboxes with one name arrive as a list. Ticked boxes beside “every source” are
   * a contradiction: the ticks show that the account was to be limited.
   */
  function rightsOf(request: FastifyRequest) {
    const { role, reach, sources } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    if (!isRole(role)) throw new CodedError('invalid_request');
    const known = new Set(choices().map(({ slug }) => slug));
    const ticked = [sources].flat().filter((slug): slug is string => typeof slug === 'string' && known.has(slug));
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
    return { role, sources: isLimited ? ticked : null, ticked, contradiction };
  }

  /** The sources that an account can be limited to. An offboarded one still has its evidence. */
  function choices(): readonly Pick<Source, 'slug' | 'name'>[] {
    const { sources } = context;
    return [
      ...sources.list(),
      ...sources.offboarded().map(({ source: { slug, name } }) => ({ slug, name: `${name} (offboarded)` })),
    ];
  }

  function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    outcome: PersonOutcome,
    shown: { readonly form?: InviteForm; readonly done: string | null },
  ): FastifyReply | Promise<FastifyReply> {
    switch (outcome.outcome) {
      case 'done': {
        const { link, person } = outcome;
        // Shown in the response itself: a link must not be in a URL, and is stored nowhere.
        if (link !== null) return sendPeople(request, reply, { made: { link, person } });
        return reply.redirect(`/people?done=${shown.done ?? ''}`, 303);
      }
      case 'refused':
        return sendPeople(request, reply, { problems: outcome.problems, form: shown.form ?? {} }, 422);
      case 'unknown':
        throw new CodedError('not_found', 'Unknown person.');
      default:
        return outcome satisfies never;
    }
  }

  async function sendPeople(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: Pick<PeopleProps, 'problems' | 'form' | 'done'> & {
      readonly made?: { link: NewLink; person: Person };
      /** The account that was just disabled. */
      readonly left?: string;
    },
    status = 200,
  ): Promise<FastifyReply> {
    const { made, left = '', ...rest } = shown;
    if (left !== '') await context.projector.catchUp();
    const link =
      made === undefined
        ? null
        : { ...made, url: `${request.protocol}://${request.host}/join?token=${made.link.token}` };
    const props = {
      frame: pageFrame(context, request, reply),
      people: await listPeople(context),
      held: await listHeld(context),
      sources: choices(),
      tokens: await listApiTokens(context),
      ownId: officerOf(request).personId,
      link,
      leftOpen: left === '' ? null : { personId: left, count: await countOpenOf(context.store.read, left) },
      ...rest,
    };
    return html(reply, renderPage(<PeoplePage {...props} />), status);
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
  readonly link: { readonly link: NewLink; readonly person: Person; readonly url: string } | null;
  /** Open requests of the account that was just disabled. */
  readonly leftOpen: { readonly personId: string; readonly count: number } | null;
  readonly form?: InviteForm;
  readonly problems?: readonly string[];
  readonly done?: string | null;
}

/** An invitation that was refused, as it was filled in. */
interface InviteForm {
  readonly name?: string;
  readonly email?: string;
  readonly role?: string;
  readonly reach?: string;
  readonly sources?: readonly string[];
}

function PeoplePage(props: PeopleProps) {
  const { frame, people, held, sources, tokens, ownId, link, leftOpen, form = {}, problems = [], done = null } = props;
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
            <Input id="name" label="Name" maxLength={100} value={form.name ?? ''} autocomplete="off" />
            <Input
              id="email"
              label="E-mail"
              type="email"
              maxLength={254}
              value={form.email ?? ''}
              autocomplete="off"
              hint="They sign in with it. No mail is sent: pass on the link yourself."
            />
          </div>
          <RightsFields
            id="new"
            under={under}
            role={roleOf(form.role)}
            reach={form.reach === 'some' ? (form.sources ?? []) : null}
            ticked={form.sources ?? []}
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

interface LinkNoticeProps {
  readonly link: NewLink;
  readonly person: Person;
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
