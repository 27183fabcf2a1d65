import { listCases } from '../cases/list-cases.ts';
import type { Context } from '../context.ts';
import type { OffboardDeps } from '../sources/offboard.ts';

/** What letting a source go works with, of this installation. */
export function offboardDepsOf(
  context: Pick<Context, 'store' | 'sources' | 'rejected' | 'jobs' | 'projector' | 'clock' | 'cases' | 'seal'>,
): OffboardDeps {
  const { store, sources, rejected, jobs, projector, clock, cases } = context;
  return {
    ...{ store, sources, rejected, jobs },
    catchUp: () => projector.catchUp(),
    openCases: async (source) => {
      const open = await listCases(cases, { open: true, source, now: clock().toISOString() });
      return open.map(({ row }) => row.case_id);
    },
    seal: () => context.seal(),
    compact: () => store.compact(),
  };
}
