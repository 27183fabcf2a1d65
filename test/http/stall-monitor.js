// Loaded into a server with `--import`: writes every stretch in which its event loop ran without pause to the file STALLS.
import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** CPU time of this thread in milliseconds, which a busy machine does not lengthen as it does the time of the clock. */
const spent = () => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6;

if (isMainThread && process.env.STALLS !== undefined) {
  let before = spent();
  const tick = () => {
    const now = spent();
    if (now - before > 20) appendFileSync(process.env.STALLS, `${(now - before).toFixed(1)}\n`);
    before = spent();
  };
  setInterval(tick, 4).unref();
}
