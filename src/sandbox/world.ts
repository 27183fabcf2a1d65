import type { RequestKind } from '../core/vocabulary.ts';
import type { SandboxClient } from './clients.ts';
import { type ConsentLog, createConsentLog } from './consent-log.ts';
import {
  createDecisions,
  createRhythm,
  type Decisions,
  drawPerson,
  type PolicyAt,
  type Rhythm,
  type Visitor,
} from './decisions.ts';
import type {
  FoundCookie,
  Happening,
  IntegrationHappening,
  PolicyHappening,
  RequestHappening,
  ScanHappening,
} from './happenings.ts';
import { deriveText } from './keys.ts';
import { createPolicyShelf, type PolicyShelf, type Quota, titleOf } from './policy-shelf.ts';
import { mix, mulberry32 } from './prng.ts';

/** Everything that happens to one client within the window. */
export interface World {
  readonly client: SandboxClient;
  readonly window: Window;
  readonly rhythm: Rhythm;
  readonly decisions: Decisions;
  readonly log: ConsentLog;
  readonly shelf: PolicyShelf;
  /** Everything except decisions, in order of time. */
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

/** Builds the world of one client. It takes a few hundred bytes, however many rows there are. */
export function createWorld({ client, position, window, rows, quota, rowDelay, keep }: WorldOptions): World {
  const timeline = policyTimeline(client, window);
  const span = window.end.getTime() - window.start.getTime();
  // Visitors come once the first policies are published.
  const rhythm = createRhythm(
    client.seed,
    rows,
    window.start.getTime() + Math.floor(span * 0.003),
    window.end.getTime(),
  );
  const decisions = createDecisions(client, rhythm, cookiePolicyAt(client, timeline));
  const events: Happening[] = [
    ...timeline,
    ...requestsOf(client, position, window, { decisions, rhythm }),
    ...scansOf(client, window),
    ...integrationsOf(client, window),
  ].sort((a, b) => a.at.getTime() - b.at.getTime());
  return {
    client,
    window,
    rhythm,
    decisions,
    log: createConsentLog(client, decisions, rhythm, { delayOf: rowDelay, keep }),
    shelf: createPolicyShelf(client, timeline, quota),
    events,
  };
}

/** The cookie policy published at a given time. */
function cookiePolicyAt(client: SandboxClient, timeline: readonly PolicyHappening[]): PolicyAt {
  const id = timelineId(client, 'cookie-policy');
  const published = timeline.filter((happening) => happening.policyId === id && happening.event === 'policy.published');
  return (at) => {
    const current = published.findLast((happening) => happening.at <= at);
    return current === undefined ? null : { id, version: current.version };
  };
}

const DAY = 86_400_000;

/** The window covered by the sandbox. */
interface Window {
  readonly start: Date;
  readonly end: Date;
}

/** The timeline of a client's policies, in order. */
function policyTimeline(client: SandboxClient, window: Window): PolicyHappening[] {
  const span = window.end.getTime() - window.start.getTime();
  const step = (slug: string, event: PolicyHappening['event'], share: number, version: number): PolicyHappening => ({
    event,
    policyId: timelineId(client, slug),
    policyType: slug,
    title: titleOf(slug),
    brandName: client.name,
    jurisdiction: client.home,
    language: client.language,
    userId: client.userId,
    version,
    at: new Date(window.start.getTime() + Math.floor(span * share)),
  });
  return [
    step('privacy-policy', 'policy.created', 0.0005, 1),
    step('cookie-policy', 'policy.created', 0.0008, 1),
    step('privacy-policy', 'policy.published', 0.0012, 1),
    step('cookie-policy', 'policy.published', 0.0015, 1),
    step('terms-of-service', 'policy.created', 0.1, 1),
    step('terms-of-service', 'policy.published', 0.102, 1),
    step('cookie-policy', 'policy.updated', 0.43, 2),
    step('cookie-policy', 'policy.published', 0.431, 2),
    step('privacy-policy', 'policy.updated', 0.71, 2),
    step('privacy-policy', 'policy.published', 0.712, 2),
    step('terms-of-service', 'policy.deleted', 0.9, 1),
  ];
}

/** The id of a policy in the timeline. */
function timelineId(client: SandboxClient, policyType: string): string {
  return `pol_${deriveText(16, client.seed, 'timeline', policyType)}`;
}

type Subject = 'device' | 'customer' | 'stranger';
type RequestPlan = readonly [
  kind: RequestKind,
  jurisdiction: string,
  language: string,
  daysBeforeEnd: number,
  subject: Subject,
  message: string,
];

/** Received 27.2 days before the end, a request has about four days of its month left: it is due soon. */
const requestPlans: readonly RequestPlan[] = [
  [
    'access',
    'DE',
    'de',
    27.2,
    'device',
    'Bitte teilen Sie mir mit, welche Einwilligungen zu meiner Besucherkennung gespeichert sind.',
  ],
  ['opt-out', 'US-CA', 'en', 6.4, 'customer', 'Do not sell or share my personal information.'],
  ['access', 'GB', 'en', 12.7, 'stranger', 'Please send me a copy of everything you hold about me.'],
  ['erasure', 'FR', 'fr', 9.3, 'customer', 'Je demande l’effacement de mes données. Merci de confirmer par écrit.'],
  ['withdraw-consent', 'NL', 'nl', 4.1, 'device', 'Ik trek mijn toestemming voor marketing in.'],
  ['portability', 'SE', 'sv', 17.6, 'customer', 'Jag vill ha mina uppgifter i ett maskinläsbart format.'],
  ['rectification', 'US-VA', 'en', 20.2, 'customer', 'My name is misspelt in your records.'],
  ['limit', 'US-CA', 'en', 2.5, 'stranger', 'Limit the use of my sensitive personal information.'],
  ['objection', 'DE', 'de', 14.9, 'device', 'Ich widerspreche der Verarbeitung zu Werbezwecken.'],
];

/** Data subject requests: the first client has the main kinds, each further one a few others. */
function requestsOf(
  client: SandboxClient,
  position: number,
  window: Window,
  { decisions, rhythm }: { readonly decisions: Decisions; readonly rhythm: Rhythm },
): RequestHappening[] {
  const span = (window.end.getTime() - window.start.getTime()) / (30 * DAY);
  const plans =
    position === 0
      ? requestPlans.slice(0, 4)
      : [1, 2, 3].map((n) => requestPlans[(position * 2 + n + 1) % requestPlans.length]);
  return plans
    .flatMap((plan, index): RequestHappening[] => {
      if (plan === undefined) return [];
      const [kind, jurisdiction, language, days, subject, message] = plan;
      const at = new Date(window.end.getTime() - Math.floor(days * DAY * span));
      const visitor =
        subject === 'stranger' ? null : findVisitor(decisions, rhythm.indexFrom(at.getTime()), subject, jurisdiction);
      const person = visitor?.person ?? drawPerson(client.seed, 900_000_000 + index);
      const visitorHash = subject === 'device' ? (visitor?.hash ?? null) : null;
      const requestId = `dsr_${deriveText(14, client.seed, 'request', index)}`;
      return [
        { event: 'dsar.submitted', requestId, kind, ...person, visitorHash, jurisdiction, language, message, at },
      ];
    })
    .sort((a, b) => a.at.getTime() - b.at.getTime());
}

/** A visitor of that kind who decided before the index; preferably a returning one from the requested jurisdiction. */
function findVisitor(decisions: Decisions, before: number, subject: Subject, region: string): Visitor | null {
  let best: { visitor: Visitor; points: number } | null = null;
  for (let index = before - 1; index >= Math.max(0, before - 2000); index -= 1) {
    const visitor = decisions.visitorAt(index);
    if ((visitor.person === null) !== (subject === 'device') || decisions.isLost(index)) continue;
    const points = (visitor.region === region ? 2 : 0) + (decisions.previousOf(index) === null ? 0 : 1);
    if (points === 3) return visitor;
    if (best === null || points > best.points) best = { visitor, points };
  }
  return best?.visitor ?? null;
}

/** A scan every seven days. */
function scansOf(client: SandboxClient, window: Window): ScanHappening[] {
  const scans: ScanHappening[] = [];
  for (let at = window.start.getTime() + 0.4 * DAY; at < window.end.getTime(); at += 7 * DAY) {
    const random = mulberry32(mix(client.seed ^ 0x7363616e, scans.length));
    const found = cookiesAt(client.domain, scans.length);
    scans.push({
      event: 'cookie_scan.completed',
      scanId: `scn_${deriveText(14, client.seed, 'scan', scans.length)}`,
      domain: client.domain,
      pages: 20 + Math.floor(random() * 60),
      ...countsOf(found),
      at: new Date(at),
    });
  }
  return scans;
}

const first = { kind: 'cookie', provider: 'own', beforeConsent: true } as const;
const third = { kind: 'tracker', beforeConsent: false } as const;

/**
 * The findings of a site's n-th scan: a tracker appears, then loads before consent, and disappears; one cookie gets its
 * category late.
 */
export function cookiesAt(domain: string, n: number): readonly FoundCookie[] {
  const week = n % 5;
  return [
    { ...first, name: 'session', category: 'necessary', domain },
    { ...first, name: 'csrf_token', category: 'necessary', domain },
    { ...first, name: 'cart', category: week < 2 ? null : 'necessary', domain },
    { ...first, name: 'lang', category: 'preferences', domain, beforeConsent: false },
    { ...third, name: '_ga', category: 'analytics', domain, provider: 'Statistics Example' },
    { ...third, name: '_gid', category: 'analytics', domain, provider: 'Statistics Example' },
    ...(week < 2
      ? []
      : [
          {
            ...third,
            ...{ name: '_fbp', category: 'marketing', domain: 'ads.example', provider: 'Ads Example' },
            beforeConsent: week > 2,
          },
        ]),
    ...(week === 1
      ? [{ ...third, name: 'chat_id', category: null, domain: 'chat.example', provider: 'Chat Example' }]
      : []),
  ];
}

/** The counts of a scan with these findings. */
export function countsOf(found: readonly FoundCookie[]) {
  const uncategorised = found.filter(({ category }) => category === null).length;
  return {
    found,
    cookiesFound: found.length,
    trackersFound: found.filter(({ kind }) => kind === 'tracker').length,
    uncategorised,
    score: 100 - uncategorised * 6,
  };
}

/** A shop is connected early; an analytics tool comes and goes. */
function integrationsOf(client: SandboxClient, window: Window): IntegrationHappening[] {
  const span = window.end.getTime() - window.start.getTime();
  const step = (event: IntegrationHappening['event'], name: string, share: number): IntegrationHappening => ({
    event,
    integrationId: `int_${deriveText(12, client.seed, 'integration', name)}`,
    name,
    site: `https://${client.domain}`,
    at: new Date(window.start.getTime() + Math.floor(span * share)),
  });
  return [
    step('integration.connected', 'shop', 0.01),
    step('integration.connected', 'analytics', 0.2),
    { ...step('integration.disconnected', 'analytics', 0.63), reason: 'The access token expired.' },
  ];
}
