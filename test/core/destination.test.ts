import { expect, test } from 'vitest';
import { destinationProblem, isPermitted, isPublicAddress } from '../../src/core/destination.ts';

/** One address of each block that IANA lists as special (RFC 6890 and its registries, as of November 2026). */
const special = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
  ...['172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.0.170', '192.0.2.1', '192.31.196.1', '192.52.193.1'],
  ...['192.88.99.1', '192.168.1.1', '192.175.48.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1'],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::10.0.0.1', '64:ff9b:1::1'],
  ...['100::1', '100:0:0:1::1', '2001::1', '2001:2::1', '2001:10::1', '2001:20::1', '2001:db8::1', '2002:7f00:1::1'],
  ...['2002:a00:1::1', '2620:4f:8000::1', '3fff::1', '5f00::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fec0::1'],
  ...['ff02::1', '4000::1', 'fe80::1%eth0'],
];

test.each(special)('does not count %s as an address of the internet', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  ...['1.1.1.1', '9.255.255.255', '11.0.0.1', '100.63.255.255', '100.128.0.1', '172.15.255.255', '172.32.0.1'],
  ...['192.167.255.255', '198.17.255.255', '198.20.0.1', '223.255.255.255', '2600::1', '2a00:1450::1'],
  // A network that has only IPv6 reaches IPv4 through these (RFC 6052): the embedded address decides.
  ...['64:ff9b::1.1.1.1', '::ffff:1.1.1.1'],
])('counts %s as an address of the internet', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each(['', 'localhost', '1.1.1', '0x7f.1', '1.1.1.1/8', `1${'1'.repeat(200)}`])(
  'does not count %j, which is not an address, as one of the internet',
  (text) => {
    expect(isPublicAddress(text)).toBe(false);
  },
);

const none = { httpAllowedHosts: [], privateAllowedHosts: [] };

test.each([
  'https://127.0.0.1/api/v1',
  'http://127.0.0.1:9000/api/v1',
  'https://2130706433/api/v1',
  'https://0x7f.1/api/v1',
  'https://0177.0.0.1/api/v1',
  'https://169.254.169.254/api/v1',
  'https://[::1]/api/v1',
  'https://[::ffff:a00:1]/api/v1',
  'https://localhost/api/v1',
  'https://LOCALHOST./api/v1',
  'https://service.localhost/api/v1',
])('refuses %s with a sentence that names the setting', (url) => {
  expect(destinationProblem(url, none)).toMatch(/^is on this machine or in a private network: .*PRIVATE_ALLOWED_HOSTS/);
});

test('accepts names and addresses of the internet, and what the operator names', () => {
  expect(destinationProblem('https://service.example/api/v1', none)).toBeNull();
  expect(destinationProblem('https://1.1.1.1/api/v1', none)).toBeNull();
  const allowed = (...privateAllowedHosts: string[]) => ({ httpAllowedHosts: [], privateAllowedHosts });
  expect(destinationProblem('https://10.0.0.1/api/v1', allowed('10.0.0.1'))).toBeNull();
  expect(destinationProblem('https://10.0.0.1:8443/api/v1', allowed('10.0.0.1'))).toBeNull();
  expect(destinationProblem('https://10.0.0.1:8443/api/v1', allowed('10.0.0.1:8443'))).toBeNull();
  expect(destinationProblem('https://10.0.0.1/api/v1', allowed('10.0.0.1:443'))).toBeNull();
  expect(destinationProblem('https://[fd00::1]/api/v1', allowed('[fd00::1]'))).toBeNull();
  expect(destinationProblem('https://LocalHost./api/v1', allowed('localhost'))).toBeNull();
});

test('permits only the port that the operator names, and no other host', () => {
  const rule = { httpAllowedHosts: [], privateAllowedHosts: ['10.0.0.1:8443'] };
  expect(destinationProblem('https://10.0.0.1/api/v1', rule)).not.toBeNull();
  expect(destinationProblem('https://10.0.0.2:8443/api/v1', rule)).not.toBeNull();
  expect(isPermitted(new URL('https://10.0.0.1.example:8443'), rule)).toBe(false);
});

test('takes a host that may be called over http for one on the operator’s own network', () => {
  const rule = { httpAllowedHosts: ['10.0.0.1'], privateAllowedHosts: [] };
  expect(destinationProblem('http://10.0.0.1/api/v1', rule)).toBeNull();
});

test('requires https except on this machine and for hosts that may be called over http', () => {
  expect(destinationProblem('http://service.example/api/v1', none)).toMatch(/^must be https: .*HTTP_ALLOWED_HOSTS/);
  const rule = { httpAllowedHosts: [], privateAllowedHosts: ['10.0.0.1'] };
  expect(destinationProblem('http://10.0.0.1/api/v1', rule)).toMatch(/^must be https/);
});
