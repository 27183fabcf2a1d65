import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { passkeyOriginOf } from '../../src/http/pages/parts/passkey-script.ts';

test('passkeys are bound to ADMIN_URL, whatever a proxy says about the request', () => {
  const request = { protocol: 'http', host: 'proxy.internal:8081', hostname: 'proxy.internal' } as FastifyRequest;
  expect(passkeyOriginOf({ adminUrl: 'https://ledger.office.example:8443' }, request)).toEqual({
    origin: 'https://ledger.office.example:8443',
    host: 'ledger.office.example',
  });
  expect(passkeyOriginOf({ adminUrl: null }, request)).toEqual({
    origin: 'http://proxy.internal:8081',
    host: 'proxy.internal',
  });
  expect(passkeyOriginOf({ adminUrl: 'https://192.0.2.1' }, request)).toBeNull();
  expect(passkeyOriginOf({ adminUrl: 'https://[2001:db8::1]' }, request)).toBeNull();
});
