import { describe, expect, it } from 'vitest';
import { createOfficeWorld, createVisitor, signedIn } from './office-world.ts';

const asked = (more: Record<string, string>) =>
  `/deadline?${new URLSearchParams({ kind: 'access', received: '2026-11-25', country: 'DE', region: 'BE', ...more }).toString()}`;

describe('the deadline calculator', () => {
  it('starts with the installation’s controller and computes nothing until asked', async () => {
    const olga = await signedIn(await createOfficeWorld());
    const page = await olga.get('/deadline');
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/<option value="DE" selected[^>]*>/);
    expect(page.text).not.toContain('id="answer"');
  });

  it('shows every applicable law, and the deciding one', async () => {
    const olga = await signedIn(await createOfficeWorld());
    const { text } = await olga.get(asked({ place: 'US-VA' }));
    expect(text).toContain('datetime="2026-12-28"');
    expect(text).toContain('Christmas Day');
    expect(text).toContain('State privacy acts with 45 days (US)');
    expect(text.match(/>decides</g)).toHaveLength(1);
  });

  it('takes later events into account', async () => {
    const olga = await signedIn(await createOfficeWorld());
    const uk = { received: '2026-03-20', place: 'GB', country: 'GB', region: 'ENG' };
    const { text } = await olga.get(
      asked({ ...uk, clarificationAsked: '2026-03-28', clarificationReceived: '2026-04-02' }),
    );
    expect(text).toContain('datetime="2026-04-27"');
    expect(text).toContain('clock stopped');
  });

  it('says which law is not recorded, alone and beside the date of another', async () => {
    const olga = await signedIn(await createOfficeWorld());
    const words = 'the law of Mongolia is not recorded here; it may set';
    expect((await olga.get(asked({ place: 'MN', country: 'MN', region: '' }))).text).toContain(
      `no date computed: ${words} one`,
    );
    expect((await olga.get(asked({ place: 'MN' }))).text).toContain(`${words} an earlier date`);
  });

  it('explains what cannot be computed, and keeps the input', async () => {
    const olga = await signedIn(await createOfficeWorld());
    const page = await olga.get(asked({ region: '<b>"Bavaria"</b>', received: '2026-02-30' }));
    expect(page.status).toBe(422);
    expect(page.text).toContain('Invalid date &quot;2026-02-30&quot;');
    expect(page.text).toContain('Unknown region');
    expect(page.text).not.toContain('<b>"Bavaria"');
  });

  it('is for officers only', async () => {
    const world = await createOfficeWorld();
    const { status, text } = await createVisitor(world.adminUrl).get('/deadline');
    expect([status === 200, text.includes('Deadline calculator')]).toEqual([false, false]);
  });
});
