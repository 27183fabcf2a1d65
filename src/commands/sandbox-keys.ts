import type { Command } from 'commander';
import type { ApiKey } from '../sandbox/keys.ts';
import { type CommandIo, printResult, tableText, withJson } from './command-io.ts';
import { askSandbox, withSandboxUrl } from './sandbox-control.ts';

/** A key as it crosses the controls. */
type Key = Omit<ApiKey, 'lastUsedAt'> & { readonly lastUsedAt: string | null };

interface KeyFlags {
  readonly sandbox: string;
  readonly json?: boolean;
}

/** Adds `sandbox keys` and `sandbox revoke <api-key>`, which the service has in its dashboard (docs/service.md §2.5). */
export function registerSandboxKeys(sandbox: Command, io: CommandIo): void {
  const list = withSandboxUrl(
    sandbox.command('keys').description('list the API keys of a running sandbox and their last use'),
  );
  withJson(list).action(async () => {
    const flags = list.optsWithGlobals<KeyFlags>();
    const result = await askSandbox<{ keys: Key[] }>({ ...flags, path: '/keys' }, io);
    if (result !== null) printResult(io, flags, result, () => keysText(result.keys));
  });
  const revoke = withSandboxUrl(
    sandbox
      .command('revoke')
      .description('revoke an API key of a running sandbox, which then answers 401')
      .argument('<api-key>', 'key from `sandbox keys`'),
  );
  withJson(revoke).action(async (value: string) => {
    const flags = revoke.optsWithGlobals<KeyFlags>();
    const key = await askSandbox<Key>({ ...flags, path: '/keys/revoke', body: { key: value } }, io);
    if (key !== null) printResult(io, flags, key, () => keysText([key]));
  });
}

function keysText(keys: readonly Key[]): string {
  return tableText(
    ['clients', 'scopes', 'state', 'last used', 'key'],
    keys.map(({ clients, scopes, revoked, lastUsedAt, value }) => [
      clients.length > 3 ? `${clients.length} clients` : clients.join(', '),
      scopes.join(', '),
      revoked ? 'revoked' : 'active',
      lastUsedAt ?? 'never',
      value,
    ]),
    'No keys.',
  );
}
