import { chunksOf } from '../ledger/erase.ts';
import { type Requester, readLatestRequesters } from '../store/queries/cases.ts';
import type { Query } from '../store/store.ts';
import type { CaseRow } from './fold.ts';
import { parseFolded } from './folded.ts';
import { isOpen, openStates } from './moves.ts';
import type { CaseView } from './view.ts';

/** An open case that may be the same request. */
export interface SameRequest {
  readonly caseId: string;
  /** ISO 8601 UTC. */
  readonly receivedAt: string;
  readonly channel: string;
  /** What both have in common besides the kind. */
  readonly because: 'email' | 'subject' | 'name';
}

/** Open cases of the same kind whose requester has the same e-mail address, id or name. */
export function listSame({ row, open }: CaseView, requesters: readonly Requester[]): readonly SameRequest[] {
  if (!open) return [];
  const [sameEmail, sameName] = [sameAs(row.requester_email), sameAs(row.requester_name)];
  const sameSubject = sameAs(row.subject);
  return requesters
    .flatMap(({ caseId, kind, state, receivedAt, channel, name, email, subject }) => {
      if (kind !== row.kind || caseId === row.case_id || !isOpen(state)) return [];
      const because = sameEmail(email)
        ? ('email' as const)
        : sameSubject(subject)
          ? ('subject' as const)
          : sameName(name)
            ? ('name' as const)
            : null;
      return because === null ? [] : [{ caseId, receivedAt, channel, because }];
    })
    .sort((a, b) => a.receivedAt.localeCompare(b.receivedAt) || a.caseId.localeCompare(b.caseId));
}

/** A case that another one could duplicate. */
export type PossibleOriginal = Awaited<ReturnType<typeof listOriginals>>[number];

/**
 * Cases that a case could duplicate: the open ones of its source, and those of the same requester settled since it
 * arrived. Those with the same e-mail address or name come first, then the latest received; at most `limit`.
 */
export async function listOriginals(
  read: Query,
  { view: { row }, likely: maybe }: { readonly view: Pick<CaseView, 'row'>; readonly likely: readonly Requester[] },
  limit: number,
) {
  const [sameEmail, sameName] = [sameAs(row.requester_email), sameAs(row.requester_name)];
  // Names are compared here, because SQLite ignores case only for ASCII letters.
  const likelyOnes = maybe.filter((one) => one.caseId !== row.case_id && (sameEmail(one.email) || sameName(one.name)));
  const listed = new Set([row.case_id, ...likelyOnes.map(({ caseId }) => caseId)]);
  const others = await readLatestRequesters(read, row.source, openStates, limit + listed.size);
  const originals = [
    ...likelyOnes.sort(latestFirst).map((one) => ({ ...one, isLikely: true })),
    ...others
      .filter(({ caseId }) => !listed.has(caseId))
      .slice(0, limit)
      .map((one) => ({ ...one, isLikely: false })),
  ];
  const settled = new Set<string>();
  const likely = originals.filter(({ state }) => !isOpen(state)).map(({ caseId }) => caseId);
  for (const chunk of chunksOf(likely))
    for (const { case_id: caseId, folded } of await read
      .selectFrom('cases')
      .select(['case_id', 'folded'])
      .where('case_id', 'in', chunk)
      .execute()) {
      const { duplicateOf, answer, refusal, withdrawal } = parseFolded(folded);
      const settledAt = answer?.at ?? refusal?.at ?? withdrawal?.at ?? '';
      if (duplicateOf === null && settledAt > row.receipt_at) settled.add(caseId);
    }
  return originals.filter(({ caseId, state }) => isOpen(state) || settled.has(caseId)).slice(0, limit);
}

function latestFirst(a: Requester, b: Requester): number {
  if (a.receivedAt !== b.receivedAt) return a.receivedAt > b.receivedAt ? -1 : 1;
  return a.caseId < b.caseId ? -1 : 1;
}

/** The texts used to compare the requesters of other cases with a case's requester. */
export function wantedOf({ requester_name, requester_email, subject }: CaseRow) {
  const plainOf = (text: string | null) => (text === null ? '' : plain(text));
  return {
    requester_name: plainOf(requester_name),
    requester_email: plainOf(requester_email),
    subject: plainOf(subject),
  };
}

/** Compares texts regardless of case and spaces; an empty text equals none. */
function sameAs(text: string | null): (other: string | null) => boolean {
  const wanted = text === null ? '' : plain(text);
  return (other) => wanted !== '' && other !== null && plain(other) === wanted;
}

/**
 * Compares in upper case, where `ß` is `SS` and a final sigma is like any other. ASCII texts take a faster path, since
 * thousands are compared.
 */
function plain(text: string): string {
  if (/^[ -~]*$/.test(text) && !text.includes('  ')) return text.trim().toLowerCase();
  return text.normalize('NFKC').trim().replaceAll(/\s+/g, ' ').toUpperCase().toLowerCase();
}
