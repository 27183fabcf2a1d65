import { type ColumnTypes, spine } from './0001-spine.ts';
import { indexes } from './0002-indexes.ts';
import { calls } from './0003-calls.ts';
import { snapshots } from './0004-snapshots.ts';
import { offboarded } from './0005-offboarded.ts';
import { jobCounts } from './0006-job-counts.ts';
import { syncAccount } from './0007-sync-account.ts';
import { runUnreadable } from './0008-run-unreadable.ts';
import { bannerLog } from './0009-banner-log.ts';

/** All migrations in order, as statements for one of the databases. A release never changes an earlier one. */
export function migrationsFor(types: ColumnTypes): readonly (readonly string[])[] {
  return [
    spine(types),
    indexes(),
    calls(types),
    snapshots(types),
    offboarded(types),
    jobCounts(types),
    syncAccount(),
    runUnreadable(),
    bannerLog(),
  ];
}
