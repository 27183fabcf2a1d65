#!/usr/bin/env bash
# croner 11.0.1 and cron-parser 5.10.6 (which BullMQ's schedulers use), in Europe/Berlin. Expected: adding an hour to a daily time (`30 2 * * *` to `30 2,14 * * *`) adds one run a day and changes nothing else.
# Seen: in croner the night run of the list comes twice when clocks go back and not at all when they go forward, while that of `30 2 * * *` comes once on both days. In cron-parser both expressions
# run once on both days, so the two libraries disagree on what one schedule means. A backup or an audit "at 2:30 and 14:30" is missing once a year in one of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund --no-package-lock croner@11.0.1 cron-parser@5.10.6
cat >check.mjs <<'JS'
import assert from 'node:assert/strict';
import { Cron } from 'croner';
import { CronExpressionParser } from 'cron-parser';
const timezone = 'Europe/Berlin';
/** Runs of a schedule before 9:00 UTC on the day that begins after a time, as hours and minutes UTC. */
const nights = {
  croner(expression, from, day) {
    const cron = new Cron(expression, { timezone, paused: true });
    const runs = cron.nextRuns(6, new Date(from));
    return runs.map((run) => run.toISOString()).filter((run) => run.startsWith(day) && run < `${day}T09`);
  },
  'cron-parser'(expression, from, day) {
    const schedule = CronExpressionParser.parse(expression, { tz: timezone, currentDate: new Date(from) });
    const runs = Array.from({ length: 6 }, () => schedule.next().toDate().toISOString());
    return runs.filter((run) => run.startsWith(day) && run < `${day}T09`);
  },
};
const seen = {};
for (const library of Object.keys(nights))
  for (const expression of ['30 2 * * *', '30 2,14 * * *'])
    seen[`${library} ${expression}`] = {
      back: nights[library](expression, '2026-10-24T13:00:00Z', '2026-10-25').length,
      forward: nights[library](expression, '2026-03-28T14:00:00Z', '2026-03-29').length,
    };
console.log('night runs when clocks go back and forward', seen);
assert.deepEqual(seen, {
  'croner 30 2 * * *': { back: 1, forward: 1 },
  'croner 30 2,14 * * *': { back: 2, forward: 0 },
  'cron-parser 30 2 * * *': { back: 1, forward: 1 },
  'cron-parser 30 2,14 * * *': { back: 1, forward: 1 },
});
JS
node check.mjs
