import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** The claims of an account at the provider. */
export interface ProvidedAccount {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
}

/** An OpenID Connect provider (the certified `oidc-provider`) on a free loopback port, where any password is accepted. */
export async function startSignOnProvider(options: {
  readonly redirectUri: string;
  /** By the name used to sign in. */
  readonly accounts: Readonly<Record<string, ProvidedAccount>>;
}) {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'ledger',
        client_secret: 'a-secret-of-the-client-0123456789',
        redirect_uris: [options.redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a-key-of-the-provider'] },
    findAccount: (_context, name) => {
      const account = options.accounts[name];
      return account && { accountId: name, claims: () => ({ ...account }) };
    },
  });
  provider.on('server_error', (_context, error) => console.error(error));
  const answer = provider.callback();
  listener.on('request', (request, response) => void answer(request, response));
  return {
    issuer,
    /**
     * Follows an address from the program like a browser whose user signs in and agrees, until it leads back. Resolves
     * with that address.
     */
    async signIn(address: string, name: string): Promise<string> {
      const cookies = new Map<string, string>();
      let next: { url: string; body?: URLSearchParams } = { url: address };
      for (let step = 0; step < 12; step += 1) {
        if (next.url.startsWith(options.redirectUri)) return next.url;
        const response = await fetch(next.url, {
          redirect: 'manual',
          headers: { cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join('; ') },
          ...(next.body === undefined ? {} : { method: 'POST', body: next.body }),
        });
        for (const cookie of response.headers.getSetCookie()) {
          const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
          if (value === '') cookies.delete(key);
          else cookies.set(key, value);
        }
        const location = response.headers.get('location');
        const text = await response.text();
        if (location !== null) {
          next = { url: new URL(location, next.url).href };
          continue;
        }
        const [, action] = /<form[^>]* action="([^"]+)"/.exec(text) ?? [];
        const [, prompt] = /name="prompt" value="([^"]+)"/.exec(text) ?? [];
        if (action === undefined || prompt === undefined) throw new Error(`${response.status}: ${text.slice(0, 300)}`);
        const body = new URLSearchParams(prompt === 'login' ? { prompt, login: name, password: 'any' } : { prompt });
        next = { url: new URL(action, next.url).href, body };
      }
      throw new Error('it does not lead back');
    },
    close: () =>
      new Promise<void>((resolve) => {
        listener.closeAllConnections();
        listener.close(() => resolve());
      }),
  };
}
