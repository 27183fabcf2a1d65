import { sql } from 'kysely';
import type { Query } from '../store.ts';

/** A withdrawal by request, and a banner on which the same subject decided something before it, and which it does not cover yet. */
interface WithdrawalToExtend {
  /** The body of the entry `consent.withdrawn-by-request`; null once erased. */
  readonly body: Buffer | null;
  /** '' where the records name no banner. */
  readonly bannerId: string;
  /** Canonical JSON array of the purposes that stand there. */
  readonly stands: string;
}

/** Withdrawals by request of a source that lack a banner known by now: one row each, the earliest entry of a case first. */
export async function loadWithdrawalsToExtend(query: Query, source: string): Promise<readonly WithdrawalToExtend[]> {
  const { rows } = await sql<WithdrawalToExtend>`
    select e.body, s.banner_id as "bannerId", s.stands
    from decision_history r
    join decisions s on s.source = r.source and s.subject = r.subject
    join entries e on e.seq = r.seq
    where r.source = ${source} and r.via = 'request'
      and r.seq = (select min(f.seq) from decision_history f
        where f.source = r.source and f.subject = r.subject and f.via = 'request' and f.case_id = r.case_id)
      and not exists (select 1 from decision_history k
        where k.source = r.source and k.subject = r.subject and k.via = 'request' and k.case_id = r.case_id
          and coalesce(k.banner_id, '') = s.banner_id)
      and exists (select 1 from decision_history k
        where k.source = r.source and k.subject = r.subject and k.via <> 'request' and k.at <= r.at
          and coalesce(k.banner_id, '') = s.banner_id)
    order by r.seq, s.banner_id`.execute(query);
  return rows;
}
