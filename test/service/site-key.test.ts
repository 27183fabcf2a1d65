import { describe, expect, it } from 'vitest';
import { checkSiteKey } from '../../src/context/check-key.ts';
import { fetchEmbedPolicy } from '../../src/service/public-fetch.ts';
import { newSourceSchema } from '../../src/sources/changes.ts';
import { sourceAt } from '../sync/syncing.ts';
import { answeringServer, ON_LOOPBACK, sendJson } from './answering-server.ts';

const text = { html: '<p>Privacy</p>' };
const error = (code: string) => ({ error: { code, message: 'No.' } });

/** An embed endpoint; `texts` by type, and `refuse` as its answer to an unknown key. */
async function endpoint(refuse: { status: number; code: string } | null, texts: Readonly<Record<string, object>>) {
  const { baseUrl } = await answeringServer((request, response) => {
    const type = new URL(request.url ?? '', 'http://x').searchParams.get('type') ?? '';
    if (refuse !== null) sendJson(response, refuse.status, error(refuse.code));
    else if (texts[type] === undefined) sendJson(response, 404, error('not_found'));
    else sendJson(response, 200, texts[type]);
  });
  return new URL(baseUrl).origin;
}

const config = { destinations: ON_LOOPBACK };
const fetchType = (siteUrl: string) =>
  fetchEmbedPolicy({ destinations: ON_LOOPBACK, siteUrl, siteKey: 'pk_test', type: 'privacy-policy' });

describe('a text that the embed endpoint does not give', () => {
  it('counts as absent if the same key can list all texts', async () => {
    const siteUrl = await endpoint(null, { hub: { policies: [] } });
    expect(await fetchType(siteUrl)).toMatchObject({ outcome: 'answered', answer: { status: 404 } });
  });

  it.each([
    [404, 'site_key_not_found'],
    [404, 'not_found'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [410, 'key_deprecated'],
    [200, 'invalid_site_key'],
  ])('is not recorded if the key itself is refused (%i %s), and doctor says so', async (status, code) => {
    const siteUrl = await endpoint({ status, code }, {});
    expect(await fetchType(siteUrl)).toMatchObject({ outcome: 'refused', transient: false });
    const check = await checkSiteKey({ ...sourceAt(null), siteUrl, siteKey: 'pk_test' }, { config });
    expect(check).toMatchObject({ outcome: 'refused' });
    expect(check?.sentence).not.toContain('pk_test');
  });

  it('is left open if the list of all texts cannot be fetched at the moment', async () => {
    const { baseUrl } = await answeringServer((_, response, nth) =>
      sendJson(response, nth === 1 ? 404 : 503, error('not_found')),
    );
    expect(await fetchType(new URL(baseUrl).origin)).toMatchObject({ outcome: 'refused', transient: true });
  });

  it('is given with a working key', async () => {
    const siteUrl = await endpoint(null, { hub: { policies: [] }, 'privacy-policy': text });
    expect(await fetchType(siteUrl)).toMatchObject({ outcome: 'answered', answer: { status: 200 } });
    expect(await checkSiteKey({ ...sourceAt(null), siteUrl, siteKey: 'pk_test' }, { config })).toMatchObject({
      outcome: 'works',
    });
  });
});

it('a named API key is refused as a site key', () => {
  const parsed = newSourceSchema.safeParse({ slug: 'acme', siteKey: 'pak_live_1234567890' });
  expect(parsed.success).toBe(false);
  expect(newSourceSchema.safeParse({ slug: 'acme', siteKey: 'pk_1234567890' }).success).toBe(true);
});
