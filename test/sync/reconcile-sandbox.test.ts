import { describe, expect, it, onTestFinished } from 'vitest';
import { verifySignature } from '../../receivers/signature-node.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { readers } from '../../src/projections/projection.ts';
import { createProjector } from '../../src/projections/run.ts';
import { createHistory } from '../../src/store/queries/history.ts';
import { allRows, NOON, withSandbox } from '../sandbox/sandbox-world.ts';
import { temporaryLedger } from '../temporary.ts';

const options = sourceOptionsSchema.parse({});

describe('reconciling the sandbox, which withholds and contradicts on purpose', () => {
  // `terse` has times to the second and no policies, `nested` shifts times by an offset.
  it.each(['plain', 'enveloped', 'nested', 'terse'] as const)(
    'finds exactly the lost and the contradicting decisions, in the dialect %s',
    async (dialect) =>
      withSandbox({ dialect, consentRows: 400, clients: 1 }, async (sandbox) => {
        const client = sandbox.clients[0] ?? expect.fail('no client');
        const { store, ledger } = await temporaryLedger();
        const receivedAt = NOON.toISOString();
        const secrets = [{ id: 's', value: client.webhookSecret }];
        const [traffic] = await sandbox.playTraffic({
          deliver: async ({ headers, body }) => {
            const lower = Object.fromEntries(
              Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
            );
            const verdict = verifySignature({ headers: lower, rawBody: body, secrets });
            if (verdict.outcome !== 'verified') return { outcome: 'refused' };
            await appendDelivery(
              ledger,
              { source: 'acme', rawBody: body, headers: lower, secretId: 's', verdict: 'verified', contentType: null },
              receivedAt,
            );
            return { outcome: 'accepted' };
          },
        });
        const rows = await allRows(sandbox, client.apiKey);
        const entries = rows.map((row) => {
          const body = Buffer.from(JSON.stringify(row));
          const meta = canonicalJson({ bannerId: null });
          return { source: 'acme', kind: 'consent-log' as const, dedupeKey: sha256(body), receivedAt, meta, body };
        });
        for (let next = 0; next < entries.length; next += 200) await ledger.append(entries.slice(next, next + 200));
        const projector = createProjector({
          store,
          read: readers,
          optionsUpTo: async () => ({ of: () => options, rereadAt: 0 }),
        });
        onTestFinished(() => projector.close());
        const asOf = await projector.catchUp();
        const history = createHistory(store.read);
        const period = { source: 'acme', asOf, from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };
        const found = async (finding: 'only-webhook' | 'only-pulled' | 'conflicting') => {
          const ids: string[] = [];
          for await (const { decisionId } of history.reconciledDecisions(period, finding)) ids.push(decisionId);
          return ids.sort();
        };
        const { lost, conflicts, oldSecret } = traffic?.faults ?? expect.fail('nothing was played');
        expect(lost.length * conflicts.length * oldSecret.length).toBeGreaterThan(0);
        const undelivered = [...lost, ...oldSecret].map((id) => `r:${id}`).sort();
        expect(await found('only-pulled')).toEqual(undelivered);
        expect(await found('only-webhook')).toEqual([]);
        expect(await found('conflicting')).toEqual(conflicts.map((id) => `r:${id}`).sort());
        const byBanner = await history.reconciliationByBanner(period);
        const sum = (read: (counts: (typeof byBanner)[number]) => number) =>
          byBanner.reduce((total, counts) => total + read(counts), 0);
        expect(sum(({ decisions }) => decisions)).toBe(rows.length);
        expect(sum(({ both }) => both)).toBe(rows.length - undelivered.length);
        expect(sum(({ onlyPulled }) => onlyPulled)).toBe(undelivered.length);
        expect(sum(({ conflicting }) => conflicting)).toBe(conflicts.length);
        expect(sum(({ onlyWebhook, unmatchablePulled }) => onlyWebhook + unmatchablePulled)).toBe(0);
        const { longest } = await history.undelivered(period, 1000);
        expect(longest.reduce((sum, { decisions }) => sum + decisions, 0)).toBe(undelivered.length);
      }),
  );
});
