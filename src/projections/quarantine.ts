import { type Projection, quarantineRows, type Row } from './projection.ts';

/** Entries that could not be read, with the reason, so that none is passed over in silence. */
export const quarantine: Projection = {
  name: 'quarantine',
  tables: ['quarantine'],
  async fold(_state, batch) {
    const rows: Row<'quarantine'>[] = [];
    for (const { seq, source, receivedAt, fault } of batch) {
      if (fault !== null) rows.push({ seq, source, event: fault.event, reason: fault.reason, received_at: receivedAt });
    }
    return rows.length === 0 ? [] : [quarantineRows(rows)];
  },
};
