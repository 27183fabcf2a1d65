import { asOneLine } from '../../core/validation.ts';

/** Why a sign-in at the provider failed: for the log, and in a clause for the page. Neither contains a token. */
export interface SignOnFailure {
  /** The library's sentence. */
  readonly reason: string;
  /** Error code and description of the provider (RFC 6749 §4.1.2.1, §5.2). */
  readonly error?: string;
  readonly description?: string;
  /** The library's cause, with its code. */
  readonly cause?: string;
  readonly words: string;
}

const CLOCK = 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED';

/**
 * Explains an error of `openid-client`, whose own message is often only `unexpected response`. Of causes, it uses only
 * messages and codes: other properties may contain a token.
 */
export function explainSignOn(thrown: unknown, provider: string): SignOnFailure {
  const reason = sentenceOf(thrown) ?? String(thrown);
  const error = textOf(thrown, 'error');
  const description = textOf(thrown, 'error_description');
  const chain = causesOf(thrown);
  const cause = chain
    .map((one) => [sentenceOf(one), textOf(one, 'code')].filter((part) => part !== undefined).join(' '))
    .filter((text) => text !== '')
    .join(': ');
  const clock = [thrown, ...chain].find((one) => textOf(one, 'code') === CLOCK);
  const words =
    error !== undefined
      ? `${description === undefined ? '' : `${description.replace(/[.\s]+$/, '')} `}(${error})`
      : clock !== undefined
        ? `the clocks of this server and of ${provider} differ${differenceOf(clock)}: enable NTP on this server`
        : cause === ''
          ? reason
          : `${reason}: ${cause}`;
  return {
    reason,
    ...(error === undefined ? {} : { error }),
    ...(description === undefined ? {} : { description }),
    ...(cause === '' ? {} : { cause }),
    words: words.trim(),
  };
}

/** The errors that led to another, at most three. */
function causesOf(thrown: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let one = causeOf(thrown); one instanceof Error && chain.length < 3; one = causeOf(one)) chain.push(one);
  return chain;
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error ? thrown.cause : undefined;
}

function sentenceOf(thrown: unknown): string | undefined {
  return thrown instanceof Error ? asOneLine(thrown.message).slice(0, 300) : undefined;
}

function textOf(thrown: unknown, name: 'code' | 'error' | 'error_description'): string | undefined {
  const value = (thrown as Partial<Record<typeof name, unknown>> | null | undefined)?.[name];
  return typeof value === 'string' && value !== '' ? asOneLine(value).slice(0, 300) : undefined;
}

/** ` by 400 s`, if the library names the time in the token and its own. */
function differenceOf(clock: unknown): string {
  const facts = (clock as { readonly cause?: unknown }).cause as
    | { readonly now?: unknown; readonly claim?: unknown; readonly claims?: Readonly<Record<string, unknown>> }
    | undefined;
  const issued = facts?.claims?.['iat'];
  return typeof facts?.now === 'number' && typeof issued === 'number' ? ` by ${Math.abs(facts.now - issued)} s` : '';
}
