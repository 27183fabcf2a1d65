import { sql } from 'kysely';

/** Whether a row's policy was generated or published from here, by its source. For tables with `source` and `policy_id`. */
export const isMadeHere = sql<boolean>`(source, policy_id) in
  (select source, policy_id from calls union all select source, policy_id from call_items)`;
