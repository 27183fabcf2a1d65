import { OPEN_AGAIN } from '../core/finding.ts';
import { joinKey } from './columns.ts';
import { type Projection, type Row, replaceIn } from './projection.ts';

/** What officers concluded about findings: the last conclusion about each. */
export const settledFindings: Projection = {
  name: 'settled-findings',
  tables: ['settled_findings'],
  async fold(_state, batch) {
    const rows = new Map<string, Row<'settled_findings'>>();
    for (const { action, seq, source } of batch) {
      if (action?.action !== 'finding.settled') continue;
      const { kind, key, conclusion, until = null, upTo } = action;
      rows.set(joinKey(source, kind, key), {
        ...{ source, kind, finding_key: key, conclusion, until },
        up_to: conclusion === OPEN_AGAIN ? 0 : upTo,
        seq,
      });
    }
    return rows.size === 0 ? [] : [replaceIn('settled_findings', [...rows.values()])];
  },
};
