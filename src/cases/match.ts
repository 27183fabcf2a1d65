import { isSharedMailbox, subjectForms, subjectOfEmail } from '../core/subject.ts';
import type { CaseReading } from './view.ts';
import type { CaseRow } from './fold.ts';
import { parseFolded } from './folded.ts';

/**
 * How the requester was found in the consent records.
 * from-device: the person read an id from the own browser and sent it. computed: the e-mail hashed by the source's recipe.
 * shared: derived from an address that several people share, never released. none: answered as GDPR Art. 11(2) has it.
 */
type MatchStatus = 'from-device' | 'computed' | 'shared' | 'none';

export interface Match {
  readonly status: MatchStatus;
  /** The subject in the forms in which the records hold it; empty with `none`. */
  readonly subjects: readonly string[];
  /** Distinct decisions recorded for them. */
  readonly decisions: number;
  /** In words, for the officer. */
  readonly says: string;
}

/** Finds the recorded decisions of a case's subject, up to the entry `asOf` where one is given. */
export async function matchCase(
  deps: Pick<CaseReading, 'store' | 'recipeOf'>,
  row: CaseRow,
  asOf?: number,
): Promise<Match> {
  const linked = parseFolded(row.folded).match;
  const tried: string[] = [];
  const attempt = async (
    subject: string,
    status: Exclude<MatchStatus, 'none'>,
    says: string,
  ): Promise<Match | null> => {
    const found = await findDecisions(deps, row.source, subjectForms(subject), asOf);
    if (found.decisions > 0) return { status, ...found, says };
    tried.push(
      status === 'from-device' ? 'the id from the requester’s device' : 'the subject computed from the e-mail',
    );
    return null;
  };

  if (linked !== null) {
    const words = {
      'from-device': 'the requester’s device',
      computed: 'a computed identifier',
      shared: 'a shared address',
    };
    const found = await attempt(linked.subject, linked.way, `Linked by ${linked.by}: ${words[linked.way]}.`);
    if (found !== null) return found;
  } else if (row.subject !== null) {
    const found = await attempt(row.subject, 'from-device', 'The requester sent an id from their own device.');
    if (found !== null) return found;
  }

  const recipe = row.requester_email === null ? null : await deps.recipeOf(row.source);
  if (row.requester_email !== null && recipe !== null) {
    const subject = subjectOfEmail(row.requester_email, recipe);
    const found = isSharedMailbox(row.requester_email)
      ? await attempt(subject, 'shared', 'The address looks like one shared by several people: no data is released.')
      : await attempt(subject, 'computed', 'Computed from the e-mail address with this source’s recipe.');
    if (found !== null) return found;
  }
  return { status: 'none', subjects: [], decisions: 0, says: wordsOfNoMatch(row, tried, recipe !== null) };
}

/** Every form in which records may name the subject of a case; none of an address that several people share. */
export async function subjectsOfCase(deps: Pick<CaseReading, 'recipeOf'>, row: CaseRow): Promise<readonly string[]> {
  const linked = parseFolded(row.folded).match;
  const told = linked === null ? row.subject : linked.way === 'shared' ? null : linked.subject;
  const email = row.requester_email;
  const recipe = email === null || isSharedMailbox(email) ? null : await deps.recipeOf(row.source);
  const computed = email === null || recipe === null ? null : subjectOfEmail(email, recipe);
  return [told, computed].flatMap((subject) => (subject === null ? [] : subjectForms(subject)));
}

async function findDecisions(
  deps: Pick<CaseReading, 'store'>,
  source: string,
  forms: readonly string[],
  asOf: number | undefined,
): Promise<{ subjects: readonly string[]; decisions: number }> {
  let query = deps.store.read
    .selectFrom('decision_history')
    .select(['subject', (eb) => eb.fn.count('decision_id').distinct().as('decisions')])
    .where('source', '=', source)
    .where('subject', 'in', [...forms])
    .groupBy('subject')
    .orderBy('subject');
  if (asOf !== undefined) query = query.where('seq', '<=', asOf);
  const rows = await query.execute();
  return {
    subjects: rows.map((row) => row.subject).filter((subject) => subject !== null),
    decisions: rows.reduce((total, row) => total + Number(row.decisions), 0),
  };
}

function wordsOfNoMatch(row: CaseRow, tried: readonly string[], recipeKnown: boolean): string {
  if (tried.length > 0) return `No consent record matches ${tried.join(' or ')}.`;
  if (row.requester_email !== null && !recipeKnown) {
    return 'The request has an e-mail address, but the hash recipe of this source is not configured; ask for the id from the device.';
  }
  return 'The request has nothing to search for; ask for the id from the device.';
}
