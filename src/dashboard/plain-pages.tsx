import { Csrf, Page, type PageFrame } from './layout.tsx';

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
          To come back, ask the operator for a new link: <span class="mono">consent-ledger token create</span>
        </p>
      </div>
    </Page>
  );
}

/** What went wrong and what to do about it. */
export function ErrorPage({ title, sentences, frame = null }: { title: string; sentences: readonly string[]; frame?: PageFrame | null }) {
  return (
    <Page title={title} frame={frame}>
      <div class="panel narrow">
        <h1>{title}</h1>
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {frame === null ? null : (
          <p>
            <a href="/">To Today</a>
          </p>
        )}
      </div>
    </Page>
  );
}
