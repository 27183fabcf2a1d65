import { actionSchema } from '../../core/action.ts';
import { type RecordedOptions, recordOfOptions, sourceOptionsSchema } from '../../core/source.ts';
import { INSTALLATION } from '../../core/vocabulary.ts';
import { canonicalJson } from '../../crypto/canonical.ts';
import type { Entry } from '../../crypto/entry.ts';
import { dedupeKeyOf } from '../../crypto/keys.ts';
import { entryFromRow } from '../read-entries.ts';
import type { Checking, Run } from './check-types.ts';
import { diagnoseEntry } from './entry-fault.ts';

/** The options of each source as recorded in the ledger: the last record, and those appended while the ledger was being read. */
type Recorded = Map<string, (RecordedOptions | undefined)[]>;

/** Whether each source is offboarded, as recorded; two values if that changed while the ledger was being read. */
type Offboarded = Map<string, boolean[]>;

/**
 * Compares the table of sources with the entries about each source. A source without a record must have the defaults;
 * one whose last record comes from a version that recorded no options is skipped.
 */
export function beginSources({ store, keys, highest, report }: Run): Checking {
  const recorded: Recorded = new Map();
  const offboarded: Offboarded = new Map();
  const keyOf = (...parts: string[]) => dedupeKeyOf(keys.dedupe, ...parts);

  /**
   * If a source is changed while the ledger is being read, the entry about it comes after the last one that is read.
   */
  async function takeLater(): Promise<void> {
    const later = store.read
      .selectFrom('entries')
      .selectAll()
      .where('source', '=', INSTALLATION)
      .where('seq', '>', highest);
    for (const entry of (await later.execute()).map(entryFromRow)) {
      const found = diagnoseEntry(entry, keys) === null ? recordIn(entry) : null;
      const state = found?.offboarded ?? null;
      if (found !== null && state !== null)
        offboarded.set(found.slug, [...(offboarded.get(found.slug) ?? [false]), state]);
      if (found !== null && state !== true)
        recorded.set(found.slug, [...(recorded.get(found.slug) ?? []), found.options]);
    }
  }

  return {
    entry(entry) {
      const found = recordIn(entry);
      if (found === null) return;
      if (found.offboarded !== null) offboarded.set(found.slug, [found.offboarded]);
      if (found.offboarded !== true) recorded.set(found.slug, [found.options]);
    },
    async end() {
      const rows = await store.read
        .selectFrom('sources')
        .select(['slug', 'options', 'offboarded_at'])
        .orderBy('slug')
        .execute();
      await takeLater();
      const fault = (sentence: string) => report({ seq: null, fault: 'source-altered', sentence });
      for (const { slug, options, offboarded_at: offboardedAt } of rows) {
        const isOffboarded = offboardedAt !== null;
        if (!(offboarded.get(slug) ?? [false]).includes(isOffboarded))
          fault(
            isOffboarded
              ? `source ${JSON.stringify(slug)} is offboarded in the database, so nothing is accepted or pulled, but the ledger does not record that`
              : `source ${JSON.stringify(slug)} was offboarded according to the ledger, but not in the database`,
          );
        const known = recorded.get(slug) ?? [recordOfOptions(sourceOptionsSchema.parse({}), keyOf)];
        recorded.delete(slug);
        const found = textOf(options, keyOf);
        if (known.some((one) => one === undefined || canonicalJson(one).toString('utf8') === found)) continue;
        fault(`the options of source ${JSON.stringify(slug)} in the database are not those that the ledger recorded`);
      }
      for (const slug of recorded.keys())
        fault(`source ${JSON.stringify(slug)} is in the ledger, but no longer in the table of sources`);
    },
  };
}

/** The options as the ledger would record them; null if they are invalid. */
function textOf(options: string, keyOf: (...parts: string[]) => Buffer): string | null {
  try {
    const parsed = sourceOptionsSchema.parse(JSON.parse(options));
    return canonicalJson(recordOfOptions(parsed, keyOf)).toString('utf8');
  } catch {
    return null;
  }
}

/** `offboarded`: null if the entry does not change it. */
function recordIn({
  source,
  kind,
  body,
}: Entry): { slug: string; options: RecordedOptions | undefined; offboarded: boolean | null } | null {
  if (source !== INSTALLATION || kind !== 'action' || !Buffer.isBuffer(body) || !body.includes('"source.')) return null;
  try {
    const action = actionSchema.safeParse(JSON.parse(body.toString('utf8'))).data;
    switch (action?.action) {
      case 'source.offboarded':
        return { slug: action.sourceSlug, options: undefined, offboarded: true };
      case 'source.added':
        return { slug: action.sourceSlug, options: action.options, offboarded: false };
      case 'source.changed':
      case 'source.mapping-accepted':
      case 'source.reread':
        return { slug: action.sourceSlug, options: action.options, offboarded: null };
      default:
        return null;
    }
  } catch {
    return null;
  }
}
