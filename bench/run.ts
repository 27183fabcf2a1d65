import { benchAudit } from './audit.ts';
import { benchFailOver } from './fail-over.ts';
import { type Figure, report } from './figures.ts';
import { benchJobs } from './jobs.ts';
import { benchPages } from './pages.ts';
import { benchReceive } from './receive.ts';
import { benchReceivePostgres } from './receive-postgres.ts';
import { benchSandbox } from './sandbox.ts';
import { benchSimulate } from './simulate.ts';
import { benchSync } from './sync.ts';
import { benchSyncs } from './syncs.ts';
import { benchVerify } from './verify.ts';

/** `npm run bench [-- name …]`: each figure with its baseline, measured in the same run. */
const benches: Record<string, (scale: number) => Promise<Figure[]>> = {
  receive: benchReceive,
  'receive-postgres': benchReceivePostgres,
  sandbox: benchSandbox,
  sync: benchSync,
  syncs: benchSyncs,
  audit: benchAudit,
  verify: benchVerify,
  jobs: benchJobs,
  'fail-over': benchFailOver,
  pages: benchPages,
  simulate: benchSimulate,
};

const scale = Number(process.env.BENCH_SCALE ?? 1);
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`Unknown benchmark: ${unknown.join(', ')}. Available: ${Object.keys(benches).join(', ')}.`);
  process.exitCode = 2;
} else {
  for (const [name, bench] of Object.entries(benches)) {
    if (names.length > 0 && !names.includes(name)) continue;
    report(`${name}:`);
    for (const figure of await bench(scale)) {
      const ratio = figure.ratio === null ? '' : figure.ratio.toFixed(2);
      const verdict = figure.reached === null ? '' : figure.reached ? '✓' : '✗';
      console.log([figure.name, figure.value, figure.baseline, `ratio ${ratio}`, figure.wanted, verdict].join(' | '));
    }
  }
}
