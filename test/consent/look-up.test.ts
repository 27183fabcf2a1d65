import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type ConsentRecord,
  consentRecordSchema,
  consentRecordText,
  sealedText,
} from '../../reports/consent-record.ts';
import { addBannerEvidence } from '../../src/banners/evidence.ts';
import { type LookUp, lookUpConsent, type Untrusted } from '../../src/consent/look-up.ts';
import { loadConsentRecord } from '../../src/consent/record.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { createOfficeWorld, type OfficeWorld, signedIn } from '../http/office-world.ts';
import { tcString } from '../receivers/signal-strings.ts';
import { alter, bytes } from '../tampering.ts';

const DAY = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY).toISOString();
const chose = (world: OfficeWorld, id: string, days: number, consent: object, more: object = {}) =>
  world.event('consent.recorded', {
    ...{ consent_id: id, banner_id: 'bnr_1', visitor_hash: 'Visitor-7', consent },
    ...{ policy_id: 'pol_1', policy_version: '3', recorded_at: ago(days) },
    ...more,
  });

async function show(
  world: OfficeWorld,
  identifier: string,
  days: number,
  source = 'default',
): Promise<LookUp | Untrusted> {
  const asOf = await world.context.projector.catchUp();
  return lookUpConsent(world.context, { source, identifier, at: ago(days), asOf, actor: 'Olga' });
}
async function found(world: OfficeWorld, identifier: string, days: number) {
  const answer = await show(world, identifier, days);
  if (answer.outcome !== 'found') throw new Error(JSON.stringify(answer));
  return answer;
}
const states = (answer: { standing: readonly { purposes: readonly { purpose: string; state: string }[] }[] }) =>
  Object.fromEntries(answer.standing.flatMap(({ purposes }) => purposes.map(({ purpose, state }) => [purpose, state])));

async function createWorld() {
  const world = await createOfficeWorld({}, { worker: false });
  const first = await chose(world, 'c-1', 40, { analytics: true, marketing: true });
  const second = await chose(world, 'c-2', 12, { analytics: true, marketing: false });
  return { world, first, second };
}

describe('a look-up of consent', () => {
  it('answers per purpose at any time, with decision and entry, for a visitor hash or a record id', async () => {
    const { world, first, second } = await createWorld();
    const then = await found(world, 'Visitor-7', 20);
    expect(states(then)).toEqual({ analytics: 'granted', marketing: 'granted' });
    expect(then.decisions.map(({ entries }) => entries.map(({ seq }) => seq))).toEqual([[first]]);
    expect([then.total, then.later]).toEqual([2, 1]);
    const now = await found(world, 'c-1', 0);
    expect([now.by, states(now)]).toEqual(['record', { analytics: 'granted', marketing: 'withdrawn' }]);
    const [decision] = now.decisions;
    expect(decision?.entries).toMatchObject([{ seq: second, wayIn: 'webhook', signature: 'verified' }]);
    expect(decision?.policy).toMatchObject({ policyId: 'pol_1', version: '3', known: 'never-fetched' });
    expect(decision?.banner).toEqual([]);
    expect((await found(world, 'Visitor-7', 50)).standing).toEqual([]);
  });

  it('says what was known at that time if that differs', async () => {
    const { world } = await createWorld();
    // Both decisions were received today, so neither was known 20 days ago.
    expect((await found(world, 'Visitor-7', 20)).knownThen).toEqual([]);
    expect((await found(world, 'Visitor-7', 0)).knownThen).toBeNull();
  });

  it('cites the banner evidence for the time of the decision', async () => {
    const { world } = await createWorld();
    const bytes = Buffer.from('Accept all | Settings');
    const evidence = { source: 'default', actor: 'Olga', bannerId: 'bnr_1', fileName: 'b.txt', bytes, note: null };
    const added = await addBannerEvidence(world.context, { ...evidence, from: ago(50), to: ago(30) });
    await world.context.projector.catchUp();
    const seq = added.outcome === 'added' ? added.seq : 0;
    expect((await found(world, 'Visitor-7', 20)).decisions[0]?.banner).toMatchObject([{ seq }]);
    expect((await found(world, 'Visitor-7', 0)).decisions[0]?.banner).toEqual([]);
  });

  it('never reports a decision with contradictory records as granted', async () => {
    const { world } = await createWorld();
    await chose(world, 'c-2', 12, { analytics: false, marketing: false });
    const answer = await found(world, 'Visitor-7', 0);
    expect(states(answer)).toEqual({ analytics: 'disputed', marketing: 'withdrawn' });
    expect(answer.decisions[0]?.contradictions).toContain('analytics: granted / denied');
  });

  it('is recorded with a keyed hash of the person, whatever its result', async () => {
    const { world } = await createWorld();
    await found(world, 'Visitor-7', 0);
    await found(world, 'c-1', 0);
    expect(await show(world, 'somebody else', 0)).toMatchObject({ outcome: 'not-found' });
    const looked = await world.actions('consent.looked-up');
    expect(looked.map(({ actor }) => actor)).toEqual(['Olga', 'Olga', 'Olga']);
    // The same person has the same hash, whichever identifier was searched.
    expect(looked[0]?.object).toBe(looked[1]?.object);
    expect(looked[2]?.object).not.toBe(looked[0]?.object);
    expect(JSON.stringify(looked)).not.toMatch(/visitor-7/i);
  });

  it('finds a person by e-mail address once the source’s recipe is configured, with records in any form', async () => {
    const { world } = await createWorld();
    const salt = 'pepper';
    const hash = createHash('sha256').update(`${salt}ada@example.org`).digest('hex');
    const seq = await chose(world, 'c-9', 3, { analytics: true }, { visitor_hash: `sha256:${hash}` });
    const subjectRecipe = { algorithm: 'sha256', salt, normalise: 'trim-lowercase' } as const;
    const options = sourceOptionsSchema.parse({ subjectRecipe });
    expect(await world.context.sources.change('default', { options }, 'Olga')).toMatchObject({ outcome: 'done' });
    const answer = await found(world, ' Ada@Example.org ', 0);
    expect([answer.by, states(answer)]).toEqual(['email', { analytics: 'granted' }]);
    expect(answer.decisions.flatMap(({ entries }) => entries.map((entry) => entry.seq))).toEqual([seq]);
    expect(await show(world, 'eve@example.org', 0)).toMatchObject({ outcome: 'not-found', by: 'email' });
  });

  it('reports a decision as disputed if another of its records names another person', async () => {
    const { world } = await createWorld();
    await chose(world, 'c-2', 12, { analytics: true, marketing: false }, { visitor_hash: 'Visitor-8' });
    expect(states(await found(world, 'Visitor-7', 0))).toEqual({ analytics: 'disputed', marketing: 'withdrawn' });
  });

  it('says what accompanied a decision, and where it contradicts it', async () => {
    const { world } = await createWorld();
    const [first] = (await found(world, 'Visitor-7', 20)).decisions;
    expect(first?.signals).toBeNull();
    await chose(world, 'c-3', 5, { analytics: true, marketing: true }, { tc_string: tcString(), gpp: 'DBABLA~!' });
    const [decision] = (await found(world, 'Visitor-7', 0)).decisions;
    expect(decision?.signals?.decoded).toMatchObject({
      tcf: { purposes: { consent: [] }, vendors: { disclosed: { count: 3 } } },
      gpp: { sections: [{ content: { damaged: expect.any(String) as string } }] },
    });
    expect(decision).toMatchObject({
      disputed: true,
      contradictions: ['within one record: the TC string has no consent for any purpose'],
    });
    const officer = await signedIn(world);
    const at = new Date().toISOString().slice(0, 16);
    const page = await officer.post('/consent', { identifier: 'c-3', source: 'default', at });
    const text = page.text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    for (const said of [
      'within one record: the TC string has no consent for any purpose',
      'TC string TCF 2.3, policy version 5',
      'consent to no purpose',
      '3 disclosed',
      'could not be decoded: it is empty or contains characters',
    ])
      expect(text).toContain(said);
  });

  it('refuses a future time, an unknown source, and an e-mail address without a known recipe', async () => {
    const { world } = await createWorld();
    expect(await show(world, 'Visitor-7', -1)).toMatchObject({ problems: ['The time is in the future.'] });
    expect(await show(world, 'Visitor-7', 0, 'nobody')).toMatchObject({
      problems: ['Unknown source nobody: see `consent-ledger source list`.'],
    });
    const byMail = await show(world, 'ada@example.org', 0);
    expect(JSON.stringify(byMail)).toContain('is not configured');
    expect(await world.actions('consent.looked-up')).toEqual([]);
  });
});

it('a look-up is refused if it would be based on an altered entry, and names that entry', async () => {
  const { world, first, second } = await createWorld();
  const { dataDir } = world.context.config;
  await alter(dataDir, `update entries set body = ${bytes('{}')} where seq = ${first}`);
  const problem = expect.stringContaining(
    `Entry ${first} cannot be relied on: its body is not what was appended`,
  ) as string;
  expect(await show(world, 'Visitor-7', 20)).toEqual({ outcome: 'untrusted', problem });
  const asOf = await world.context.projector.catchUp();
  const request = { source: 'default', id: String(second), actor: 'Olga', asOf, profile: null, checkpoint: null };
  expect(await loadConsentRecord(world.context, request)).toEqual({ outcome: 'untrusted', problem });
  const visitor = await signedIn(world);
  const page = await visitor.post('/consent', { identifier: 'Visitor-7', source: 'default', at: '2026-01-01T00:00' });
  expect([page.status, page.text]).toEqual([409, expect.stringContaining(`Entry ${first} cannot be relied on`)]);
});

describe('a decision as a consent record (ISO/IEC TS 27560)', () => {
  async function recordOf(world: OfficeWorld, id: string) {
    const asOf = await world.context.projector.catchUp();
    const profile = await world.context.loadProfile(null);
    const request = { source: 'default', id, actor: 'Olga', asOf, profile, checkpoint: null };
    const answer = await loadConsentRecord(world.context, request);
    if (answer.outcome !== 'found') throw new Error(JSON.stringify(answer));
    return answer.record;
  }

  it('has every field of the standard, says what is unknown, and cites the commitment of its entry', async () => {
    const { world, second } = await createWorld();
    const record = await recordOf(world, 'c-2');
    expect(consentRecordSchema.parse(record)).toEqual(record);
    expect(record.header).toEqual({
      schema_version: { not_known: expect.stringMatching(/^not claimed: .* lacks .*storage location/) as string },
      record_id: 'r:c-2',
      record_identifier: 'urn:consent-ledger:default:r%3Ac-2',
      pii_principal_id: {
        '@id': 'urn:consent-ledger:default:r%3Ac-2#data-subject',
        '@type': 'dpv:DataSubject',
        identifier: 'Visitor-7',
      },
    });
    const titleOf = (id: string) => id.split('#purpose:')[1];
    expect(
      record.processing.purposes.map(({ purpose, event_state }) => [titleOf(purpose['@id']), event_state]),
    ).toEqual([
      ['analytics', 'dpv:ConsentGiven'],
      ['marketing', 'dpv:ConsentWithdrawn'],
    ]);
    expect(record.events.map(({ event_state, purposes }) => [event_state, purposes.map(titleOf)])).toEqual([
      ['dpv:ConsentGiven', ['analytics']],
      ['dpv:ConsentWithdrawn', ['marketing']],
    ]);
    expect(record.party_identification[0]).toMatchObject({ party_name: 'Acme GmbH', '@type': 'dpv:DataController' });
    expect(record.processing.withdrawal_method).toHaveProperty('not_known');
    expect(record.evidence.banner_as_shown).toBe('not evidenced');
    const entry = await world.context.store.read
      .selectFrom('entries')
      .select('commitment')
      .where('seq', '=', second)
      .executeTakeFirstOrThrow();
    expect(record.evidence.entries).toMatchObject([
      { entry: second, commitment: entry.commitment.toString('hex'), signature: 'verified' },
    ]);
  });

  it('is found by the id of a record, decision or entry, and has the same bytes each time except its seal', async () => {
    const { world, second } = await createWorld();
    const asOf = await world.context.projector.catchUp();
    await world.context.seal();
    const [texts, seals]: [string[], ConsentRecord['evidence']['seal'][]] = [[], []];
    for (const id of ['c-2', 'r:c-2', String(second)]) {
      const request = { source: 'default', id, actor: 'Olga', asOf, profile: null, checkpoint: null };
      const answer = await loadConsentRecord(world.context, request);
      if (answer.outcome !== 'found') throw new Error(answer.outcome);
      expect(consentRecordSchema.parse(JSON.parse(consentRecordText(answer.record)))).toEqual(answer.record);
      texts.push(sealedText(answer.record, ''));
      seals.push(answer.record.evidence.seal);
    }
    expect(new Set(texts).size).toBe(1);
    expect(new Set(seals.map((seal) => seal?.salt)).size).toBe(3);
    const made = await world.actions('consent.record-sealed');
    expect(made).toHaveLength(3);
    // The entry outlives an erasure of the person, so it names no one.
    expect(JSON.stringify(made)).not.toMatch(/visitor-7|c-2|Olga/i);
    const none = { source: 'default', id: 'c-9', actor: 'Olga', asOf, profile: null, checkpoint: null };
    expect(await loadConsentRecord(world.context, none)).toEqual({ outcome: 'not-found' });
  });

  it('says in words what accompanied it: purposes by their published names, damaged strings with the reason', async () => {
    const { world } = await createWorld();
    expect((await recordOf(world, 'c-2')).evidence).not.toHaveProperty('signals_say');
    const tcf = tcString({ consent: [1] });
    await chose(world, 'c-3', 5, { analytics: false }, { tc_string: tcf, us_privacy: '1YN', addtl_consent: '1~7' });
    const record = await recordOf(world, 'c-3');
    expect(consentRecordSchema.parse(record)).toEqual(record);
    const { signals, signals_say: say = [], signals_contradict: contradict } = record.evidence;
    expect(signals).toEqual({ addtl_consent: '1~7', tcf, us_privacy: '1YN' });
    expect(say.map(({ signal }) => signal)).toEqual(['tcf', 'us_privacy', 'addtl_consent']);
    expect(say[0]?.says).toContain('consent: 1 Store and/or access information on a device');
    expect(say[0]?.says[0]).toContain('created 2026-01-05T00:00:00.000Z');
    expect(say[1]?.says).toEqual(['could not be decoded: it is not a digit followed by three of Y, N and -']);
    expect(contradict).toEqual(['the TC string has consent for purpose 1; the record refuses it']);
  });

  it('says for a disputed decision that the consent is unknown, and for which purposes', async () => {
    const { world } = await createWorld();
    await chose(world, 'c-2', 12, { analytics: false, marketing: false });
    const { evidence, events } = await recordOf(world, 'c-2');
    expect([evidence.disputed, evidence.disputed_purposes]).toEqual([true, ['analytics']]);
    expect(events.map(({ event_state }) => event_state)).toContain('dpv:ConsentUnknown');
    expect(events.map(({ event_state }) => event_state)).not.toContain('dpv:ConsentGiven');
  });
});
