import { expect, it } from 'vitest';
import { createOfficeWorld, signedIn } from '../office-world.ts';
import { makeMoves, makePack, PUBLIC_URL } from '../hand-over-world.ts';
import { seedRequests } from './seed.ts';

it('names the one next step of a request, from receipt to closing, with its form and everything else behind “More”', async () => {
  const world = await createOfficeWorld({ PUBLIC_URL }, { worker: false });
  const { access, erasure } = await seedRequests(world);
  const officer = await signedIn(world);
  const look = async (seq: number) => {
    const { text } = await officer.get(`/cases/default-${seq}`);
    const [, panel = ''] = /id="moves">(.*?)<h2/s.exec(text) ?? [];
    const [first = ''] = panel.split('<summary>More</summary>');
    return {
      says: /<p>(.*?)<\/p>/.exec(first)?.[1] ?? '',
      move: /name="move" value="([^"]+)"/.exec(first)?.[1] ?? null,
      steps: [...text.matchAll(/<li class="(?:done|current)"[^>]*>([^<]+)/g)].map(([, name]) => name),
    };
  };
  const caseId = `default-${access}`;
  expect(await look(access)).toMatchObject({ move: 'start', steps: ['Received', 'Taken up'] });
  await makeMoves(world, caseId, [['start', {}]]);
  expect(await look(access)).toMatchObject({ move: 'mark-system', says: expect.stringContaining('is not marked') });
  await makeMoves(world, caseId, [['ask-identity', { doubt: 'Another address', asked: 'The customer number' }]]);
  expect(await look(access)).toMatchObject({ move: 'confirm-identity', steps: ['Received', 'Taken up', 'Identity'] });
  await makeMoves(world, caseId, [
    ['confirm-identity', { how: 'Customer number', informationAt: world.context.clock().toISOString() }],
    ['mark-system', { system: 'crm', result: 'nothing-found' }],
  ]);
  expect((await look(access)).move).toBe('mark-ready');
  await makeMoves(world, caseId, [['mark-ready', {}]]);
  expect(await look(access)).toMatchObject({ move: null, says: expect.stringContaining('Create the response pack') });
  await makePack(world, caseId);
  expect((await look(access)).move).toBe('answer');
  await makeMoves(world, caseId, [['answer', { channel: 'letter', disclosure: 'full' }]]);
  expect((await look(access)).move).toBe('close');
  await makeMoves(world, caseId, [['close', {}]]);
  expect(await look(access)).toMatchObject({ move: null, says: 'The request is closed.' });
  // A request that is not answered with a copy is answered by a letter.
  await makeMoves(world, `default-${erasure}`, [
    ['start', {}],
    ['confirm-identity', { how: 'Customer number' }],
    ['mark-system', { system: 'crm', result: 'nothing-found' }],
    ['mark-ready', {}],
  ]);
  expect((await look(erasure)).says).toContain('Write the letter');
});
