import { onTestFinished } from 'vitest';
import { type Source, sourceOptionsSchema } from '../../src/core/source.ts';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createLog } from '../../src/log/log.ts';
import { createPolicyDeps, type PolicyDeps } from '../../src/policies/callable-source.ts';
import { createProjector } from '../../src/projections/run.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import type { ServiceAnswer } from '../../src/service/api-transport.ts';
import type { Store } from '../../src/store/store.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { temporaryStore, testKeys } from '../temporary.ts';

/** An installation that drives a sandbox; both use one clock, which moves only while a caller waits. */
export interface PolicyWorld {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly deps: PolicyDeps;
  readonly sandbox: Sandbox;
  readonly source: Source;
  now(): Date;
  pass(milliseconds: number): void;
  /** Another process on the same database, with its own ledger and projector. */
  another(): PolicyDeps;
  /** A delivery of the service whose signature was already checked. */
  deliver(body: Record<string, unknown>): Promise<void>;
  /** Meta and body of the `call` entries, in order. */
  entries(): Promise<{ source: string; meta: Record<string, unknown>; body: Buffer }[]>;
  /** How many policies the sandbox has generated for the first client. */
  generated(): number;
}

export async function createPolicyWorld(options: Partial<SandboxOptions> = {}): Promise<PolicyWorld> {
  let time = Date.parse('2026-07-20T12:00:00.000Z');
  const clock = () => new Date(time);
  const sandbox = createSandbox({
    seed: 7,
    clients: 1,
    consentRows: 10,
    clock,
    wait: (ms) => {
      time += ms;
      return Promise.resolve();
    },
    ...options,
  });
  await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const store = await temporaryStore();
  const defaults = sourceOptionsSchema.parse({});

  function createParts(): { ledger: Ledger; deps: PolicyDeps } {
    const ledger = createLedger({ store, keys: testKeys });
    onTestFinished(() => ledger.close());
    const projector = createProjector({
      store,
      optionsUpTo: async () => ({ of: () => defaults, rereadAt: 0 }),
    });
    onTestFinished(() => projector.close());
    const deps = createPolicyDeps({
      destinations: ON_LOOPBACK,
      store,
      ledger,
      clock,
      projector,
      log: createLog('silent'),
    });
    const sleep: PolicyDeps['sleep'] = async (ms) => {
      time += ms;
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { ledger, deps: { ...deps, sleep } };
  }

  const { ledger, deps } = createParts();
  return {
    store,
    ledger,
    deps,
    sandbox,
    source: sourceFor(sandbox, 'default'),
    now: clock,
    pass(milliseconds) {
      time += milliseconds;
    },
    another: () => createParts().deps,
    async deliver(body) {
      const bytes = Buffer.from(JSON.stringify(body));
      const meta = canonicalJson({ verdict: 'verified', secretId: 's1', contentType: 'application/json' });
      await ledger.append([
        {
          source: 'default',
          kind: 'webhook',
          dedupeKey: sha256(bytes),
          receivedAt: clock().toISOString(),
          meta,
          body: bytes,
        },
      ]);
    },
    async entries() {
      const rows = await store.read
        .selectFrom('entries')
        .select(['source', 'meta', 'body'])
        .where('kind', '=', 'call')
        .orderBy('seq')
        .execute();
      return rows.map(({ source, meta, body }) => ({
        source,
        meta: JSON.parse(String(meta)) as Record<string, unknown>,
        body: body ?? Buffer.alloc(0),
      }));
    },
    generated: () => sandbox.worlds[0]?.shelf.used() ?? 0,
  };
}

/** A source with a key of the sandbox's first client. */
export function sourceFor(sandbox: Sandbox, slug: string, more: Partial<Source> = {}): Source {
  const [client] = sandbox.clients;
  return {
    slug,
    name: slug,
    baseUrl: sandbox.baseUrl(),
    siteUrl: sandbox.siteUrl(),
    apiKey: client?.apiKey ?? '',
    siteKey: client?.siteKey ?? '',
    webhookSecrets: [],
    options: sourceOptionsSchema.parse({}),
    ...more,
  };
}

/** Options common to every call of these tests. */
export const patient = { actor: 'test', maxWaitMs: 3_600_000 } as const;
export const impatient = { actor: 'test', maxWaitMs: 0 } as const;

/** A process whose generation requests get this response. */
export function answering(deps: PolicyDeps, generate: () => Promise<ServiceAnswer>): PolicyDeps {
  return { ...deps, clientFor: (source) => ({ ...deps.clientFor(source), generatePolicy: generate }) };
}
