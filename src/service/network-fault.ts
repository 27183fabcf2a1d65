import type { NetworkFault } from './service-error.ts';

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
/** What OpenSSL says of a certificate (X509_V_ERR_… without the prefix), and Node of the host's name. */
const notTrusted =
  /^(ERR_TLS_CERT_ALTNAME_INVALID|CERT_.+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)|INVALID_CA|HOSTNAME_MISMATCH)$/;

/**
 * What kept a request from being answered, by the code that the runtime gives: before it was sent, or `broken`, after which nobody knows
 * how far it came. A code that is not known counts as `broken`, so that nothing is taken for unsent by mistake.
 */
export function networkFaultOf(cause: unknown): NetworkFault {
  // The runtime refuses to speak to some ports at all.
  if (cause instanceof Error && cause.message === 'bad port') return 'unreachable';
  const codes = codesOf(cause);
  const all = (fits: (code: string) => boolean) => codes.length > 0 && codes.every(fits);
  if (all((code) => noAddress.has(code))) return 'no-address';
  if (all((code) => unreachable.has(code) || code === 'ETIMEDOUT:connect')) return 'unreachable';
  if (all((code) => notTrusted.test(code))) return 'not-trusted';
  return 'broken';
}

/** The code of an error, or of each try when several addresses were tried. A time-out counts as unsent only while connecting. */
function codesOf(cause: unknown): string[] {
  if (cause instanceof AggregateError) return cause.errors.flatMap(codesOf);
  if (typeof cause !== 'object' || cause === null || !('code' in cause) || typeof cause.code !== 'string') return [];
  const connecting = 'syscall' in cause && cause.syscall === 'connect';
  return [cause.code === 'ETIMEDOUT' && connecting ? 'ETIMEDOUT:connect' : cause.code];
}
