import { integrationsOf, policyTimeline, requestsOf, scansOf, timelineId, type Window } from './calendar.ts';
import type { SandboxClient } from './clients.ts';
import { type ConsentLog, createConsentLog } from './consent-log.ts';
import { createDecisions, type Decisions, type PolicyAt } from './decisions.ts';
import type { Happening, PolicyHappening } from './happenings.ts';
import { createPolicyShelf, type PolicyShelf } from './policies.ts';
import type { Quota } from './quota.ts';
import { createRhythm, type Rhythm } from './rhythm.ts';

/** Everything that happens to one client within the window. */
export interface World {
  readonly client: SandboxClient;
  readonly window: Window;
  readonly rhythm: Rhythm;
  readonly decisions: Decisions;
  readonly log: ConsentLog;
  readonly shelf: PolicyShelf;
  /** All but the decisions, in order of time. */
  readonly events: readonly Happening[];
}

interface WorldOptions {
  readonly client: SandboxClient;
  /** Position among the sandbox's clients, from 0. */
  readonly position: number;
  readonly window: Window;
  readonly rows: number;
  readonly quota: Quota;
  /** How late a row appears in the consent log, milliseconds. */
  readonly rowDelay: (index: number) => number;
  /** How many decisions made while the sandbox runs are kept. */
  readonly keep: number;
}

/** Builds the world of one client. It costs a few hundred bytes, however many rows there are. */
export function createWorld({ client, position, window, rows, quota, rowDelay, keep }: WorldOptions): World {
  const timeline = policyTimeline(client, window);
  const span = window.end.getTime() - window.start.getTime();
  // Visitors come once the first policies are out.
  const rhythm = createRhythm(
    client.seed,
    rows,
    window.start.getTime() + Math.floor(span * 0.003),
    window.end.getTime(),
  );
  const decisions = createDecisions(client, rhythm, cookiePolicyAt(client, timeline));
  const events: Happening[] = [
    ...timeline,
    ...requestsOf(client, position, window, decisions, rhythm),
    ...scansOf(client, window),
    ...integrationsOf(client, window),
  ].sort((a, b) => a.at.getTime() - b.at.getTime());
  return {
    client,
    window,
    rhythm,
    decisions,
    log: createConsentLog(client, decisions, rhythm, rowDelay, keep),
    shelf: createPolicyShelf(client, timeline, quota),
    events,
  };
}

/** The cookie policy that was out at a moment. */
function cookiePolicyAt(client: SandboxClient, timeline: readonly PolicyHappening[]): PolicyAt {
  const id = timelineId(client, 'cookie-policy');
  const published = timeline.filter((happening) => happening.policyId === id && happening.event === 'policy.published');
  return (at) => {
    const current = published.findLast((happening) => happening.at <= at);
    return current === undefined ? null : { id, version: current.version };
  };
}
