import { PASSWORD_MAX, PASSWORD_MIN } from '../../../people/passwords.ts';
import type { Person } from '../../../people/people.ts';
import { Csrf, Page } from '../parts/layout.tsx';
import { Done, Input, Notice, Problems } from '../parts/parts.tsx';
import { passkeyScriptPath } from '../parts/passkey-script.ts';

interface SignInProps {
  readonly csrf: string;
  /** Where to continue afterwards. */
  readonly next: string;
  readonly email?: string;
  readonly problem?: string | null;
  /** Why a form that was just sent did nothing. */
  readonly unsent?: string | null;
  readonly done?: string | null;
  /** The name of single sign-on; null: not configured. */
  readonly signOn: string | null;
  /** There are no accounts yet. */
  readonly isEmpty: boolean;
  /** Options for signing in with a passkey; null if passkeys are not possible. */
  readonly passkey: object | null;
}

/** Signing in with an account. */
export function SignInPage({
  csrf,
  next,
  email = '',
  problem = null,
  unsent = null,
  done = null,
  signOn,
  isEmpty,
  passkey,
}: SignInProps) {
  return (
    <Page title="Sign in" frame={null} {...(passkey === null ? {} : { script: passkeyScriptPath })}>
      <div class="panel narrow">
        <h1>Please sign in</h1>
        <Done text={done} />
        {isEmpty ? (
          <Notice tone="calm">
            <p>
              There are no accounts yet. Open the set-up link that the server printed at start; for another one, run{' '}
              <span class="mono">consent-ledger people set-up</span>.
            </p>
          </Notice>
        ) : null}
        {unsent === null ? null : (
          <Notice tone="warn">
            <p>{unsent}</p>
          </Notice>
        )}
        <Problems title="You were not signed in:" problems={problem === null ? [] : [problem]} />
        <form method="post" action="/sign-in">
          <Csrf token={csrf} />
          <input type="hidden" name="next" value={next} />
          <Input id="email" label="E-mail" type="email" maxLength={254} value={email} autocomplete="username" />
          <Input
            id="password"
            label="Password"
            type="password"
            maxLength={PASSWORD_MAX * 4}
            autocomplete="current-password"
          />
          <Input
            id="code"
            label="One-time code"
            optional
            maxLength={20}
            autocomplete="one-time-code"
            spellcheck={false}
            hint="Only if you have set up an authenticator app. A recovery code works too."
          />
          <button type="submit">Sign in</button>
        </form>
        {passkey === null ? null : (
          <form
            class="buttons"
            method="post"
            action="/sign-in/passkey"
            hidden
            data-passkey="get"
            data-options={JSON.stringify(passkey)}
          >
            <Csrf token={csrf} />
            <input type="hidden" name="next" value={next} />
            <input type="hidden" name="response" />
            <button class="quiet" type="submit">
              Sign in with a passkey
            </button>
            <span role="status" />
          </form>
        )}
        {signOn === null ? null : (
          // A link instead of a form, which may only lead to this site (CSP form-action).
          <p class="buttons">
            <a class="button quiet" href={`/sign-in/sso?next=${encodeURIComponent(next)}`}>
              Sign in with {signOn}
            </a>
          </p>
        )}
        <p class="hint">Forgotten your password? Ask an owner or admin for a reset link.</p>
      </div>
    </Page>
  );
}

/** The page behind a one-time sign-in link. Opening it does not use it up, so a mail program's preview does not either. */
export function LinkPage({ officer, token, csrf }: { officer: string; token: string; csrf: string }) {
  return (
    <Page title="Sign in" frame={null}>
      <div class="panel narrow">
        <h1>Sign in</h1>
        <p>This link signs you in as {officer}, without an account and with the rights of an owner. It works once.</p>
        <form method="post" action="/sign-in">
          <Csrf token={csrf} />
          <input type="hidden" name="token" value={token} />
          <button type="submit">Sign in as {officer}</button>
        </form>
      </div>
    </Page>
  );
}

interface JoinProps {
  readonly csrf: string;
  readonly token: string;
  readonly purpose: 'set-up' | 'invitation' | 'reset';
  /** Null: the first account is being created. */
  readonly person: Person | null;
  readonly form?: Readonly<Record<string, string>>;
  readonly problems?: readonly string[];
}

const joinTitles = {
  'set-up': 'Set up consent-ledger',
  invitation: 'Welcome to consent-ledger',
  reset: 'Choose a new password',
} as const;

/** The page behind a set-up, invitation or reset link, for choosing a password. */
export function JoinPage({ csrf, token, purpose, person, form = {}, problems = [] }: JoinProps) {
  return (
    <Page title={joinTitles[purpose]} frame={null}>
      <div class="panel narrow">
        <h1>{joinTitles[purpose]}</h1>
        {person === null ? (
          <p>Create the first account. It is an owner: it sees everything and can invite others.</p>
        ) : (
          <p>
            For {person.name}, who signs in as <span class="outside">{person.email}</span>.
            {purpose === 'reset'
              ? ' All open sessions, API tokens and passkeys of this account will end, and its calendar gets a new address.'
              : ''}
          </p>
        )}
        <Problems title="This was not saved:" problems={problems} />
        <form method="post" action="/join">
          <Csrf token={csrf} />
          <input type="hidden" name="token" value={token} />
          {person === null ? (
            <>
              <Input id="name" label="Name" maxLength={100} value={form['name'] ?? ''} autocomplete="name" />
              <Input
                id="email"
                label="E-mail"
                type="email"
                maxLength={254}
                value={form['email'] ?? ''}
                autocomplete="username"
                hint="You sign in with it, and notifications go to it if mail is set up. It is not checked now."
              />
            </>
          ) : (
            // For password managers, which store a password under a user name.
            <input type="hidden" name="username" value={person.email} autocomplete="username" />
          )}
          <NewPassword />
          <button type="submit">{purpose === 'reset' ? 'Save the password' : 'Create the account'}</button>
        </form>
      </div>
    </Page>
  );
}

/** The field for a new password. */
export function NewPassword() {
  return (
    <Input
      id="password"
      label="New password"
      type="password"
      minLength={PASSWORD_MIN}
      maxLength={PASSWORD_MAX}
      autocomplete="new-password"
      hint={`At least ${PASSWORD_MIN} characters, for example four or five unrelated words. Spaces and any characters are fine; you can paste it from a password manager.`}
    />
  );
}

/** After signing out. */
export function SignedOutPage() {
  return (
    <Page title="Signed out" frame={null}>
      <div class="panel narrow">
        <h1>Signed out</h1>
        <p>
          <a href="/sign-in">Sign in again</a>
        </p>
      </div>
    </Page>
  );
}
