import { Csrf, Page } from './layout.tsx';

/** The page behind a one-time link. Opening it uses nothing up, so that a mail program's preview does not either. */
export function SignInPage({ officer, token, csrf }: { officer: string; token: string; csrf: string }) {
  return (
    <Page title="Sign in" frame={null}>
      <div class="panel narrow">
        <h1>Sign in</h1>
        <p>This link signs you in as {officer}. It works once.</p>
        <form method="post" action="/sign-in">
          <Csrf token={csrf} />
          <input type="hidden" name="token" value={token} />
          <button type="submit">Sign in as {officer}</button>
        </form>
      </div>
    </Page>
  );
}

/** After signing out. */
export function SignedOutPage() {
  return (
    <Page title="Signed out" frame={null}>
      <div class="panel narrow">
        <h1>Signed out</h1>
        <p>
          To sign in again, ask the operator for a new link: <span class="mono">consent-ledger token create</span>
        </p>
      </div>
    </Page>
  );
}

/** What went wrong and what to do about it. `home`: a way back for who is signed in. */
export function ErrorPage({
  title,
  sentences,
  home = false,
}: {
  title: string;
  sentences: readonly string[];
  home?: boolean;
}) {
  return (
    <Page title={title} frame={null}>
      <div class="panel narrow">
        <h1>{title}</h1>
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {home ? (
          <p>
            <a href="/">To Today</a>
          </p>
        ) : null}
      </div>
    </Page>
  );
}
