import type { SandboxClient } from './clients.ts';
import { describeDialect } from './dialects.ts';
import type { Fault } from './faults.ts';
import type { LimitValues } from './limits.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts';
import { createStateKeeper, loadState, type StateKeeper } from './state.ts';

export interface StartOptions extends SandboxOptions {
  /** 0: any free port. */
  readonly port?: number;
  readonly host?: string;
  /** Stores what callers and live traffic add across restarts. A file that cannot be used throws a StateFileError. */
  readonly stateFile?: string;
  /**
   * Where deliveries go: `{client}` is replaced by each client's slug; an address that ends in /webhooks gets the slug
   * appended; any other is used unchanged for all clients.
   */
  readonly webhookUrl?: string;
}

/** One line of the start-up table. Values of `secret` lines are useless outside this sandbox. */
export interface StartRow {
  readonly client: string | null;
  readonly what: string;
  readonly value: string;
}

export interface StartedSandbox {
  readonly sandbox: Sandbox;
  readonly baseUrl: string;
  readonly siteUrl: string;
  readonly rows: readonly StartRow[];
}

/** Builds a sandbox, listens, and returns what a receiver needs to follow it. The caller closes `sandbox`. */
export async function startSandbox(options: StartOptions): Promise<StartedSandbox> {
  const { stateFile } = options;
  const before = stateFile === undefined ? null : await loadState(stateFile, options.seed);
  let keeper: StateKeeper | null = null;
  const made = createSandbox({
    ...options,
    ...(before === null ? {} : { state: before }),
    changed: () => keeper?.changed(),
  });
  const sandbox: Sandbox = {
    ...made,
    close: async () => {
      await made.close();
      await keeper?.flush();
    },
  };
  if (options.webhookUrl !== undefined) {
    for (const client of sandbox.clients) client.webhookUrl = webhookUrlFor(options.webhookUrl, client);
  }
  const { baseUrl, siteUrl } = await sandbox.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1' });
  if (stateFile !== undefined) {
    const opened = createStateKeeper(stateFile, sandbox.state);
    // Fails now if the file cannot be written, not later when there is something to lose.
    await opened.flush().catch(async (error: unknown) => {
      await made.close();
      throw error;
    });
    keeper = opened;
  }
  return { sandbox, baseUrl, siteUrl, rows: describeSandbox(sandbox) };
}

/** The start-up table: first the whole sandbox, then each client. */
function describeSandbox(sandbox: Sandbox): StartRow[] {
  const { agency, dialect, settings, window } = sandbox;
  const all = (what: string, value: string): StartRow => ({ client: null, what, value });
  return [
    all('base URL', sandbox.baseUrl()),
    all('site URL', sandbox.siteUrl()),
    all('MCP endpoint', `${sandbox.siteUrl()}/api/mcp`),
    all('embed script', `${sandbox.siteUrl()}/embed.js`),
    all('OpenAPI', `${sandbox.baseUrl()}/openapi`),
    all('controls', `${sandbox.siteUrl()}/_sandbox`),
    all('seed', String(settings.seed)),
    ...(agency === null ? [] : [all('agency key', agency.apiKey), all('agency key, reading', agency.readKey)]),
    all('quota', `${settings.quota} generations${agency === null ? ' per client' : ', pooled by the agency'}`),
    all('limits', limitsText(settings.limits)),
    all('a generation takes', settings.generateMs === 0 ? 'no time' : `${settings.generateMs} ms`),
    all('faults', sandbox.faults.list().map(faultText).join('; ') || 'none'),
    all('dialect', `${dialect.name}: ${dialect.summary}`),
    ...describeDialect(dialect).map(([what, value]) => all(`· ${what}`, value)),
    all('window', `${window.start.toISOString()} to ${window.end.toISOString()}`),
    ...sandbox.worlds.flatMap(({ client, decisions, events }) => {
      const row = (what: string, value: string): StartRow => ({ client: client.slug, what, value });
      const requests = events.filter(({ event }) => event === 'dsar.submitted').length;
      return [
        row('name', client.name),
        row('API key', client.apiKey),
        row('API key, reading', client.readKey),
        row('API key, writing', client.writeKey),
        row('API key, webhooks', client.webhooksKey),
        row('API key, revoked', client.revokedKey),
        row('site key', client.siteKey),
        row('webhook secret', client.webhookSecret),
        row('webhook secret, previous', client.previousWebhookSecret),
        row('visitor hash', `sha256("${client.subjectRecipe.salt}" + e-mail address)`),
        row('banners', client.banners.map(({ id }) => id).join(', ')),
        row(
          'loaded',
          `${decisions.total} consent decisions, ${events.length} other events, ${requests} of them requests`,
        ),
        row('webhooks to', client.webhookUrl ?? 'nowhere yet'),
      ];
    }),
  ];
}

/** The address of one client from a pattern; see {@link StartOptions.webhookUrl}. */
function webhookUrlFor(pattern: string, client: Pick<SandboxClient, 'slug'>): string {
  if (pattern.includes('{client}')) return pattern.replaceAll('{client}', client.slug);
  return /\/webhooks\/?$/.test(pattern) ? `${pattern.replace(/\/$/, '')}/${client.slug}` : pattern;
}

function limitsText({ generatePerMinute, bulkPerMinute, bulkPerDay, otherPerMinute }: LimitValues): string {
  const others = otherPerMinute === null ? 'others unlimited' : `${otherPerMinute} others a minute`;
  return `per key ${generatePerMinute} generations and ${bulkPerMinute} batches a minute, ${bulkPerDay} batches a day, ${others}`;
}

/** As written after --fault. */
function faultText({ name, ...settings }: Fault): string {
  const pairs = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  return `${name}:${pairs.join(',')}`;
}
