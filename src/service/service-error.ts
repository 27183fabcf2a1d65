/**
 * Why a call to the service failed (docs/service.md §5, §7). Switch over it exhaustively. `network`, `timeout`: no
 * response. `unreadable`, `too-large`: a response that is not what the service documents.
 */
export const serviceErrorKinds = [
  'bad-request',
  'unauthorized',
  'payment-required',
  'forbidden',
  'not-found',
  'gone',
  'rate-limited',
  'server-error',
  'unexpected-status',
  'redirected',
  'network',
  'timeout',
  'too-large',
  'unreadable',
] as const;
export type ServiceErrorKind = (typeof serviceErrorKinds)[number];

interface Sentences {
  readonly what: string;
  readonly remedy: string;
}

/** The subject of the request, which determines the wording. */
export type ServiceSubject = 'consent-log' | 'policies' | 'policy-list';

const waitForTheLimit = 'Wait and try again. Calls by other programs with the same key count as well.';
const checkAddress = 'Check the source’s API address and any proxy in between.';
const ifItPersists = 'If it persists, contact the service’s support.';

/** The wording of each kind for the consent log, and differences for policies and for their list. */
const sentences: Record<
  ServiceErrorKind,
  Sentences & Partial<Record<Exclude<ServiceSubject, 'consent-log'>, Partial<Sentences>>>
> = {
  'bad-request': {
    what: 'The service refused the request as invalid.',
    remedy:
      'Check the banner id and the dates. If the service requires a banner and none is known here, set it with `consent-ledger source change <source> --banner <id>`.',
    policies: {
      what: 'The service refused the request as invalid; nothing was generated.',
      remedy: 'Check the policy type, the jurisdiction code (GB, US-CA, EU) and the two-letter language.',
    },
    'policy-list': { remedy: checkAddress },
  },
  unauthorized: {
    what: 'The service does not accept the API key.',
    remedy:
      'The key is missing, mistyped or was revoked: create one in the service’s dashboard and set it as the source’s API key.',
  },
  'payment-required': {
    what: 'The subscription with the service has lapsed.',
    remedy: 'Renew it in the service’s dashboard; the sync then continues where it stopped.',
    policies: {
      what: 'The subscription with the service has lapsed or its quota is used up; nothing was generated.',
      remedy: 'Renew it in the service’s dashboard, then send the request again.',
    },
    'policy-list': { remedy: 'Renew it in the service’s dashboard.' },
  },
  forbidden: {
    what: 'The API key may not do this.',
    remedy:
      'Grant it the read scope, and check whether it is limited to another client and whether the plan includes API access.',
    policies: {
      what: 'The API key may not do this; nothing was generated.',
      remedy:
        'Grant it the write scope, and check whether it is limited to another client and whether the plan includes API access.',
    },
  },
  'not-found': {
    what: 'The service does not know this banner or address.',
    remedy: 'Check the banner id, and that the source’s API address ends in /api/v1.',
    policies: {
      what: 'The service does not know this policy or address.',
      remedy:
        'Check the id (`consent-ledger policy list` lists published policies, `policy calls` those generated here), whether the key is limited to another client, and that the source’s API address ends in /api/v1.',
    },
    'policy-list': {
      what: 'The service does not know this address.',
      remedy: 'Check that the source’s API address ends in /api/v1.',
    },
  },
  gone: {
    what: 'The requested data is no longer available at the service.',
    remedy: 'Run the sync again from an earlier date.',
    policies: {
      what: 'This policy is no longer available at the service.',
      remedy: 'Run `consent-ledger policy list` to see the available policies.',
    },
    'policy-list': {
      what: 'The service no longer provides a list of policies.',
      remedy: 'Check the source’s API address; if it is right, the service has changed its API.',
    },
  },
  'rate-limited': {
    what: 'The service’s rate limit is exceeded.',
    remedy: 'Nothing to do: the next scheduled run continues. If this persists, sync less often or use a separate key.',
    policies: { what: 'The service’s rate limit is exceeded; nothing was generated.', remedy: waitForTheLimit },
    'policy-list': { remedy: waitForTheLimit },
  },
  'server-error': {
    what: 'The service had an internal error.',
    remedy: 'Try again later; if it persists, contact the service’s support.',
    // Not "try again", since the policy may have been generated.
    policies: { remedy: ifItPersists },
  },
  'unexpected-status': { what: 'The service answered with an undocumented status.', remedy: checkAddress },
  redirected: {
    what: 'The service’s address redirects elsewhere, but the API key is not sent to other addresses.',
    remedy: 'Set the source’s API address to the final one (https, without a redirect).',
  },
  network: {
    what: 'The service could not be reached, or the connection broke.',
    remedy: 'Check the source’s API address, the network and any proxy.',
  },
  timeout: {
    what: 'The service did not answer in time.',
    remedy: 'Try again later; if it persists, request smaller pages.',
    policies: { remedy: ifItPersists },
    'policy-list': { remedy: 'Try again later; if it persists, contact the service’s support.' },
  },
  'too-large': {
    what: 'The service’s response exceeds the size limit.',
    remedy: 'Smaller periods were tried as well: ask the service’s support for pages of at most 200 rows.',
    policies: { remedy: checkAddress },
    'policy-list': { remedy: checkAddress },
  },
  unreadable: {
    what: 'The service’s response does not match its API documentation.',
    remedy:
      'Check the source’s API address and any proxy in between; if both are right, the service has changed its format.',
  },
};

/**
 * Why there was no response. All but the last happen before the request left: the address is a private one that the
 * operator has not allowed, the host name has no address, nothing listens there, the certificate is not trusted. With `broken`, it is unknown how far the request got.
 */
type NetworkFault = 'not-allowed' | 'no-address' | 'unreachable' | 'not-trusted' | 'broken';

const networkSentences: Record<NetworkFault, Sentences> = {
  'not-allowed': {
    what: 'The source’s address leads to this machine or a private network; nothing was sent.',
    remedy:
      'Check the source’s addresses. If that network is intended, the server’s operator can add the host to PRIVATE_ALLOWED_HOSTS.',
  },
  'no-address': {
    what: 'The name of the service could not be resolved (DNS); nothing was sent.',
    remedy: 'Check the spelling of the source’s API address and this machine’s DNS.',
  },
  unreachable: {
    what: 'The service could not be reached; nothing was sent.',
    remedy: 'Check the source’s API address, its port, the network, and any firewall or proxy.',
  },
  'not-trusted': {
    what: 'The service’s TLS certificate is not trusted; nothing was sent.',
    remedy:
      'Check the host in the source’s API address and this machine’s clock; add a company’s own certificate authority with NODE_EXTRA_CA_CERTS.',
  },
  broken: sentences.network,
};

function sentencesOf(kind: ServiceErrorKind, { fault, about }: ServiceErrorDetails): Sentences {
  if (kind === 'network' && fault !== undefined) return networkSentences[fault];
  const usual = sentences[kind];
  return about === undefined || about === 'consent-log' ? usual : { ...usual, ...usual[about] };
}

/** Details of a {@link ServiceError} besides its kind. */
interface ServiceErrorDetails {
  readonly status?: number;
  /** `error.code` of the service's envelope, cleaned. */
  readonly code?: string;
  /** `error.message` of the service's envelope, or the runtime's message; cleaned, never with a secret in it. */
  readonly detail?: string;
  /** How long the service asked us to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Only for kind `network`. */
  readonly fault?: NetworkFault;
  /** It failed before anything was sent that could change something. */
  readonly unsent?: boolean;
  /** Default: the consent log. */
  readonly about?: ServiceSubject;
  /** What to do, if the usual wording would mislead. */
  readonly remedy?: string;
  /** The exact bytes of the refusal. */
  readonly answer?: Buffer;
  readonly cause?: unknown;
}

/**
 * A failed call to the service. `message` consists of plain sentences that end with the remedy, suitable for an
 * operator's screen. It never contains the API key, a cursor or a row.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly kind: ServiceErrorKind;
  readonly status: number | null;
  readonly code: string | null;
  readonly detail: string | null;
  readonly retryAfterMs: number | null;
  readonly remedy: string;
  /** Why there was no response; null for kinds other than `network`. */
  readonly fault: NetworkFault | null;
  /** It failed before anything was sent that could change something. */
  readonly unsent: boolean;
  /** Private, because loggers write out the properties of errors. */
  readonly #answer: Buffer | null;

  constructor(kind: ServiceErrorKind, details: ServiceErrorDetails = {}) {
    const { what, remedy: usual } = sentencesOf(kind, details);
    const remedy = details.remedy ?? usual;
    super([what, describe(details), remedy].filter((part) => part !== '').join(' '), { cause: details.cause });
    this.kind = kind;
    this.status = details.status ?? null;
    this.code = details.code ?? null;
    this.detail = details.detail ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.remedy = remedy;
    this.fault = kind === 'network' ? (details.fault ?? 'broken') : null;
    this.unsent = details.unsent ?? false;
    this.#answer = details.answer ?? null;
  }

  /** The exact bytes of the refusal; null if there was no response. */
  get answer(): Buffer | null {
    return this.#answer;
  }
}

/**
 * Whether a call failed before anything that could change something left this machine. Such a call does not count
 * against the service's limits either.
 */
export function neverSent(error: ServiceError): boolean {
  return error.unsent || (error.kind === 'network' && error.fault !== 'broken');
}

/**
 * Whether a call that failed in this way certainly changed nothing: the service refused it, or it was never sent. A
 * 5xx, a time-out and a broken connection leave it open (docs/service.md §7).
 */
export function changedNothing(error: ServiceError): boolean {
  if (neverSent(error)) return true;
  switch (error.kind) {
    case 'bad-request':
    case 'unauthorized':
    case 'payment-required':
    case 'forbidden':
    case 'not-found':
    case 'gone':
    case 'rate-limited':
    case 'redirected':
      return true;
    case 'unexpected-status':
      return error.status !== null && error.status >= 400;
    case 'network':
    case 'server-error':
    case 'timeout':
    case 'too-large':
    case 'unreadable':
      return false;
  }
}

function describe({ status, code, detail }: ServiceErrorDetails): string {
  const said = [status === undefined ? '' : `HTTP ${status}`, code ?? '', detail ?? ''].filter((part) => part !== '');
  return said.length === 0 ? '' : `(${said.join(': ')})`;
}

/** The kind of a status outside 2xx (docs/service.md §7). */
export function kindOfStatus(status: number): ServiceErrorKind {
  // 303 says that the request was done and where to look (RFC 9110 §15.4.4); other redirects say to repeat it
  // elsewhere.
  if (status >= 300 && status < 400 && status !== 303) return 'redirected';
  switch (status) {
    case 400:
    case 422:
      return 'bad-request';
    case 401:
      return 'unauthorized';
    case 402:
      return 'payment-required';
    case 403:
      return 'forbidden';
    case 404:
      return 'not-found';
    case 408:
      return 'timeout';
    case 410:
      return 'gone';
    case 413:
      return 'bad-request';
    case 429:
      return 'rate-limited';
    default:
      return status >= 500 ? 'server-error' : 'unexpected-status';
  }
}

/** Whether the same read may succeed a little later. */
export function isTransient(kind: ServiceErrorKind): boolean {
  switch (kind) {
    case 'rate-limited':
    case 'server-error':
    case 'network':
    case 'timeout':
    case 'unreadable':
      return true;
    case 'bad-request':
    case 'unauthorized':
    case 'payment-required':
    case 'forbidden':
    case 'not-found':
    case 'gone':
    case 'unexpected-status':
    case 'redirected':
    case 'too-large':
      return false;
  }
}

const noAddress = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);
const unreachable = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** OpenSSL's codes for certificates (X509_V_ERR_… without the prefix), and Node's for host names. */
const notTrusted =
  /^(ERR_TLS_CERT_ALTNAME_INVALID|CERT_.+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)|INVALID_CA|HOSTNAME_MISMATCH)$/;

/**
 * Classifies a network failure by the runtime's code: before the request was sent, or `broken`, after which it is
 * unknown how far it got. An unknown code counts as `broken`, so that nothing is wrongly considered unsent.
 */
export function networkFaultOf(cause: unknown): NetworkFault {
  // The runtime refuses to connect to some ports at all.
  if (cause instanceof Error && cause.message === 'bad port') return 'unreachable';
  const codes = codesOf(cause);
  const all = (fits: (code: string) => boolean) => codes.length > 0 && codes.every(fits);
  if (all((code) => code === 'ERR_PRIVATE_DESTINATION')) return 'not-allowed';
  if (all((code) => noAddress.has(code))) return 'no-address';
  if (all((code) => unreachable.has(code) || code === 'ETIMEDOUT:connect')) return 'unreachable';
  if (all((code) => notTrusted.test(code))) return 'not-trusted';
  return 'broken';
}

/** The code of an error, or of each attempt if several addresses were tried. A time-out counts as unsent only while connecting. */
function codesOf(cause: unknown): string[] {
  if (cause instanceof AggregateError) return cause.errors.flatMap(codesOf);
  if (typeof cause !== 'object' || cause === null || !('code' in cause) || typeof cause.code !== 'string') return [];
  const connecting = 'syscall' in cause && cause.syscall === 'connect';
  return [cause.code === 'ETIMEDOUT' && connecting ? 'ETIMEDOUT:connect' : cause.code];
}
