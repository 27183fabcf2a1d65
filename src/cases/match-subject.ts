import { isSharedMailbox, type SubjectRecipe, subjectForms, subjectOfEmail } from '../core/subject.ts';
import type { CaseRow } from './fold.ts';
import { parseFolded } from './folded.ts';
import type { CaseReading } from './view.ts';

/**
 * How the requester was found in the consent records. from-device: the person sent an id read from their own browser.
 * computed: the e-mail address hashed by the source's recipe. shared: derived from an address that several people
 * share, never released. none: answered according to GDPR Art. 11(2).
 */
type MatchStatus = 'from-device' | 'computed' | 'shared' | 'none';

export interface Match {
  readonly status: MatchStatus;
  /** The subject in the forms used in the records; empty with `none`. */
  readonly subjects: readonly string[];
  /** Number of decisions recorded for them. */
  readonly decisions: number;
  /** An explanation for the officer. */
  readonly says: string;
  /** Nothing was searched: the request contains neither an id nor an address that gives one. */
  readonly untried?: true;
}

/** A possible subject of a case, and how it was obtained. */
interface Candidate {
  readonly subject: string;
  readonly status: Exclude<MatchStatus, 'none'>;
  readonly says: string;
}

/** Finds the recorded decisions of a case's subject, up to the entry `asOf` if given. */
export async function matchCase(
  deps: Pick<CaseReading, 'store' | 'recipeOf'>,
  row: CaseRow,
  asOf?: number,
): Promise<Match> {
  const candidates = await candidatesOf(deps, row);
  const counts = await countDecisions(deps, new Map([[row.source, formsOf(candidates)]]), asOf);
  return matchOf(row, candidates, counts.get(row.source), await deps.recipeOf(row.source));
}

/** Like {@link matchCase} for many cases, with one statement. */
export async function matchCases(
  deps: Pick<CaseReading, 'store' | 'recipeOf'>,
  rows: readonly CaseRow[],
): Promise<readonly Match[]> {
  const found = await Promise.all(rows.map(async (row) => ({ row, candidates: await candidatesOf(deps, row) })));
  const bySource = new Map<string, string[]>();
  for (const { row, candidates } of found)
    bySource.set(row.source, [...(bySource.get(row.source) ?? []), ...formsOf(candidates)]);
  const counts = await countDecisions(deps, bySource);
  return Promise.all(
    found.map(async ({ row, candidates }) =>
      matchOf(row, candidates, counts.get(row.source), await deps.recipeOf(row.source)),
    ),
  );
}

function formsOf(candidates: readonly Candidate[]): readonly string[] {
  return candidates.flatMap(({ subject }) => subjectForms(subject));
}

/** The subjects to try, best first. */
async function candidatesOf(deps: Pick<CaseReading, 'recipeOf'>, row: CaseRow): Promise<readonly Candidate[]> {
  const linked = parseFolded(row.folded).match;
  const candidates: Candidate[] = [];
  if (linked !== null) {
    const words = {
      'from-device': 'the requester’s device',
      computed: 'a computed identifier',
      shared: 'a shared address',
    };
    const says = `Linked by ${linked.by}: ${words[linked.way]}.`;
    candidates.push({ subject: linked.subject, status: linked.way, says });
  } else if (row.subject !== null) {
    const says = 'The requester sent an id from their own device.';
    candidates.push({ subject: row.subject, status: 'from-device', says });
  }
  const recipe = row.requester_email === null ? null : await deps.recipeOf(row.source);
  if (row.requester_email !== null && recipe !== null) {
    const subject = subjectOfEmail(row.requester_email, recipe);
    candidates.push(
      isSharedMailbox(row.requester_email)
        ? {
            ...{ subject, status: 'shared' },
            says: 'The address looks like one shared by several people: no data is released.',
          }
        : {
            ...{ subject, status: 'computed' },
            says: 'Computed from the e-mail address with this source’s recipe.',
          },
    );
  }
  return candidates;
}

function matchOf(
  row: CaseRow,
  candidates: readonly Candidate[],
  counts: ReadonlyMap<string, number> | undefined,
  recipe: SubjectRecipe | null,
): Match {
  for (const { subject, status, says } of candidates) {
    const subjects = [...new Set(subjectForms(subject))].filter((form) => counts?.has(form)).sort();
    const decisions = subjects.reduce((total, form) => total + (counts?.get(form) ?? 0), 0);
    if (decisions > 0) return { status, subjects, decisions, says };
  }
  const tried = candidates.map(({ status }) =>
    status === 'from-device' ? 'the id from the requester’s device' : 'the subject computed from the e-mail',
  );
  const isRecipeKnown = row.requester_email !== null && recipe !== null;
  const none = { status: 'none', subjects: [], decisions: 0 } as const;
  return {
    ...none,
    says: wordsOfNoMatch(row, tried, isRecipeKnown),
    ...(candidates.length === 0 ? { untried: true } : {}),
  };
}

/** Every form that records may use for the subject of a case; empty for an address that several people share. */
export async function subjectsOfCase(deps: Pick<CaseReading, 'recipeOf'>, row: CaseRow): Promise<readonly string[]> {
  const linked = parseFolded(row.folded).match;
  const told = linked === null ? row.subject : linked.way === 'shared' ? null : linked.subject;
  const email = row.requester_email;
  const recipe = email === null || isSharedMailbox(email) ? null : await deps.recipeOf(row.source);
  const computed = email === null || recipe === null ? null : subjectOfEmail(email, recipe);
  return [told, computed].flatMap((subject) => (subject === null ? [] : subjectForms(subject)));
}

/** The number of decisions of each of these subjects, by source, that has any. */
async function countDecisions(
  deps: Pick<CaseReading, 'store'>,
  subjects: ReadonlyMap<string, readonly string[]>,
  asOf?: number,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const counts = new Map<string, Map<string, number>>();
  const wanted = [...subjects].filter(([, some]) => some.length > 0);
  if (wanted.length === 0) return counts;
  let query = deps.store.read
    .selectFrom('decision_history')
    .select(['source', 'subject', (eb) => eb.fn.count('decision_id').distinct().as('decisions')])
    .where((eb) =>
      eb.or(wanted.map(([source, some]) => eb('source', '=', source).and('subject', 'in', [...new Set(some)]))),
    )
    .groupBy(['source', 'subject']);
  if (asOf !== undefined) query = query.where('seq', '<=', asOf);
  for (const { source, subject, decisions } of await query.execute()) {
    const ofSource = counts.get(source) ?? new Map<string, number>();
    counts.set(source, ofSource.set(subject ?? '', Number(decisions)));
  }
  return counts;
}

function wordsOfNoMatch(row: CaseRow, tried: readonly string[], recipeKnown: boolean): string {
  if (tried.length > 0) return `No consent record matches ${tried.join(' or ')}.`;
  if (row.requester_email !== null && !recipeKnown) {
    return 'The request has an e-mail address, but the hash recipe of this source is not configured; ask for the id from the device.';
  }
  return 'The request has nothing to search for; ask for the id from the device.';
}
