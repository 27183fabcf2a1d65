import { checkKey, checkSiteKey } from '../../context/check-key.ts';
import type { Context } from '../../context/context.ts';
import { loadLastDescription, sourcesToWatch } from '../../policy-snapshots/openapi-watch.ts';
import { exchange } from '../../service/outgoing-http.ts';
import { type DoctorCheck, fault, type Line, note, ok } from './finding.ts';

const TIMEOUT_MS = 10_000;
/** Only the status matters; the rest of a longer response is not read. */
const MAX_BYTES = 64 * 1024;
/** An agency's installation has hundreds of sources, whose addresses differ only in their last part. */
const SOURCES_ASKED = 20;
/** Smaller differences mean nothing: the Date header has whole seconds, and the response takes time. */
const SKEW_MS = 30_000;

/**
 * Checks that need the network: the public address is reachable with valid TLS, nothing is public that must not be, the
 * keys work, and the clock is right.
 */
export const networkChecks: readonly DoctorCheck<Pick<Context, 'config' | 'sources' | 'snapshots' | 'clock'>>[] = [
  checkReachable,
  checkAdminPages,
  checkKeys,
  checkSiteKeys,
  ({ sources }) => {
    const left = sources.list().length - SOURCES_ASKED;
    const remedy = 'Run `consent-ledger source check` to check all of them.';
    return left > 0 ? note('reachable', `${left} more sources were not checked.`, remedy) : [];
  },
  checkDescriptions,
];

async function checkReachable({
  config: { publicUrl },
  sources,
}: Pick<Context, 'config' | 'sources'>): Promise<Line[]> {
  if (publicUrl === null)
    return [
      fault(
        'reachable',
        'Cannot check whether the public listener is reachable: PUBLIC_URL is not set.',
        'Set PUBLIC_URL.',
      ),
    ];
  const health = await ask(`${publicUrl}/healthz`);
  const lines = [answerLine(health, `${publicUrl}/healthz`)];
  if (health.status !== 200) return lines;
  for (const { slug } of sources.list().slice(0, SOURCES_ASKED)) {
    const url = `${publicUrl}/webhooks/${slug}`;
    lines.push(answerLine(await ask(url), url));
  }
  const metrics = await ask(`${publicUrl}/metrics`);
  if (metrics.status === 200)
    lines.push(
      fault(
        'reachable',
        `${publicUrl}/metrics answers: the admin listener is public.`,
        'Configure the proxy to forward to the public listener only.',
      ),
    );
  return lines;
}

async function checkAdminPages({ config: { adminUrl } }: Pick<Context, 'config'>): Promise<Line[]> {
  return adminUrl === null ? [] : [judgeAdminPages(adminUrl, await ask(signInOf(adminUrl)))];
}

const signInOf = (adminUrl: string) => `${adminUrl}/sign-in`;

/**
 * Whether a proxy in front of the officer's pages passes on the host and scheme that browsers use. The form cookie of the
 * sign-in page is `Secure` exactly if the server takes the request to be https.
 */
export function judgeAdminPages(adminUrl: string, { status, problem, headers }: Answer): Line {
  const url = signInOf(adminUrl);
  const { host, hostname, protocol } = new URL(adminUrl);
  if (status === 421)
    return fault(
      'admin pages',
      `${url} answers with HTTP 421: the header Host or X-Forwarded-Host does not arrive as ${host}, or ADMIN_HOSTS does not name it.`,
      `Add ${hostname} to ADMIN_HOSTS, and let the proxy pass on the Host header of the browser.`,
    );
  if (status !== 200)
    return note(
      'admin pages',
      `${url} ${problem === null ? `answers with HTTP ${status}` : `cannot be reached from here (${problem})`}.`,
      'Correct ADMIN_URL if officers cannot open it either: links, passkeys and single sign-on use it.',
    );
  const cookies = headers?.getSetCookie() ?? [];
  const isSecure = cookies.some((cookie) => /;\s*secure\b/i.test(cookie));
  if (protocol === 'https:' && cookies.length > 0 && !isSecure)
    return fault(
      'admin pages',
      `${url} takes requests for http: the header X-Forwarded-Proto is missing, is not https, or comes from a proxy that TRUST_PROXY does not name. Cookies are sent without Secure.`,
      'Let the proxy set X-Forwarded-Proto to https, and set TRUST_PROXY to its address.',
    );
  return ok('admin pages', `${url} answers as ${adminUrl}.`);
}

/** The responses also show whether this machine's clock is right. */
async function checkKeys(context: Pick<Context, 'config' | 'sources' | 'clock'>): Promise<Line[]> {
  const lines: Line[] = [];
  for (const source of context.sources.list().slice(0, SOURCES_ASKED)) {
    const check = await checkKey(source, context);
    if (check.outcome === 'refused')
      lines.push(fault('API key', check.sentence, `To try again, run \`consent-ledger source check ${source.slug}\`.`));
    if (check.outcome !== 'works') continue;
    lines.push(ok('API key', check.sentence));
    if (check.clockSkewMs !== null && Math.abs(check.clockSkewMs) > SKEW_MS)
      lines.push(
        fault(
          'clock',
          `This machine’s clock is ${Math.round(Math.abs(check.clockSkewMs) / 1000)} seconds ${check.clockSkewMs > 0 ? 'ahead of' : 'behind'} the service’s.`,
          'Enable NTP.',
        ),
      );
  }
  return lines;
}

async function checkSiteKeys({ sources, config }: Pick<Context, 'config' | 'sources'>): Promise<Line[]> {
  const lines: Line[] = [];
  for (const source of sources.list().slice(0, SOURCES_ASKED)) {
    const check = await checkSiteKey(source, { config });
    if (check?.outcome === 'works') lines.push(ok('site key', check.sentence));
    else if (check !== null)
      lines.push(fault('site key', check.sentence, 'Create a site key in the service’s dashboard and set it.'));
  }
  return lines;
}

interface Answer {
  readonly status: number | null;
  readonly problem: string | null;
  readonly headers?: Headers;
}

/** A GET that follows no redirects, because a redirected delivery, a POST, loses its body. */
async function ask(url: string): Promise<Answer> {
  try {
    const headers = { 'accept-encoding': 'identity', 'user-agent': 'consent-ledger' };
    const { status, headers: answered } = await exchange({
      url,
      destinations: 'anywhere',
      headers,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    return { status, problem: null, headers: answered };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = (cause as NodeJS.ErrnoException).code;
    return { status: null, problem: code ?? (cause instanceof Error ? cause.message : String(cause)) };
  }
}

function answerLine({ status, problem }: Answer, url: string): Line {
  if (status === 200)
    return ok('reachable', `${url} answers${url.startsWith('https:') ? ', and its certificate is valid' : ''}.`);
  if (problem !== null) {
    const tls = /CERT|TLS|SSL|SELF_SIGNED|ALTNAME|UNABLE_TO_VERIFY/i.test(problem);
    return tls
      ? fault(
          'reachable',
          `The certificate of ${url} is not valid (${problem}).`,
          'The service will not deliver to it: renew the certificate and install the full chain.',
        )
      : fault(
          'reachable',
          `${url} cannot be reached from here (${problem}).`,
          'Check that the server is running, that DNS points to the proxy, and that the firewall allows the connection.',
        );
  }
  if (status !== null && status >= 300 && status < 400)
    return fault(
      'reachable',
      `${url} redirects (HTTP ${status}): deliveries would lose their body.`,
      'Set PUBLIC_URL to the final address and register that one with the service.',
    );
  return fault(
    'reachable',
    `${url} answers with HTTP ${status}.`,
    'Check that the proxy forwards every path to the public listener.',
  );
}

const ABOUT = 'API description';
const REMEDY =
  'The service changed its API: look for a newer version of this program, and watch the next sync and the next generation.';

/** If an installation follows many addresses of the service, only some are asked. */
const ADDRESSES_ASKED = 10;

/** What the service's API description lacked when last stored; makes no request. */
export async function checkStoredDescriptions(context: Pick<Context, 'store' | 'sources'>): Promise<Line[]> {
  const lines: Line[] = [];
  for (const source of sourcesToWatch(context.sources.list())) {
    const last = await loadLastDescription(context.store.read, source.slug);
    if (last === null || last.gone.length === 0) continue;
    lines.push(note(ABOUT, `${source.slug}: ${last.gone.join(' ')} (entry ${last.seq}, ${last.receivedAt})`, REMEDY));
  }
  return lines;
}

/** Fetches the description now and compares it with what the client relies on; stores nothing. A service need not have one. */
export async function checkDescriptions(context: Pick<Context, 'sources' | 'snapshots'>): Promise<Line[]> {
  const lines: Line[] = [];
  for (const source of sourcesToWatch(context.sources.list()).slice(0, ADDRESSES_ASKED)) {
    const fetched = await context.snapshots.fetchDescription(source);
    if (fetched === null) continue;
    if (fetched.outcome !== 'fetched') {
      lines.push(
        note(
          ABOUT,
          `${source.slug}: ${fetched.sentence}`,
          'Not required, but API changes are detected later without it.',
        ),
      );
      continue;
    }
    const { gone } = fetched.description;
    lines.push(
      gone.length === 0
        ? ok(ABOUT, `${source.slug}: the API description still covers everything this program uses.`)
        : note(ABOUT, `${source.slug}: ${gone.join(' ')}`, REMEDY),
    );
  }
  return lines;
}
