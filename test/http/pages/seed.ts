import { randomUUID } from 'node:crypto';
import { canonicalJson } from '../../../src/crypto/canonical.ts';
import { sha256Hex } from '../../../src/crypto/hash.ts';
import { readPolicyText } from '../../../src/policy-texts/policy-text.ts';
import type { OfficeWorld } from '../../http/office-world.ts';

const DAY = 86_400_000;

/** Requests and decisions as the service would deliver them. */
export async function seedRequests(
  world: OfficeWorld,
  now = Date.now(),
): Promise<{ access: number; optOut: number; erasure: number }> {
  const ago = (days: number) => new Date(now - days * DAY).toISOString();
  await world.event('consent.recorded', {
    consent_id: 'c-1',
    banner_id: 'bnr_1',
    visitor_hash: 'visitor-7',
    consent: { analytics: true, marketing: false },
    policy_version: '3',
    recorded_at: ago(40),
  });
  await world.event('consent.recorded', {
    consent_id: 'c-2',
    banner_id: 'bnr_1',
    visitor_hash: 'visitor-7',
    consent: { analytics: false, marketing: false },
    policy_version: '4',
    recorded_at: ago(12),
  });
  const access = await world.event('dsar.submitted', {
    request_id: 'r-1',
    type: 'access',
    name: 'Ada Lovelace',
    email: 'ada@example.org',
    jurisdiction: 'DE',
    language: 'de',
    visitor_hash: 'visitor-7',
    message: 'Please send me everything you hold about me.\nKind regards',
    submitted_at: ago(27),
  });
  const optOut = await world.event('dsar.submitted', {
    request_id: 'r-2',
    type: 'opt-out',
    name: 'Grace Hopper',
    email: 'grace@example.com',
    jurisdiction: 'US-CA',
    submitted_at: ago(3),
  });
  const erasure = await world.event('dsar.submitted', {
    request_id: 'r-3',
    type: 'deletion',
    name: '<script>alert("x")</script>',
    email: '"><img src=x onerror=alert(1)>@example.org',
    jurisdiction: 'DE',
    message: '</textarea><script>alert(2)</script> \u202E gnp.exe',
    submitted_at: ago(45),
  });
  const found = (before: boolean) => [
    { name: '_ga', category: 'analytics', domain: 'shop.example', before_consent: before },
    { name: '<script>alert(4)</script>', provider: '"><img src=x>', domain: 'shop.example' },
  ];
  await world.event('cookie_scan.completed', { domain: 'shop.example', cookies: found(false), finished_at: ago(9) });
  await world.event('cookie_scan.completed', { domain: 'shop.example', cookies: found(true), finished_at: ago(2) });
  await world.event('integration.disconnected', {
    provider: '<b>Shop</b>',
    reason: 'HTTP 401',
    disconnected_at: ago(3),
  });
  return { access, optOut, erasure };
}

/** Appends the entries of a fetch of a policy's public page; resolves with the seq. */
export async function fetchedText(
  world: OfficeWorld,
  seen: { at: string; page: string; policyId?: string | undefined; source?: string | undefined },
): Promise<number> {
  const { at, page, policyId = 'pol_1', source = 'default' } = seen;
  const { ledger, projector } = world.context;
  const body = Buffer.from(page);
  const { sha256, form } = readPolicyText(body, 'text/html');
  const fetchId = randomUUID();
  const meta = {
    ...{ what: 'policy', fetchId, why: 'schedule', phase: 'settled', target: `hosted:${policyId}` },
    ...{ policyType: 'privacy-policy', policyId, status: 200, outcome: 'present', url: 'https://x.example/p' },
    redirects: 0,
    headers: { date: null, age: 0, etag: null, lastModified: null, cacheControl: null, contentType: 'text/html' },
    ...{ requestedAt: at, receivedAt: at, originFrom: at, originTo: at },
    ...{ bytes: body.length, bodySha256: sha256Hex(body), textSha256: sha256, textForm: form },
    ...{ equals: null, findings: null },
  };
  const [appended] = await ledger.append([
    {
      ...{ source, kind: 'snapshot' as const, receivedAt: at, meta: canonicalJson(meta), body },
      dedupeKey: ledger.keyOf('snapshot', fetchId),
    },
  ]);
  const seq = appended?.seq ?? 0;
  await projector.projected(seq);
  return seq;
}
