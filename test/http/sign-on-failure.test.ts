import { expect, test } from 'vitest';
import { explainSignOn } from '../../src/http/auth/sign-on-failure.ts';

const TOKEN = 'eyJhbGciOi.hush.hush';
const failing = (message: string, more: object = {}) => Object.assign(new Error(message), more);

test('the words of the provider come first: a mistyped secret, an unassigned user', () => {
  const secret = failing('server responded with an error in the response body', {
    ...{ code: 'OAUTH_RESPONSE_BODY_ERROR', error: 'invalid_client', status: 401 },
    error_description: 'AADSTS7000215: Invalid client secret provided.\nTrace ID: 1',
    cause: { error: 'invalid_client', access_token: TOKEN },
  });
  expect(explainSignOn(secret, 'Entra ID')).toEqual({
    reason: 'server responded with an error in the response body',
    error: 'invalid_client',
    description: expect.stringContaining('AADSTS7000215: Invalid client secret provided.') as string,
    words: expect.stringMatching(
      /^AADSTS7000215: Invalid client secret provided\..*Trace ID: 1 \(invalid_client\)$/,
    ) as string,
  });
  expect(explainSignOn(failing('x', { error: 'access_denied' }), 'Okta').words).toBe('(access_denied)');
});

test('a clock that differs is named as such', () => {
  const now = 1_790_000_400;
  const inner = failing('unexpected JWT "exp" (expiration time) claim value', {
    code: 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
    cause: { claims: { iat: now - 4000, exp: now - 400, at_hash: TOKEN }, now, tolerance: 30, claim: 'exp' },
  });
  const outer = failing('invalid response encountered', { code: 'OAUTH_INVALID_RESPONSE', cause: inner });
  for (const error of [inner, outer])
    expect(explainSignOn(error, 'Okta').words).toBe(
      'the clocks of this server and of Okta differ by 4000 s: enable NTP on this server',
    );
});

test('causes are named with their codes, and nothing else of them', () => {
  const refused = failing('connect ECONNREFUSED 127.0.0.1:9', { code: 'ECONNREFUSED', token: TOKEN });
  const found = explainSignOn(
    failing('something went wrong', { cause: failing('fetch failed', { cause: refused }) }),
    'x',
  );
  expect(found.words).toBe('something went wrong: fetch failed: connect ECONNREFUSED 127.0.0.1:9 ECONNREFUSED');
  for (const thrown of [undefined, null, 'text', { error: 7 }, failing('', { cause: { id_token: TOKEN } })])
    expect(JSON.stringify(explainSignOn(thrown, 'x'))).not.toContain('hush');
});
