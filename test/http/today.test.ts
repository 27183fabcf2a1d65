import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
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

it('says who outside of the installation has seen the last checkpoint, and when; so does /metrics', async () => {
  const folder = await temporaryFolder();
  const [policy, share] = [join(folder, 'policy'), join(folder, 'share')];
  await mkdir(share);
  await writeFile(policy, `directory share ${share}\ndirectory gone ${join(folder, 'gone')}\nquorum share\n`);
  const world = await createOfficeWorld({ WITNESSES: policy }, { worker: false });
  const visitor = await signedIn(world);
  expect((await visitor.get('/')).text).toContain('by nobody yet');
  const seq = await world.event('consent.recorded', { banner_id: 'b', subject: 'h', status: 'granted' });
  await world.context.witness();
  const { text } = await visitor.get('/');
  expect(text).toMatch(/Witnessed<\/dt>.*by share, <time/s);
  expect(text).toContain('not yet by gone');
  await world.event('consent.recorded', { banner_id: 'b', subject: 'i', status: 'granted' });
  await world.context.seal();
  expect((await visitor.get('/')).text).toMatch(/by share over \d+ entries, <time/);
  const metrics = await (await fetch(`${world.adminUrl}/metrics`)).text();
  expect(Number(/witnessed_seq\{witness="share"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThanOrEqual(seq);
});
