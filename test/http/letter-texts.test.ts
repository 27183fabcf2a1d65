import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { gatherPack } from '../../reports/dsar-pack/gather.ts';
import { letter as letterPart } from '../../reports/dsar-pack/letter.ts';
import { draftLetter, produceLetter } from '../../src/documents/produce-letter.ts';
import { loadCaseInput } from '../../src/documents/produce-pack.ts';
import { makeMoves, OFFICER } from './hand-over-world.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

const REFUSAL = { step: 'refusal', language: 'de', source: '' };

async function createTextWorld() {
  const world = await createOfficeWorld({}, { worker: false });
  const { access } = await seedRequests(world);
  return { world, caseId: `default-${access}`, owner: await signedInAs(world, 'owner') };
}

async function draft({ context }: OfficeWorld, caseId: string, step: 'refusal' | 'acknowledgement', anonymous = false) {
  await context.projector.catchUp();
  const made = await draftLetter({ ...context.documents, cases: context.cases }, { caseId, step, anonymous });
  if (made.outcome !== 'drafted') throw new Error(made.outcome);
  return made;
}

const basedOn = (page: string) => /name="basedOn" value="(\d+)"/.exec(page)?.[1] ?? '';

describe('the controller’s own wording of a letter', () => {
  it('begins letters of this kind and language, filled in, until the standard text is chosen again', async () => {
    const { world, caseId, owner } = await createTextWorld();
    const address = '/settings/letters?step=refusal&language=de';
    const page = (await owner.get(address)).text;
    const standard = (await draft(world, caseId, 'refusal')).starts;
    const text = 'Guten Tag {name}, zu {reference} vom {received}: <b>nein</b>.\r\n\r\n- Grund: Art. 12 Abs. 5 DSGVO';
    expect(
      (await owner.post('/settings/letters', { ...REFUSAL, text, basedOn: basedOn(page), do: 'save' })).status,
    ).toBe(303);
    const own = await draft(world, caseId, 'refusal');
    expect(own.starts[0]).toContain(`Guten Tag Ada Lovelace, zu ${caseId} vom `);
    expect(own.starts.slice(1)).toEqual(standard);
    expect(own.problem).toBeNull();
    // The letter also has the content that the law requires.
    expect(JSON.stringify(own.blocks)).toContain('Aufsichtsbehörde');
    const english = await draftLetter(
      { ...world.context.documents, cases: world.context.cases },
      { caseId, step: 'refusal', language: 'en' },
    );
    expect(JSON.stringify(english)).not.toContain('Guten Tag');

    const saved = (await owner.get(address)).text;
    expect(saved).toContain('&lt;b>nein&lt;/b>');
    expect(saved).not.toContain('<b>nein');
    const back = { ...REFUSAL, text, basedOn: basedOn(saved), do: 'standard' };
    expect((await owner.post('/settings/letters', back)).status).toBe(303);
    expect((await draft(world, caseId, 'refusal')).starts).toEqual(standard);
    expect((await owner.get(address)).text).toContain('the standard text');
    expect(await world.actions('letter-text.changed')).toMatchObject([
      { actor: expect.stringContaining('(p-') as string, object: 'refusal de' },
      { object: 'refusal de' },
    ]);
    expect((await world.context.verify()).faults).toEqual([]);
    expect(await world.context.readModels.check()).toMatchObject({ counts: {}, position: null });
  });

  it('is refused with an unknown placeholder or an open brace, or if someone else has changed it since', async () => {
    const { world, owner } = await createTextWorld();
    const page = (await owner.get('/settings/letters?step=refusal&language=de')).text;
    const save = (text: string) =>
      owner.post('/settings/letters', { ...REFUSAL, text, basedOn: basedOn(page), do: 'save' });
    const wrong = await save('Dear {nmae}, {name');
    expect([wrong.status, wrong.text.includes('Unknown placeholder {nmae}')]).toEqual([422, true]);
    expect(wrong.text).toContain('A brace is not closed');
    expect((await save('One')).status).toBe(303);
    expect((await save('Two')).status).toBe(409);
    const shown = await owner.post('/settings/letters', {
      ...REFUSAL,
      text: 'Only looked at',
      basedOn: '0',
      do: 'preview',
    });
    expect([shown.status, shown.text.includes('Only looked at')]).toEqual([200, true]);
    expect(await world.actions('letter-text.changed')).toHaveLength(1);
  });

  it('is changed only by admins, for all sources or for one, which takes precedence', async () => {
    const { world, caseId, owner } = await createTextWorld();
    const place = { step: 'acknowledgement', language: 'de' };
    await owner.post('/settings/letters', { ...place, source: '', text: 'Für alle.', basedOn: '0', do: 'save' });
    expect((await draft(world, caseId, 'acknowledgement')).letter.text).toBe('Für alle.');
    const own = { ...place, source: 'default', text: 'Für diese Quelle.', basedOn: '0', do: 'save' };
    await owner.post('/settings/letters', own);
    expect((await draft(world, caseId, 'acknowledgement')).letter.text).toBe('Für diese Quelle.');
    const officer = await signedInAs(world, 'officer');
    const seen = await officer.get('/settings/letters?step=acknowledgement&language=de');
    expect(seen.text).toContain('Für alle.');
    expect(seen.text).not.toContain('value="save"');
    const forged = { ...place, source: 'default', text: 'x', basedOn: '0', do: 'save' };
    expect((await officer.post('/settings/letters', forged)).status).toBe(403);
    const elsewhere = await signedInAs(world, 'officer', { sources: ['shop'] });
    const hidden = await elsewhere.get('/settings/letters?source=default&step=acknowledgement&language=de');
    expect(hidden.text).not.toContain('Für diese Quelle.');
  });

  it('is in a letter made without a text, and stays in that letter when made again after a change', async () => {
    const { world, caseId, owner } = await createTextWorld();
    const save = (text: string, on: string) =>
      owner.post('/settings/letters', {
        step: 'acknowledgement',
        language: 'de',
        source: '',
        text,
        basedOn: on,
        do: 'save',
      });
    await save('Erster Text für {name}.', '0');
    const deps = { ...world.context.documents, cases: world.context.cases };
    const make = (asOf?: number) =>
      produceLetter(deps, {
        caseId,
        step: 'acknowledgement',
        format: 'txt',
        actor: OFFICER,
        ...(asOf === undefined ? {} : { asOf }),
      });
    const made = await make();
    if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
    expect(await readFile(made.path, 'utf8')).toContain('Erster Text für Ada Lovelace.');
    await world.context.projector.projected(made.seq);
    await save('Zweiter Text.', basedOn((await owner.get('/settings/letters?step=acknowledgement&language=de')).text));
    await makeMoves(world, caseId, [['note', { text: 'Later' }]]);
    const again = await make(made.asOf);
    if (again.outcome !== 'produced') throw new Error(JSON.stringify(again));
    expect(again.sha256).toBe(made.sha256);
    // No name is sent to an address that may belong to another person.
    expect(JSON.stringify((await draft(world, caseId, 'acknowledgement', true)).blocks)).not.toContain('Lovelace');
  });

  it('is in the letter of a pack made before a letter was written', async () => {
    const { world, caseId, owner } = await createTextWorld();
    const deps = { ...world.context.documents, cases: world.context.cases };
    const load = async () => {
      await world.context.projector.catchUp();
      const loaded = await loadCaseInput(deps, 'default', caseId, {});
      if ('outcome' in loaded) throw new Error(loaded.outcome);
      const letter = await letterPart(await gatherPack(loaded.input));
      if (letter === null) throw new Error('no letter');
      const parts = [];
      for await (const part of letter.content) parts.push(part);
      return Buffer.concat(parts).length;
    };
    const before = await load();
    const text = 'Wir danken für Ihre Anfrage {reference}.\n\n'.repeat(40);
    await owner.post('/settings/letters', {
      step: 'answer',
      language: 'de',
      source: '',
      text,
      basedOn: '0',
      do: 'save',
    });
    expect(await load()).toBeGreaterThan(before);
    const loaded = await loadCaseInput(deps, 'default', caseId, {});
    expect('outcome' in loaded ? null : loaded.input.letter?.ownAnswer).toMatchObject({ language: 'de' });
  });
});
