import { expect, it } from 'vitest';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { rebuild } from '../../src/projections/rebuild.ts';
import { createOptionsInForce } from '../../src/sources/options-in-force.ts';
import { createOfficeWorld } from '../http/office-world.ts';
import { alter } from '../tampering.ts';

it('each entry is read with the options that the ledger recorded before it, whatever the table of sources says', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { context } = world;
  const decide = (n: number) =>
    world.event('consent.recorded', {
      consent_id: `c-${n}`,
      banner_id: 'main',
      who: `v-${n}`,
      consent: { analytics: true },
    });
  const subjects = async () => {
    const rows = await context.store.read.selectFrom('decision_history').select('subject').orderBy('seq').execute();
    return rows.map(({ subject }) => subject);
  };
  const rebuilt = async () => {
    const { counts } = await context.rebuild();
    return { counts, subjects: await subjects() };
  };
  const faults = async () => (await context.verify()).faults.map(({ fault, sentence }) => [fault, sentence]);

  await decide(1);
  const options = sourceOptionsSchema.parse({ fieldNames: { subject: ['who'] } });
  expect(await context.sources.change('default', { options }, 'Olga')).toMatchObject({ outcome: 'done' });
  await decide(2);
  await context.projector.catchUp();
  expect(await subjects()).toEqual([null, 'v-2']);
  expect(await rebuilt()).toEqual({ counts: {}, subjects: [null, 'v-2'] });

  expect(await context.sources.reread('default', 'Olga')).toMatchObject({ outcome: 'done' });
  expect(await rebuilt()).toMatchObject({ counts: { decision_history: 1 }, subjects: ['v-1', 'v-2'] });
  expect(await faults()).toEqual([]);

  await alter(context.config.dataDir, `update sources set options = replace(options, 'who', 'whom')`);
  await context.sources.refresh();
  expect(await faults()).toEqual([['source-altered', expect.stringContaining('"default"')]]);
  expect(await rebuilt()).toEqual({ counts: {}, subjects: ['v-1', 'v-2'] });
  await alter(context.config.dataDir, 'delete from sources');
  expect(await faults()).toEqual([['source-altered', expect.stringContaining('no longer in the table')]]);
});

it('a rebuild during which a source is read again reads all of its entries with the new options, not only the later ones', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const { store, sources, projector } = world.context;
  const visitors = ['v-1', 'v-2', 'v-3', 'v-4'];
  for (const who of visitors)
    await world.event('consent.recorded', {
      ...{ consent_id: `c-${who}`, banner_id: 'main', who, consent: { analytics: true } },
    });
  const options = sourceOptionsSchema.parse({ fieldNames: { subject: ['who'] } });
  expect(await sources.change('default', { options }, 'Olga')).toMatchObject({ outcome: 'done' });
  await projector.catchUp();
  const optionsUpTo = createOptionsInForce(store.read);
  let loaded = 0;
  await rebuild({
    ...{ store, batchSize: 1, togetherMs: 0 },
    async optionsUpTo() {
      loaded += 1;
      if (loaded === 3) {
        expect(await sources.reread('default', 'Olga')).toMatchObject({ outcome: 'done' });
        await projector.catchUp();
      }
      return optionsUpTo();
    },
  });
  const rows = await store.read.selectFrom('decision_history').select('subject').orderBy('seq').execute();
  expect(rows.map(({ subject }) => subject)).toEqual(visitors);
  expect((await world.context.readModels.check()).differences).toEqual([]);
});

it('a source that is not in the ledger has no settings of its own', async () => {
  const { context } = await createOfficeWorld({}, { worker: false });
  await context.sources.add(
    { slug: 'acme', options: { subjectRecipe: { algorithm: 'sha256', normalise: 'none', salt: 's3' } } },
    'Olga',
  );
  expect((await context.verify()).faults).toEqual([]);
  const bodies = await context.store.read.selectFrom('entries').select('body').execute();
  expect(String(bodies.map(({ body }) => String(body)))).not.toContain('s3"');
  await alter(context.config.dataDir, `update sources set slug = 'bolt'`);
  expect((await context.verify()).faults.map(({ fault }) => fault)).toEqual(['source-altered', 'source-altered']);
});

it('a source is offboarded, or not, as the ledger recorded it', async () => {
  const { context } = await createOfficeWorld({}, { worker: false });
  const { dataDir } = context.config;
  await context.sources.add({ slug: 'acme' }, 'Olga');
  await context.sources.add({ slug: 'bolt' }, 'Olga');
  expect(await context.sources.offboard('bolt', { reason: null, openCases: 0 }, 'Olga')).toMatchObject({
    outcome: 'done',
  });
  const faults = async () => (await context.verify()).faults.map(({ sentence }) => sentence);
  expect(await faults()).toEqual([]);
  await alter(dataDir, `update sources set offboarded_at = '2026-11-01T00:00:00.000Z' where slug = 'acme'`);
  expect(await faults()).toEqual([expect.stringContaining('source "acme" is offboarded in the database')]);
  await alter(dataDir, `update sources set offboarded_at = null`);
  expect(await faults()).toEqual([expect.stringContaining('source "bolt" was offboarded according to the ledger')]);
});
