import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Context } from '../../src/context/context.ts';
import { chooseEntries } from '../../src/erasure/choose.ts';
import { carryOut, type ErasureDecision, type ErasureOutcome } from '../../src/erasure/erase.ts';
import { type Chosen, type ErasurePlan, planErasure } from '../../src/erasure/plan.ts';

export const decision: ErasureDecision = {
  officer: 'Olga',
  confirmedBy: null,
  reason: 'request',
  law: 'eu-gdpr',
  despite: [],
};

/** The chosen entries; throws with the reason if they could not be chosen. */
export function chosenOf(
  choice:
    | { readonly outcome: 'chosen'; readonly chosen: Chosen }
    | { readonly outcome: 'refused'; readonly problems: readonly string[] },
): Chosen {
  if (choice.outcome === 'refused') throw new Error(choice.problems.join(' '));
  return choice.chosen;
}

export const planOf = (context: Context, ...ranges: string[]): Promise<ErasurePlan> =>
  planErasure(context.erasure, chosenOf(chooseEntries(ranges)));

/** Erases entries by number. */
export async function erase(
  context: Context,
  ranges: readonly string[],
  more: Partial<ErasureDecision> = {},
): Promise<ErasureOutcome> {
  return carryOut(context.erasure, await planOf(context, ...ranges), { ...decision, ...more });
}

export async function erased(context: Context, plan: ErasurePlan, more: Partial<ErasureDecision> = {}) {
  const done = await carryOut(context.erasure, plan, { ...decision, ...more });
  if (done.outcome !== 'erased') throw new Error(done.problems.join(' '));
  return done;
}

/** The findings of every check. All three are empty if nothing is wrong. */
export async function faultsIn(context: Context) {
  const check = await context.readModels.check();
  return {
    verify: (await context.verify()).faults,
    differences: check.counts,
    rebuilt: (await context.rebuild()).counts,
  };
}
export const noFaults = { verify: [], differences: {}, rebuilt: {} };

/** Files under DATA_DIR, and files of the PostgreSQL database, that contain a text. */
export async function filesWith(context: Context, text: string): Promise<readonly string[]> {
  const found: string[] = [];
  const wanted = Buffer.from(text);
  for (const file of await readdir(context.config.dataDir, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    if ((await readFile(path)).includes(wanted)) found.push(path.slice(context.config.dataDir.length + 1));
  }
  if (context.store.engine === 'sqlite') return found;
  const { read } = context.store;
  await sql`checkpoint`.execute(read);
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    where pg_relation_filepath(c.oid) is not null and c.relkind in ('r', 'i', 't', 'm') and not c.relisshared
      and position(${wanted}::bytea in pg_read_binary_file(pg_relation_filepath(c.oid), 0, 1000000000, true)) > 0`.execute(
    read,
  );
  return [...found, ...rows.map(({ name }) => name)];
}
