import { renderSVG } from 'uqr';
import { z } from 'zod';
import { CodedError } from '../../../core/errors.ts';
import { can, isTokenScope, type TokenScope, tokenScopes } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import {
  type ApiToken,
  createApiToken,
  listApiTokens,
  revokeApiToken,
  TOKEN_DAYS,
} from '../../../people/api-tokens.ts';
import { changeOwnAddress, confirmNewAddress, findNewAddress } from '../../../people/change-address.ts';
import { addPasskey, listPasskeys, passkeyCreation, removePasskey } from '../../../people/passkeys.ts';
import {
  changePassword,
  findPerson,
  type Person,
  presentPasswordProblem,
  revokeSession,
} from '../../../people/people.ts';
import {
  countRecoveryCodes,
  issuerName,
  type Proposal,
  proposeSecondFactor,
  removeSecondFactor,
  setSecondFactor,
} from '../../../people/second-factor.ts';
import { listSessions } from '../../../people/sessions.ts';
import { adminAddressOf } from '../../admin-address.ts';
import { browserOf, notTooMany } from '../../auth/sessions.ts';
import { pagesWith, type Said, several, text, ticked, type Visit } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import {
  Choice,
  type Column,
  Done,
  Facts,
  Field,
  Input,
  Moment,
  Notice,
  Panel,
  PresentPassword,
  Problems,
  Table,
} from '../parts/parts.tsx';
import { allowScript, passkeyAnswer, passkeyOriginOf, passkeyScriptPath } from '../parts/passkey-script.ts';
import { PostForm } from '../parts/post-form.tsx';
import { reachText, roleTexts } from '../parts/words.ts';
import { NewPassword } from '../sign-in/sign-in-view.tsx';

type Parts = 'store' | 'ledger' | 'keys' | 'clock' | 'jobs' | 'config';
const { page, form } = pagesWith<Parts>();

const rule = { who: 'self' } as const;

/** A person's own account: password, second factor, sessions, passkeys, tokens. */
const account = page({
  path: '/account',
  rule,
  done: {
    password:
      'The password has been changed. Your other sessions and your API tokens have ended, and your calendar has a new address.',
    'password-only': 'The password has been changed. Your other sessions have ended.',
    sent: 'A link was sent to the new address. Open it within a day, in a browser in which you are signed in here.',
    address: 'The address has been changed. Sign in with it from now on. Your other sessions have ended.',
    session: 'The session has ended.',
    passkey: 'The passkey has been set up. You can sign in with it from now on.',
    'no-token': 'The token is revoked and no longer works.',
    'no-passkey': 'The passkey has been removed.',
    'no-factor': 'The one-time code is no longer asked for.',
  },
  async load({ context, by: { personId, handle }, permitted, request, reply }, _said: Said<Shown>) {
    const person = personId === null ? null : await findPerson(context, personId);
    if (person === null) return null;
    const place = passkeyOriginOf(context.config, request);
    const [sessions, tokens, codes, passkeys, creation] = await Promise.all([
      listSessions(context, person.personId),
      listApiTokens(context, person.personId),
      countRecoveryCodes(context, person.personId),
      listPasskeys(context, person.personId),
      place === null ? null : passkeyCreation(context, person, handle, place),
    ]);
    if (creation !== null) allowScript(reply);
    return {
      ...{ person, sessions, tokens, codes, passkeys, creation, handle },
      sources: permitted.list(),
      hasMail: context.config.mail !== null,
    };
  },
  show: (data, { frame, said }) =>
    data === null ? <NoAccountPage frame={frame} /> : <AccountPage frame={frame} {...data} {...said} />,
});

const password = form({
  path: '/account/password',
  rule,
  body: z.object({ present: text, password: text, keep: ticked }),
  async act(visit) {
    const { context, fields, by } = visit;
    const { personId } = await ownAccount(visit);
    const { present, password: wanted, keep: keepsTokens } = fields;
    const changed = await notTooMany(() =>
      changePassword(context, personId, { present, password: wanted }, { handle: by.handle, keepsTokens }),
    );
    if (changed.outcome === 'refused') return refuse(visit, changed.problems);
    return visit.goTo(`/account?done=${keepsTokens ? 'password-only' : 'password'}`);
  },
});

const newAddress = form({
  path: '/account/address',
  rule,
  body: z.object({ email: text, present: text }),
  async act(visit) {
    const { context, fields, by, request } = visit;
    const person = await ownAccount(visit);
    const confirmUrl = (token: string) => `${adminAddressOf(context.config, request)}/account/address?token=${token}`;
    const asked = await notTooMany(() => changeOwnAddress(context, person, fields, { confirmUrl, handle: by.handle }));
    if (asked.outcome === 'refused') return refuse(visit, asked.problems, { newAddress: fields.email });
    return visit.goTo(`/account?done=${asked.outcome === 'sent' ? 'sent' : 'address'}`);
  },
});

const OTHER_ADDRESS_LINK =
  'This link is unknown, has already been used or has expired, or belongs to a different account from the one you are signed in with. Request a new one under Your account.';

/** The page behind the link in the mail. Opening it changes nothing; the button does. */
const addressLink = page({
  path: '/account/address',
  rule,
  query: z.object({ token: text }),
  async load(visit) {
    const { token } = visit.fields;
    const person = await ownAccount(visit);
    const address = await findNewAddress(visit.context, person, token);
    if (address === null) throw new CodedError('not_found', OTHER_ADDRESS_LINK);
    return { person, address, token };
  },
  show: (data, { frame }) => <NewAddressPage frame={frame} {...data} />,
});

const confirmAddress = form({
  path: '/account/address/confirm',
  rule,
  body: z.object({ token: text }),
  async act(visit) {
    const { context, fields, by } = visit;
    const person = await ownAccount(visit);
    const confirmed = await confirmNewAddress(context, person, fields.token, by.handle);
    if (confirmed.outcome === 'refused') return refuse(visit, confirmed.problems);
    if (confirmed.outcome === 'gone') throw new CodedError('not_found', OTHER_ADDRESS_LINK);
    return visit.goTo('/account?done=address');
  },
});

const endSession = form({
  path: '/account/sessions',
  rule,
  body: z.object({ session: text }),
  async act(visit) {
    const person = await ownAccount(visit);
    if (!(await revokeSession(visit.context, person, visit.fields.session)))
      return refuse(visit, ['This session has already ended.']);
    return visit.goTo('/account?done=session');
  },
});

const makePasskey = form({
  path: '/account/passkeys',
  rule,
  body: z.object({ response: text, present: text }),
  async act(visit) {
    const { context, fields, by, request } = visit;
    const person = await ownAccount(visit);
    const place = passkeyOriginOf(context.config, request);
    if (place === null) throw new CodedError('invalid_request');
    const wrong =
      (await notTooMany(() => presentPasswordProblem(context, person, fields.present))) ??
      (await addPasskey(context, person, {
        response: passkeyAnswer(fields.response),
        handle: by.handle,
        place,
        label: browserOf(request),
      }));
    return wrong === null ? visit.goTo('/account?done=passkey') : refuse(visit, [wrong]);
  },
});

const forgetPasskey = form({
  path: '/account/passkeys/remove',
  rule,
  body: z.object({ passkey: text, present: text }),
  async act(visit) {
    const { context, fields } = visit;
    const person = await ownAccount(visit);
    const wrong = await notTooMany(() => presentPasswordProblem(context, person, fields.present));
    if (wrong !== null) return refuse(visit, [wrong]);
    await removePasskey(context, person, fields.passkey);
    return visit.goTo('/account?done=no-passkey');
  },
});

const makeToken = form({
  path: '/account/tokens',
  rule,
  body: z.object({ label: text, scope: text, days: text, present: text, reach: text, sources: several }),
  async act(visit) {
    const { context, fields, by } = visit;
    const { label, scope, days, present, reach, sources } = fields;
    const person = await ownAccount(visit);
    const wrong = await notTooMany(() => presentPasswordProblem(context, person, present));
    if (wrong !== null) return refuse(visit, [wrong]);
    if (!isTokenScope(scope)) throw new CodedError('invalid_request');
    const input = { label, scope, sources: reach === 'some' ? [...sources] : null, days: Number(days) };
    const made = await createApiToken(context, person, input, by);
    return made.outcome === 'refused'
      ? refuse(visit, made.problems)
      : account.again(visit, { fields: {}, said: { secret: made.secret, form: {} }, status: 200 });
  },
});

const revokeToken = form({
  path: '/account/tokens/revoke',
  rule,
  body: z.object({ token: text }),
  async act(visit) {
    const person = await ownAccount(visit);
    if (!(await revokeApiToken(visit.context, person, visit.fields.token, visit.by)))
      return refuse(visit, ['This token was revoked already, or has expired.']);
    return visit.goTo('/account?done=no-token');
  },
});

/** Sets up an authenticator app, with a new key until a code proves that the app has it; then the recovery codes. */
const secondFactor = page({
  path: '/account/second-factor',
  rule,
  async load(visit, { proposal, recoveryCodes }: Said<{ proposal: Proposal; recoveryCodes: readonly string[] }>) {
    if (recoveryCodes !== undefined) return { codes: recoveryCodes };
    const shown =
      proposal ?? proposeSecondFactor((await ownAccount(visit)).email, issuerName(visit.context.config.adminUrl));
    if (shown === null) throw new CodedError('invalid_request');
    return { proposal: shown };
  },
  show: (data, { frame, said: { problems } }) =>
    data.codes === undefined ? (
      <SecondFactorPage frame={frame} proposal={data.proposal} problems={problems} />
    ) : (
      <RecoveryCodesPage frame={frame} codes={data.codes} />
    ),
});

const setUpSecondFactor = form({
  path: '/account/second-factor',
  rule,
  body: z.object({ secret: text, code: text, present: text }),
  async act(visit) {
    const { context, fields } = visit;
    const { secret, code, present } = fields;
    const person = await ownAccount(visit);
    const proposal = proposeSecondFactor(person.email, issuerName(context.config.adminUrl), secret);
    if (proposal === null) throw new CodedError('invalid_request');
    const again = (problem: string) =>
      secondFactor.again(visit, { fields: {}, said: { problems: [problem], proposal, form: {} } });
    const wrong = await notTooMany(() => presentPasswordProblem(context, person, present));
    if (wrong !== null) return again(wrong);
    const set = await setSecondFactor(context, person, secret, code);
    if (set.outcome === 'refused') return again(set.problem);
    const { recoveryCodes } = set;
    return secondFactor.again(visit, { fields: {}, said: { recoveryCodes, form: {} }, status: 200 });
  },
});

const removeFactor = form({
  path: '/account/second-factor/remove',
  rule,
  body: z.object({ present: text }),
  async act(visit) {
    const { context, fields } = visit;
    const person = await ownAccount(visit);
    const wrong = await notTooMany(() => presentPasswordProblem(context, person, fields.present));
    if (wrong !== null) return refuse(visit, [wrong]);
    await removeSecondFactor(context, person);
    return visit.goTo('/account?done=no-factor');
  },
});

export const routes = [
  ...[account, password, newAddress, addressLink, confirmAddress, endSession, makePasskey, forgetPasskey],
  ...[makeToken, revokeToken, secondFactor, setUpSecondFactor, removeFactor],
];

/** What a form leaves to show once. */
interface Shown {
  /** A new token. */
  readonly secret: string;
  /** The new address as typed, if it was refused. */
  readonly newAddress: string;
}

async function ownAccount({ context, by: { personId } }: Pick<Visit<'store'>, 'context' | 'by'>): Promise<Person> {
  const person = personId === null ? null : await findPerson(context, personId);
  if (person === null)
    throw new CodedError('invalid_request', 'You are signed in by a one-time link, without an account.');
  return person;
}

/** The page again, with what was wrong; of what was typed, only `shown`. */
function refuse(visit: Visit<Parts>, problems: readonly string[], shown: Partial<Shown> = {}) {
  return account.again(visit, { fields: {}, said: { ...shown, problems, form: {} } });
}

type OpenSession = Awaited<ReturnType<typeof listSessions>>[number];

interface AccountProps extends Partial<Shown> {
  readonly frame: PageFrame;
  readonly person: Person;
  readonly sessions: readonly OpenSession[];
  readonly tokens: readonly ApiToken[];
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  /** Number of recovery codes left. */
  readonly codes: number;
  readonly passkeys: Awaited<ReturnType<typeof listPasskeys>>;
  /** Options for creating a passkey in the browser; null if passkeys are not possible. */
  readonly creation: object | null;
  /** Whether a mail server is set up, so that a new address can be confirmed. */
  readonly hasMail: boolean;
  /** Handle of the viewing session. */
  readonly handle: string;
  readonly problems: readonly string[];
  readonly done: string | null;
}

function AccountPage(props: AccountProps) {
  const { frame, person, creation, problems, done } = props;
  return (
    <Page
      title="Your account"
      frame={frame}
      current="account"
      {...(creation === null ? {} : { script: passkeyScriptPath })}
    >
      <h1>Your account</h1>
      <p class="lead">{person.name}</p>
      <Done text={done} />
      <Problems title="This was not saved:" problems={problems} />
      <Panel id="rights" title="Who you are">
        <Facts
          rows={[
            ['E-mail', person.email],
            ['Role', roleTexts[person.role]],
            ['Sources', reachText(person.sources?.map(frame.sourceName) ?? null)],
            ['In the ledger', `${person.name} (${person.personId})`],
          ]}
        />
        <AddressForm {...props} />
      </Panel>
      <div class="columns halves">
        <PasswordPanel {...props} />
        <SecondFactorPanel {...props} />
      </div>
      <PasskeyPanel {...props} />
      <TokenPanel {...props} />
      <SessionsPanel {...props} />
    </Page>
  );
}

function AddressForm({ frame, person, hasMail, newAddress = '' }: AccountProps) {
  return (
    <details class="more" open={newAddress !== ''}>
      <summary>Change the e-mail address</summary>
      {hasMail || can(person.role, 'administer') ? (
        <PostForm frame={frame} action="/account/address">
          <Input
            id="email"
            label="New e-mail address"
            type="email"
            maxLength={254}
            value={newAddress}
            autocomplete="off"
            hint={
              hasMail
                ? 'A link is sent there. Open it and confirm to change the address.'
                : 'No mail server is set up, so the address is not checked: you sign in with it from now on.'
            }
          />
          <PresentPassword id="present-address" />
          <button type="submit">{hasMail ? 'Send the link' : 'Change the address'}</button>
          <p class="hint">
            {hasMail
              ? 'Your other sessions will then end, and the old address will be notified.'
              : 'Your other sessions end.'}
          </p>
        </PostForm>
      ) : (
        <p>No mail server is set up here to confirm a new address: ask an owner or admin to change it.</p>
      )}
    </details>
  );
}

/** Behind the link that was sent to a new address. */
function NewAddressPage({
  frame,
  person,
  address,
  token,
}: {
  frame: PageFrame;
  person: Person;
  address: string;
  token: string;
}) {
  return (
    <Page title="Confirm your new e-mail address" frame={frame} current="account">
      <h1>Confirm your new e-mail address</h1>
      <Panel id="new-address" title="Confirm the change">
        <Facts
          rows={[
            ['Now', person.email],
            ['New', address],
          ]}
        />
        <PostForm frame={frame} class="more" action="/account/address/confirm">
          <input type="hidden" name="token" value={token} />
          <button type="submit">Change the address</button>
          <p class="hint">Your other sessions will end, and the old address will be notified.</p>
        </PostForm>
      </Panel>
    </Page>
  );
}

function PasswordPanel({ frame, tokens }: AccountProps) {
  const listed = tokens.map(({ label, tokenId }) => `${label} (${tokenId})`).join(', ');
  return (
    <Panel id="change-password" title="Password">
      <PostForm frame={frame} action="/account/password">
        <PresentPassword />
        <NewPassword />
        <label class="box">
          <input type="checkbox" name="keep" value="yes" /> Keep my API tokens and the address of my calendar
        </label>
        <button type="submit">Change the password</button>
        <p class="hint">
          Your other sessions will end. Unless you keep them, so will{' '}
          {tokens.length === 0 ? (
            'API tokens (you have none)'
          ) : (
            <>
              your API tokens, <bdi>{listed}</bdi>,
            </>
          )}{' '}
          and the address of your calendar: someone who knew the old password may have made or copied them. Passkeys
          stay: remove any that you do not recognise.
        </p>
      </PostForm>
    </Panel>
  );
}

function SecondFactorPanel({ frame, person, codes }: AccountProps) {
  return (
    <Panel id="second-factor" title="One-time code">
      {person.hasSecondFactor ? (
        <>
          <p>
            An authenticator app is set up. {codes} recovery {codes === 1 ? 'code is' : 'codes are'} left.
          </p>
          <div class="buttons">
            <a class="button quiet" href="/account/second-factor">
              Set it up again
            </a>
          </div>
          <details>
            <summary>Stop asking for a code</summary>
            <PostForm frame={frame} action="/account/second-factor/remove">
              <PresentPassword id="present-remove" />
              <button class="quiet" type="submit">
                Remove the authenticator app
              </button>
            </PostForm>
          </details>
        </>
      ) : (
        <>
          <p>With an authenticator app on your phone, a stolen password alone is useless.</p>
          <p>
            <a class="button" href="/account/second-factor">
              Set up an authenticator app
            </a>
          </p>
        </>
      )}
    </Panel>
  );
}

function SessionsPanel({ frame, sessions, handle }: AccountProps) {
  const columns: readonly Column<OpenSession>[] = [
    { title: 'Browser', cell: ({ browser }) => browser },
    { title: 'Signed in by', cell: ({ way }) => way },
    { title: 'Last used', cell: ({ usedAt }) => <Moment iso={usedAt} timeZone={frame.timeZone} /> },
    { title: 'Since', cell: ({ openedAt }) => <Moment iso={openedAt} timeZone={frame.timeZone} /> },
    { title: 'Until', cell: ({ endsAt }) => <Moment iso={endsAt} timeZone={frame.timeZone} /> },
    {
      title: 'End it',
      cell: (session) =>
        session.handle === handle ? (
          <span class="soft">this one</span>
        ) : (
          <PostForm frame={frame} action="/account/sessions">
            <input type="hidden" name="session" value={session.handle} />
            <button class="quiet slim" type="submit">
              End
            </button>
          </PostForm>
        ),
    },
  ];
  return (
    <Panel id="sessions" title="Open sessions">
      <Table
        caption="A session ends after an hour without use, and a day after it was opened at the latest."
        columns={columns}
        rows={sessions}
      />
    </Panel>
  );
}

/** Passkeys: the only part of this page that needs a script. */
function PasskeyPanel({ frame, passkeys, creation }: AccountProps) {
  return (
    <Panel id="passkeys" title="Passkeys">
      {passkeys.length === 0 ? <p>None yet. A passkey signs you in without password and code.</p> : null}
      {passkeys.map(({ id, label, createdAt }, place) => (
        <details key={id}>
          <summary>
            {label}, since <Moment iso={createdAt} timeZone={frame.timeZone} />
          </summary>
          <PostForm frame={frame} action="/account/passkeys/remove">
            <input type="hidden" name="passkey" value={id} />
            <PresentPassword id={`present-remove-${place}`} />
            <button class="quiet" type="submit">
              Remove this passkey
            </button>
          </PostForm>
        </details>
      ))}
      {creation === null ? (
        <p class="small soft">Passkeys need a host name: open these pages by host name, not by IP address.</p>
      ) : (
        <PostForm
          frame={frame}
          action="/account/passkeys"
          hidden
          data-passkey="create"
          data-options={JSON.stringify(creation)}
        >
          <input type="hidden" name="response" />
          {passkeys.length === 0 ? null : <h3>Add another</h3>}
          <PresentPassword id="present-passkey" />
          <button type="submit">Set up a passkey</button> <span role="status" />
        </PostForm>
      )}
    </Panel>
  );
}

/** Tokens that let other programs read and work in the person's name. */
function TokenPanel({ frame, person, tokens, sources, secret }: AccountProps) {
  const columns: readonly Column<ApiToken>[] = [
    {
      title: 'For',
      cell: ({ label, tokenId }) => (
        <>
          <bdi>{label}</bdi> <span class="soft small mono">{tokenId}</span>
        </>
      ),
    },
    { title: 'May', cell: ({ scope }) => scopeTexts[scope] },
    { title: 'Sources', cell: (token) => reachText((token.sources ?? person.sources)?.map(frame.sourceName) ?? null) },
    {
      title: 'Last used',
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span class="soft">never</span> : <Moment iso={lastUsedAt} timeZone={frame.timeZone} />,
    },
    { title: 'Until', cell: ({ expiresAt }) => <Moment iso={expiresAt} timeZone={frame.timeZone} /> },
    {
      title: 'Revoke it',
      cell: ({ tokenId, label }) => (
        <PostForm frame={frame} action="/account/tokens/revoke">
          <input type="hidden" name="token" value={tokenId} />
          <button class="quiet slim" type="submit" aria-label={`Revoke the token for ${label}`}>
            Revoke
          </button>
        </PostForm>
      ),
    },
  ];
  const visible = person.sources === null ? sources : sources.filter(({ slug }) => person.sources?.includes(slug));
  return (
    <Panel id="tokens" title="API tokens">
      <p class="small">
        With a token, another program uses the <a href="/api">API</a> in your name. It can never do more than you, and
        everything it does is recorded with its id.
      </p>
      {secret === undefined ? null : (
        <Notice tone="good">
          <p>This is the token. It is shown only once: store it where the program can read it.</p>
          <p class="mono">{secret}</p>
        </Notice>
      )}
      {tokens.length === 0 ? <p>None yet.</p> : <Table caption={null} columns={columns} rows={tokens} />}
      <details>
        <summary>Create a token</summary>
        <PostForm frame={frame} action="/account/tokens">
          <div class="pair">
            <Input id="token-label" name="label" label="What it is for" maxLength={100} autocomplete="off" />
            <Choice
              id="token-scope"
              name="scope"
              label="What it may do"
              value="read"
              options={tokenScopes
                .filter((scope) => scope === 'read' || can(person.role, scope))
                .map((scope) => [scope, scopeTexts[scope]] as const)}
            />
            <Choice
              id="token-days"
              name="days"
              label="How long"
              value={String(TOKEN_DAYS)}
              options={[7, 30, TOKEN_DAYS, 180, 365].map((days) => [String(days), `${days} days`] as const)}
            />
            {visible.length < 2 ? null : (
              <Field id="token-reach" label="Sources">
                <select id="token-reach" name="reach">
                  <option value="all">everything that you can see</option>
                  <option value="some">only those ticked below</option>
                </select>
                <div class="boxes">
                  {visible.map(({ slug, name }) => (
                    <label class="box" key={slug}>
                      <input type="checkbox" name="sources" value={slug} /> {name}
                    </label>
                  ))}
                </div>
              </Field>
            )}
          </div>
          <PresentPassword id="present-token" />
          <button type="submit">Create the token</button>
        </PostForm>
      </details>
    </Panel>
  );
}

const scopeTexts: Readonly<Record<TokenScope, string>> = {
  read: 'view and download',
  work: 'also handle requests and make documents',
  administer: 'also rotate the signing secrets of sources and read earlier deliveries again',
};

function NoAccountPage({ frame }: { frame: PageFrame }) {
  return (
    <Page title="Your account" frame={frame} current="account">
      <h1>Your account</h1>
      <Notice tone="warn">
        <p>
          You are signed in as {frame.officer} by a one-time link, with the rights of an owner and without an account.
          To sign in again without a shell, <a href="/people">invite yourself</a>.
        </p>
      </Notice>
    </Page>
  );
}

interface SecondFactorProps {
  readonly frame: PageFrame;
  readonly proposal: Proposal;
  readonly problems: readonly string[];
}

/** The key as a picture and as text, and a field for the first code, which proves that the app has it. */
function SecondFactorPage({ frame, proposal: { secret, address }, problems }: SecondFactorProps) {
  const picture = `data:image/svg+xml;base64,${Buffer.from(renderSVG(address, { border: 2 })).toString('base64')}`;
  return (
    <Page title="Set up an authenticator app" frame={frame} current="account">
      <p class="small">
        <a href="/account">← Your account</a>
      </p>
      <h1>Set up an authenticator app</h1>
      <Problems title="This was not saved:" problems={problems} />
      <Panel id="key" title="1. Give the key to the app">
        <p>Scan the picture with the app, or type the key into it.</p>
        <img class="code" src={picture} alt="QR code with the key below" width="200" height="200" />
        <p class="mono">{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</p>
      </Panel>
      <Panel id="proof" title="2. Enter the code that it shows">
        <PostForm frame={frame} action="/account/second-factor">
          <input type="hidden" name="secret" value={secret} />
          <Input id="code" label="Code" maxLength={10} inputMode="numeric" autocomplete="one-time-code" />
          <PresentPassword />
          <button type="submit">Finish</button>
        </PostForm>
      </Panel>
    </Page>
  );
}

function RecoveryCodesPage({ frame, codes }: { frame: PageFrame; codes: readonly string[] }) {
  return (
    <Page title="Recovery codes" frame={frame} current="account">
      <h1>Keep these recovery codes</h1>
      <p class="lead">From now on you are asked for a code when you sign in.</p>
      <Panel id="codes" title="Recovery codes">
        <p>
          Each replaces one code from the app if you lose your phone. They are shown only once: print them or put them
          in a password manager.
        </p>
        <ul class="plain mono">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <p>
          <a class="button" href="/account">
            I have saved them
          </a>
        </p>
      </Panel>
    </Page>
  );
}
