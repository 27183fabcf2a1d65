import ipaddr from 'ipaddr.js';
import { clearTextProblem } from './address.ts';

/**
 * Where requests may go whose address someone other than the operator sets: a source's addresses, which admins change
 * on pages, by the command line and by import. Addresses in environment settings are the operator's own choice, and
 * `anywhere` for the request (service/outgoing-http.ts).
 */
export interface DestinationRule {
  /** Hosts that may be called over http, in lower case (HTTP_ALLOWED_HOSTS). They are on the operator's own network. */
  readonly httpAllowedHosts: readonly string[];
  /** Hosts on the operator's own network, `host` or `host:port`, in lower case (PRIVATE_ALLOWED_HOSTS). */
  readonly privateAllowedHosts: readonly string[];
}

/** The rule without any exception. */
export const INTERNET_ONLY: DestinationRule = { httpAllowedHosts: [], privateAllowedHosts: [] };

/** IPv6 addresses that are assigned to anyone (RFC 4291 §2.4; IANA's list of IPv6 global unicast addresses). */
const assignedIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Well-known prefix under which a network with IPv6 alone reaches IPv4 (RFC 6052 §2.1). */
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Whether an IP address belongs to the internet at large: not to this machine, a private or local network, or a block
 * with a special purpose (RFC 6890; IANA's registries of special-purpose addresses). An IPv6 address that stands for an
 * IPv4 address is judged by that one. False for anything that is not an IP address in its usual form.
 */
export function isPublicAddress(text: string): boolean {
  if (text.length > 100 || !(ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text))) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  if (address.range() === 'ipv4Mapped' && address.isIPv4MappedAddress())
    return address.toIPv4Address().range() === 'unicast';
  if (address.match(translated)) return new ipaddr.IPv4(address.toByteArray().slice(-4)).range() === 'unicast';
  return address.range() === 'unicast' && address.match(assignedIpv6);
}

/** Whether the operator names this host, or this host and port, as one on the own network. */
export function isPermitted(url: URL, { httpAllowedHosts, privateAllowedHosts }: DestinationRule): boolean {
  const hostname = hostOf(url);
  return (
    httpAllowedHosts.includes(hostname) ||
    privateAllowedHosts.includes(hostname) ||
    privateAllowedHosts.includes(hostAndPortOf(url.href))
  );
}

/** Host and port of a URL, as {@link DestinationRule} names them. */
export function hostAndPortOf(url: string): string {
  const { protocol, port } = new URL(url);
  return `${hostOf(new URL(url))}:${port !== '' ? port : protocol === 'https:' ? '443' : '80'}`;
}

/** Whether the host of a URL is an IP address that does not belong to the internet. Names are judged when they are resolved. */
export function isPrivateLiteral(url: URL): boolean {
  const hostname = hostOf(url).replace(/^\[|\]$/g, '');
  return ipaddr.isValid(hostname) && !isPublicAddress(hostname);
}

/**
 * Why an address may not be given to a source: http without permission, or a destination on this machine or a private
 * network that the operator has not named. Null: it may. What a name resolves to is checked at each connection
 * (service/outgoing-http.ts), since that may change.
 */
export function destinationProblem(url: string, rule: DestinationRule): string | null {
  const parsed = new URL(url);
  const isLocalName = /^(?:.*\.)?localhost$/.test(hostOf(parsed));
  if ((isLocalName || isPrivateLiteral(parsed)) && !isPermitted(parsed, rule))
    return `is on this machine or in a private network: use an address on the internet. If this one is intended, add ${hostOf(parsed)} to PRIVATE_ALLOWED_HOSTS`;
  return clearTextProblem(url, rule.httpAllowedHosts);
}

/** The host of a URL in lower case, without the dot that may end a name. */
function hostOf({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}
