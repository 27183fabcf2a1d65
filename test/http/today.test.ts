import { expect, it } from 'vitest';
import { createOfficeWorld, signedIn } from './office-world.ts';

it('dismisses a banner that only deliveries name, and restores it, each recorded with the officer', async () => {
  const world = await createOfficeWorld(
    { SERVICE_BASE_URL: 'http://127.0.0.1:1/api/v1', SERVICE_API_KEY: 'pak_live_test' },
    { worker: false },
  );
  await world.event('consent.recorded', { banner_id: 'bnr_<gone>', subject: 'h', status: 'granted' });
  const visitor = await signedIn(world);
  const banner = { source: 'default', banner: 'bnr_<gone>' };
  expect((await visitor.get('/')).text).toContain('Stop pulling: banner bnr_&lt;gone');
  expect(await visitor.post('/sync/dismiss', banner)).toMatchObject({ status: 303 });
  const [dismissal] = await world.actions('sync.banner-dismissed');
  expect(dismissal?.actor).toContain('Olga Officer');

  const page = await visitor.get('/?done=dismissed');
  expect(page.text).toContain('is no longer pulled');
  expect(page.text).toContain('Resume: banner bnr_&lt;gone');
  await visitor.post('/sync/dismiss', { ...banner, restore: 'yes' });
  expect(await world.actions('sync.banner-restored')).toHaveLength(1);

  expect(await visitor.post('/sync/dismiss', { ...banner, banner: 'bnr_typo' })).toMatchObject({ status: 422 });
  expect((await visitor.post('/sync/dismiss', banner, { csrf: null })).status).toBe(403);
});
