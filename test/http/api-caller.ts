import type { Role, TokenScope } from '../../src/core/roles.ts';
import { createApiToken } from '../../src/people/api-tokens.ts';
import { findPerson } from '../../src/people/people.ts';
import { type OfficeWorld, signedInAs } from './office-world.ts';

/** A program with a token, and the person for whom it acts. */
export interface Caller {
  readonly secret: string;
  readonly tokenId: string;
  readonly personId: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
}
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: Record<string, unknown> & { readonly items?: readonly Record<string, unknown>[] };
  readonly headers: Headers;
}

export function createCaller(adminUrl: string, secret: string | null): Pick<Caller, 'get' | 'post'> {
  const send = async (path: string, init: RequestInit, more: Record<string, string> = {}): Promise<Answer> => {
    const headers = { ...(secret === null ? {} : { authorization: `Bearer ${secret}` }), ...more };
    const response = await fetch(adminUrl + path, { ...init, redirect: 'manual', headers });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const json = (isJson && text !== '' ? JSON.parse(text) : {}) as Answer['json'];
    return { status: response.status, text, json, headers: response.headers };
  };
  return {
    get: (path, headers) => send(path, {}, headers),
    post: (path, body, headers) =>
      send(
        path,
        { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
        { 'content-type': 'application/json', ...headers },
      ),
  };
}

/** A caller with the token of a new person of this role. */
export async function tokenOf(
  world: OfficeWorld,
  role: Role,
  options: {
    readonly scope?: TokenScope;
    readonly sources?: string[] | null;
    readonly tokenSources?: string[] | null;
    readonly name?: string;
  } = {},
): Promise<Caller> {
  const { scope = 'read', sources = null, tokenSources = null, name = `Pat ${role}` } = options;
  const { personId } = await signedInAs(world, role, { sources, name });
  const person = await findPerson(world.context, personId);
  if (person === null) throw new Error('no such person');
  const input = { label: 'a test', scope, sources: tokenSources, days: 30 };
  const made = await createApiToken(world.context, person, input, { officer: 'test' });
  if (made.outcome === 'refused') throw new Error(made.problems.join());
  const { secret, token } = made;
  return { ...createCaller(world.adminUrl, secret), secret, personId, tokenId: token.tokenId };
}
