import type { FastifyInstance, FastifyReply } from 'fastify';
import { renderSVG } from 'uqr';
import type { Context } from '../../../context.ts';
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
import {
  changePassword,
  findPerson,
  type Person,
  presentPasswordProblem,
  revokeSession,
} from '../../../people/people.ts';
import {
  countRecoveryCodes,
  proposeSecondFactor,
  type Proposal,
  removeSecondFactor,
  setSecondFactor,
} from '../../../people/second-factor.ts';
import { listSessions } from '../../../people/sessions.ts';
import { sourcesOf } from '../../auth/access.ts';
import { browserOf, notTooMany, officerOf } from '../../auth/sessions.ts';
import { addPasskey, listPasskeys, passkeyCreation, removePasskey } from '../../../people/passkeys.ts';
import { type Exchange, formOf, html, pageFrame } from '../parts/page-frame.ts';
import { allowScript, passkeyAnswer, passkeyScriptPath, passkeyOriginOf } from '../parts/passkey-script.ts';
import { Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
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
import { NewPassword } from '../sign-in/sign-in-view.tsx';
import { reachText, roleTexts } from '../parts/words.ts';

const doneTexts: Readonly<Record<string, string>> = {
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
};

/** A person's own account: password, second factor, sessions. */
export async function accountRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/account', (request, reply) => showAccount({ context, request, reply }));
  app.post('/account/password', (request, reply) => changeOwnPassword({ context, request, reply }));
  app.post('/account/address', (request, reply) => askForAddress({ context, request, reply }));
  app.get('/account/address', (request, reply) => showNewAddress({ context, request, reply }));
  app.post('/account/address/confirm', (request, reply) => confirmAddress({ context, request, reply }));
  app.post('/account/sessions', (request, reply) => endSession({ context, request, reply }));
  app.post('/account/passkeys', (request, reply) => makePasskey({ context, request, reply }));
  app.post('/account/passkeys/remove', (request, reply) => forgetPasskey({ context, request, reply }));
  app.post('/account/tokens', (request, reply) => makeToken({ context, request, reply }));
  app.post('/account/tokens/revoke', (request, reply) => revokeToken({ context, request, reply }));
  app.get('/account/second-factor', (request, reply) => showSecondFactor({ context, request, reply }));
  app.post('/account/second-factor', (request, reply) => setUpSecondFactor({ context, request, reply }));
  app.post('/account/second-factor/remove', (request, reply) => stopSecondFactor({ context, request, reply }));
}

async function showAccount(exchange: Exchange): Promise<FastifyReply> {
  const { request } = exchange;
  const { done = '' } = formOf(request.query);
  return sendAccount(exchange, { done: doneTexts[done] ?? null });
}

async function changeOwnPassword(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const { personId } = await ownAccount(exchange);
  const { present = '', password = '', keep } = formOf(request.body);
  const { handle } = officerOf(request);
  const keepsTokens = keep === 'yes';
  const changed = await notTooMany(() =>
    changePassword(context, personId, { present, password }, { handle, keepsTokens }),
  );
  if (changed.outcome === 'refused') return sendAccount(exchange, { problems: changed.problems }, 422);
  return reply.redirect(`/account?done=${keepsTokens ? 'password-only' : 'password'}`, 303);
}

async function askForAddress(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const person = await ownAccount(exchange);
  const { email = '', present = '' } = formOf(request.body);
  const { handle } = officerOf(request);
  const confirmUrl = (token: string) => `${request.protocol}://${request.host}/account/address?token=${token}`;
  const asked = await notTooMany(() => changeOwnAddress(context, person, { email, present }, { confirmUrl, handle }));
  if (asked.outcome === 'refused') return sendAccount(exchange, { problems: asked.problems, newAddress: email }, 422);
  return reply.redirect(`/account?done=${asked.outcome === 'sent' ? 'sent' : 'address'}`, 303);
}

const OTHER_ADDRESS_LINK =
  'This link is unknown, has already been used or has expired, or belongs to a different account from the one you are signed in with. Request a new one under Your account.';

/** The page behind the link in the mail. Opening it changes nothing; the button does. */
async function showNewAddress(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const person = await ownAccount(exchange);
  const { token = '' } = formOf(request.query);
  const address = await findNewAddress(context, person, token);
  if (address === null) throw new CodedError('not_found', OTHER_ADDRESS_LINK);
  const props = { frame: pageFrame(context, request, reply), person, address, token };
  return html(reply, renderPage(<NewAddressPage {...props} />));
}

async function confirmAddress(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const person = await ownAccount(exchange);
  const { token = '' } = formOf(request.body);
  const confirmed = await confirmNewAddress(context, person, token, officerOf(request).handle);
  if (confirmed.outcome === 'refused') return sendAccount(exchange, { problems: confirmed.problems }, 422);
  if (confirmed.outcome === 'gone') throw new CodedError('not_found', OTHER_ADDRESS_LINK);
  return reply.redirect('/account?done=address', 303);
}

async function endSession(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const person = await ownAccount(exchange);
  const { session = '' } = formOf(request.body);
  if (!(await revokeSession(context, person, session)))
    return sendAccount(exchange, { problems: ['This session has already ended.'] }, 422);
  return reply.redirect('/account?done=session', 303);
}

async function makePasskey(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const person = await ownAccount(exchange);
  const { response = '', present = '' } = formOf(request.body);
  const place = passkeyOriginOf(request);
  if (place === null) throw new CodedError('invalid_request');
  const wrong =
    (await notTooMany(() => presentPasswordProblem(context, person, present))) ??
    (await addPasskey(context, person, passkeyAnswer(response), officerOf(request).handle, place, browserOf(request)));
  if (wrong !== null) return sendAccount(exchange, { problems: [wrong] }, 422);
  return reply.redirect('/account?done=passkey', 303);
}

async function forgetPasskey(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const person = await ownAccount(exchange);
  const { passkey = '', present = '' } = formOf(request.body);
  const wrong = await notTooMany(() => presentPasswordProblem(context, person, present));
  if (wrong !== null) return sendAccount(exchange, { problems: [wrong] }, 422);
  await removePasskey(context, person, passkey);
  return reply.redirect('/account?done=no-passkey', 303);
}

async function makeToken(exchange: Exchange): Promise<FastifyReply> {
  const { context, request } = exchange;
  const person = await ownAccount(exchange);
  const { label = '', scope = '', days = '', present = '' } = formOf(request.body);
  const { reach, sources } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
  const some = [sources].flat().filter((slug): slug is string => typeof slug === 'string');
  const wrong = await notTooMany(() => presentPasswordProblem(context, person, present));
  if (wrong !== null) return sendAccount(exchange, { problems: [wrong] }, 422);
  if (!isTokenScope(scope)) throw new CodedError('invalid_request');
  const input = { label, scope, sources: reach === 'some' ? some : null, days: Number(days) };
  const made = await createApiToken(context, person, input, officerOf(request));
  return made.outcome === 'refused'
    ? sendAccount(exchange, { problems: made.problems }, 422)
    : sendAccount(exchange, { secret: made.secret });
}

async function revokeToken(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const person = await ownAccount(exchange);
  const { token = '' } = formOf(request.body);
  if (!(await revokeApiToken(context, person, token, officerOf(request))))
    return sendAccount(exchange, { problems: ['This token was revoked already, or has expired.'] }, 422);
  return reply.redirect('/account?done=no-token', 303);
}

async function showSecondFactor(exchange: Exchange): Promise<FastifyReply> {
  const { email } = await ownAccount(exchange);
  return sendSecondFactor(exchange, proposeSecondFactor(email));
}

async function setUpSecondFactor(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const person = await ownAccount(exchange);
  const { secret = '', code = '', present = '' } = formOf(request.body);
  const proposal = proposeSecondFactor(person.email, secret);
  if (proposal === null) throw new CodedError('invalid_request');
  const wrong = await notTooMany(() => presentPasswordProblem(context, person, present));
  if (wrong !== null) return sendSecondFactor(exchange, proposal, [wrong], 422);
  const set = await setSecondFactor(context, person, secret, code);
  if (set.outcome === 'refused') return sendSecondFactor(exchange, proposal, [set.problem], 422);
  const props = { frame: pageFrame(context, request, reply), codes: set.recoveryCodes };
  return html(reply, renderPage(<RecoveryCodesPage {...props} />));
}

async function stopSecondFactor(exchange: Exchange): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const person = await ownAccount(exchange);
  const { present = '' } = formOf(request.body);
  const wrong = await notTooMany(() => presentPasswordProblem(context, person, present));
  if (wrong !== null) return sendAccount(exchange, { problems: [wrong] }, 422);
  await removeSecondFactor(context, person);
  return reply.redirect('/account?done=no-factor', 303);
}

async function ownAccount(exchange: Exchange): Promise<Person> {
  const { context, request } = exchange;
  const { personId } = officerOf(request);
  const person = personId === null ? null : await findPerson(context, personId);
  if (person === null)
    throw new CodedError('invalid_request', 'You are signed in by a one-time link, without an account.');
  return person;
}

async function sendAccount(
  exchange: Exchange,
  shown: Pick<AccountProps, 'problems' | 'done' | 'secret' | 'newAddress'>,
  status = 200,
): Promise<FastifyReply> {
  const { context, request, reply } = exchange;
  const { personId, handle } = officerOf(request);
  const person = personId === null ? null : await findPerson(context, personId);
  const frame = pageFrame(context, request, reply);
  if (person === null) return html(reply, renderPage(<NoAccountPage frame={frame} />), status);
  const place = passkeyOriginOf(request);
  const [sessions, tokens, codes, passkeys, creation] = await Promise.all([
    listSessions(context, person.personId),
    listApiTokens(context, person.personId),
    countRecoveryCodes(context, person.personId),
    listPasskeys(context, person.personId),
    place === null ? null : passkeyCreation(context, person, handle, place),
  ]);
  if (creation !== null) allowScript(reply);
  const sources = sourcesOf(context, request).list();
  const hasMail = context.config.mail !== null;
  const props = { frame, person, sessions, tokens, sources, codes, passkeys, creation, handle, hasMail, ...shown };
  return html(reply, renderPage(<AccountPage {...props} />), status);
}

function sendSecondFactor(
  exchange: Exchange,
  proposal: Proposal | null,
  problems: readonly string[] = [],
  status = 200,
): FastifyReply {
  const { context, request, reply } = exchange;
  if (proposal === null) throw new CodedError('invalid_request');
  const props = { frame: pageFrame(context, request, reply), proposal, problems };
  return html(reply, renderPage(<SecondFactorPage {...props} />), status);
}

type OpenSession = Awaited<ReturnType<typeof listSessions>>[number];

interface AccountProps {
  readonly frame: PageFrame;
  readonly person: Person;
  readonly sessions: readonly OpenSession[];
  readonly tokens: readonly ApiToken[];
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  /** A new token. */
  readonly secret?: string;
  /** Number of recovery codes left. */
  readonly codes: number;
  readonly passkeys: Awaited<ReturnType<typeof listPasskeys>>;
  /** Options for creating a passkey in the browser; null if passkeys are not possible. */
  readonly creation: object | null;
  /** Whether a mail server is set up, so that a new address can be confirmed. */
  readonly hasMail: boolean;
  /** The new address as typed, if it was refused. */
  readonly newAddress?: string;
  /** Handle of the viewing session. */
  readonly handle: string;
  readonly problems?: readonly string[];
  readonly done?: string | null;
}

function AccountPage(props: AccountProps) {
  const { frame, person, creation, problems = [], done = null } = props;
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
