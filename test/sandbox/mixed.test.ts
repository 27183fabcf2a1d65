import { describe, expect, it, onTestFinished } from 'vitest';
import type { DecisionFact } from '../../receivers/consent.ts';
import type { Fact } from '../../receivers/index.ts';
import { decisionIdOf, type Reading, readConsentRow, readDelivery } from '../../receivers/read.ts';
import { verifySignature } from '../../receivers/signature-node.ts';
import { requestKinds } from '../../src/core/vocabulary.ts';
import { createMixed, drawChoices, openChoices, purposeOrder, purposeWords } from '../../src/sandbox/dialects/mixed.ts';
import { chooseDialect, describeDialect, renderBody } from '../../src/sandbox/dialects.ts';
import type { Choice, DecisionHappening, Happening, PurposeChoices } from '../../src/sandbox/happenings.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { createServiceClient } from '../../src/service/client.ts';
import { pullConsentLogs } from '../../src/sync/pull.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { sourceAt, syncingWith } from '../sync/syncing.ts';

const at = new Date('2026-06-30T08:15:42.000Z');
const context = { receivedAt: '2026-06-30T08:15:43.500Z', options: { fieldNames: {}, assumedOffset: '+00:00' } };
const manySeeds = Array.from({ length: 300 }, (_, seed) => seed);
const playedSeeds = Array.from({ length: 14 }, (_, seed) => seed + 1);

const stateOf: Record<Choice, string> = { accept: 'given', reject: 'refused', choose: 'given', withdraw: 'withdrawn' };
const chosen: Record<Choice, PurposeChoices> = {
  accept: { necessary: true, preferences: true, analytics: true, marketing: true },
  reject: { necessary: true, preferences: false, analytics: false, marketing: false },
  choose: { necessary: true, preferences: false, analytics: true, marketing: false },
  withdraw: { necessary: true, preferences: false, analytics: false, marketing: false },
};

function factOf<T extends Fact['type']>(reading: Reading, type: T, hint: string): Extract<Fact, { type: T }> {
  if (reading.outcome !== 'read' || reading.fact.type !== type) throw new Error(`${hint}: ${JSON.stringify(reading)}`);
  return reading.fact as Extract<Fact, { type: T }>;
}

/** Expects what a reader should find in a decision, with the seed's names for the purposes. */
function expectDecision(fact: DecisionFact, seed: number, decision: DecisionHappening): void {
  const choices = drawChoices(seed);
  const names = purposeWords[choices.purposeWords];
  const purposes = purposeOrder.flatMap((purpose, index) => {
    const granted = decision.purposes[purpose];
    // A list of granted purposes does not mention the others.
    if (!granted && choices.purposes === 'list of granted') return [];
    return [[names[index], granted ? 'granted' : 'denied']];
  });
  expect({ seed, ...fact }).toMatchObject({
    seed,
    recordId: decision.recordId,
    subject: decision.visitorHash,
    bannerId: decision.bannerId,
    state: stateOf[decision.choice],
    purposes: Object.fromEntries(purposes),
    region: decision.region,
    language: decision.language,
    policyId: decision.policyId,
  });
  expect(fact.occurred.counts, `seed ${seed}: ${JSON.stringify(fact.occurred)}`).toBe(true);
  expect(Math.floor(Date.parse(fact.occurred.at) / 1000), `seed ${seed}`).toBe(
    Math.floor(decision.at.getTime() / 1000),
  );
}

describe('the mixed dialect', () => {
  it('draws the same choices for the same seed, and every option of every choice for some seed', () => {
    expect(drawChoices(42)).toEqual(drawChoices(42));
    const drawn = manySeeds.map((seed) => drawChoices(seed));
    for (const [name, options] of Object.entries(openChoices)) {
      const found = new Set<unknown>(drawn.map((choices) => choices[name as keyof typeof choices]));
      expect(found, name).toEqual(new Set<unknown>(options));
    }
    expect(new Set(drawn.map((choices) => JSON.stringify(choices))).size).toBeGreaterThan(295);
  });

  it('draws different options for most of the seeds used below, choice by choice', () => {
    const drawn = playedSeeds.map((seed) => drawChoices(seed));
    for (const name of Object.keys(openChoices)) {
      const found = new Set<unknown>(drawn.map((choices) => choices[name as keyof typeof choices]));
      expect(found.size, name).toBeGreaterThan(1);
    }
  });

  it('reports its choices', () => {
    const rows = Object.fromEntries(describeDialect(createMixed(5)));
    expect(Object.keys(rows)).toEqual(
      expect.arrayContaining(['errors', 'list of policies', 'rate limit headers', 'names', 'times', 'delivery ids']),
    );
  });

  it('never changes the documented payload', () => {
    for (const seed of manySeeds) {
      const body = renderBody(createMixed(seed), policy('policy.published'), 'dlv_1').toString();
      expect(JSON.parse(body)).toEqual({
        event: 'policy.published',
        policy_id: 'pol_1',
        policy_type: 'privacy-policy',
        brand_name: 'Räder & Söhne',
        jurisdiction: 'DE',
        language: 'de',
        user_id: 'us_1',
        timestamp: at.toISOString(),
      });
    }
  });

  it('has its own list form, header spelling and error form, which may be set separately', () => {
    const overrides = { list: 'cursor', limitHeaders: 'none', errors: 'text' } as const;
    for (const name of ['plain', 'mixed'] as const) expect(chooseDialect(name, 3, overrides)).toMatchObject(overrides);
  });
});

function policy(event: 'policy.created' | 'policy.published' | 'policy.updated' | 'policy.deleted'): Happening {
  return {
    event,
    policyId: 'pol_1',
    policyType: 'privacy-policy',
    title: 'Privacy',
    brandName: 'Räder & Söhne',
    jurisdiction: 'DE',
    language: 'de',
    userId: 'us_1',
    version: 4,
    at,
  };
}

describe('any seed of the mixed dialect is understood', () => {
  it.each(Object.keys(chosen) as Choice[])('a decision: %s, the same by webhook and by row', (choice) => {
    for (const seed of manySeeds) {
      const dialect = createMixed(seed);
      const decision: DecisionHappening = {
        event: 'consent.recorded',
        recordId: 'rec_1',
        visitorHash: 'ab'.repeat(32),
        bannerId: 'bn_1',
        choice,
        purposes: chosen[choice],
        region: seed % 2 === 0 ? 'DE' : 'US-CA',
        language: 'de',
        policyId: 'pol_1',
        policyVersion: 3,
        domain: 'shop.example',
        expiresAt: new Date('2027-06-30T08:15:42.000Z'),
        at,
      };
      const told = factOf(readDelivery(renderBody(dialect, decision, 'dl_1'), context), 'decision', `seed ${seed}`);
      const row = Buffer.from(JSON.stringify(dialect.row(decision)));
      const pulled = factOf(readConsentRow(row, context), 'decision', `seed ${seed}`);
      for (const fact of [told, pulled]) expectDecision(fact, seed, decision);
      expect(decisionIdOf(told)).toBe(decisionIdOf(pulled));
    }
  });

  it.each(requestKinds)('a request: %s', (kind) => {
    for (const seed of manySeeds) {
      const happening: Happening = {
        event: 'dsar.submitted',
        requestId: 'rq_1',
        kind,
        name: 'Zoë García López',
        email: 'zoe@mail.example',
        visitorHash: 'cd'.repeat(32),
        jurisdiction: 'US-CA',
        language: 'en',
        message: 'Please.',
        at,
      };
      const fact = factOf(
        readDelivery(renderBody(createMixed(seed), happening, 'dl_1'), context),
        'request',
        `${seed}`,
      );
      expect({ seed, ...fact }).toMatchObject({
        seed,
        requestId: 'rq_1',
        kind,
        requesterName: 'Zoë García López',
        requesterEmail: 'zoe@mail.example',
        subject: 'cd'.repeat(32),
        jurisdiction: 'US-CA',
        language: 'en',
        message: 'Please.',
      });
      expect(fact.occurred.at).toBe(at.toISOString());
    }
  });

  it('scans, integrations and policies', () => {
    for (const seed of manySeeds) {
      const dialect = createMixed(seed);
      const read = (happening: Happening) => readDelivery(renderBody(dialect, happening, 'dl_1'), context);
      const scan = factOf(
        read({
          event: 'cookie_scan.completed',
          scanId: 'sc_1',
          domain: 'shop.example',
          pages: 40,
          cookiesFound: 21,
          trackersFound: 5,
          uncategorised: 3,
          score: 87,
          at,
        }),
        'scan',
        `seed ${seed}`,
      );
      expect({ seed, ...scan }).toMatchObject({
        seed,
        scanId: 'sc_1',
        domain: 'shop.example',
        cookiesFound: 21,
        trackersFound: 5,
        uncategorised: 3,
        score: 87,
      });
      for (const event of ['integration.connected', 'integration.disconnected'] as const) {
        const happening: Happening = { event, integrationId: 'in_1', name: 'Shopware', site: 'shop.example', at };
        const fact = factOf(read(happening), 'integration', `seed ${seed}`);
        const change = event.split('.')[1];
        expect({ seed, ...fact }).toMatchObject({ seed, integrationId: 'in_1', name: 'Shopware', change });
        expect(fact.site).toBe('shop.example');
      }
      for (const event of ['policy.created', 'policy.updated', 'policy.deleted'] as const) {
        const fact = factOf(read(policy(event)), 'policy', `seed ${seed}`);
        expect({ seed, ...fact }).toMatchObject({
          seed,
          policyId: 'pol_1',
          policyType: 'privacy-policy',
          jurisdiction: 'DE',
          language: 'de',
          version: '4',
          change: event.split('.')[1],
        });
        expect(fact.occurred.at, `seed ${seed}`).toBe(at.toISOString());
      }
    }
  });
});

describe('a whole service with a seed of the mixed dialect', () => {
  const now = new Date('2026-07-10T00:00:00.000Z');
  const ROWS = 130;

  it.each(playedSeeds)('seed %s: every webhook is read, every row pulled and read, both say the same', async (seed) => {
    const { sandbox, baseUrl } = await startSandbox({
      seed,
      clock: () => now,
      clients: 1,
      consentRows: ROWS,
      dialect: 'mixed',
    });
    onTestFinished(() => sandbox.close());
    const [{ client, decisions } = expect.fail('the sandbox has no client')] = sandbox.worlds;
    const reading = { ...context, receivedAt: now.toISOString() };
    const byId = new Map(Array.from({ length: ROWS }, (_, index) => [decisions.at(index).recordId, index]));

    const told = new Map<string, DecisionFact>();
    let others = 0;
    const [traffic] = await sandbox.playTraffic({
      deliver: async ({ note, headers, body, event }) => {
        if (note !== 'sound' && note !== 'repeat' && note !== 'late') return { outcome: 'accepted' as const };
        const verdict = verifySignature({
          headers,
          rawBody: body,
          secrets: [{ id: 'present', value: client.webhookSecret }],
        });
        expect(verdict, event).toMatchObject({ outcome: 'verified', headersAgree: true });
        const read = readDelivery(body, reading);
        expect(read.outcome, `${event}: ${body.toString()}`).toBe('read');
        if (read.outcome !== 'read') return { outcome: 'refused' as const };
        expect(read.event).toBe(event);
        if (read.fact.type === 'decision') told.set(read.fact.recordId ?? '', read.fact);
        else others += 1;
        return { outcome: 'accepted' as const };
      },
    });
    const { lost, oldSecret } = traffic!.faults;
    expect(told.size).toBe(ROWS - lost.length - oldSecret.length);
    expect(others).toBeGreaterThan(10);
    for (const [id, fact] of told) {
      const index = byId.get(id) ?? expect.fail(`seed ${seed}: no such record: ${id}`);
      expectDecision(fact, seed, decisions.at(index));
    }

    const syncing = await syncingWith(baseUrl, now);
    const service = createServiceClient({
      destinations: ON_LOOPBACK,
      baseUrl,
      apiKey: client.apiKey,
      backOffMs: 1,
      retries: 1,
      timeoutMs: 2_000,
    });
    const result = await pullConsentLogs(
      { ...syncing.deps, service },
      { source: sourceAt(baseUrl), bannerId: null, pageRows: 40, actor: 'test' },
    );
    expect(result).toMatchObject({ outcome: 'finished', rows: ROWS, stored: ROWS, malformed: 0 });
    const pulled = (await syncing.bodies()).map((body) =>
      factOf(readConsentRow(Buffer.from(body), reading), 'decision', `seed ${seed}: ${body}`),
    );
    expect(new Set(pulled.map(({ recordId }) => recordId))).toEqual(new Set(byId.keys()));
    for (const fact of pulled) {
      const index = byId.get(fact.recordId ?? '') ?? expect.fail(`seed ${seed}: ${fact.recordId}`);
      expectDecision(fact, seed, decisions.rowAt(index));
    }
  });
});
