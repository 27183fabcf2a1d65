import { missingProfileParts } from '../../src/law/profile.ts';
import { counted, formatCount, formatDuration, formatMonth, formatShare, formatShares } from '../format.ts';
import { type Block, fine, table } from '../render/blocks.ts';
import type { ReportInput } from '../report.ts';
import { beforeConsentSentence } from '../scan-audit.ts';
import { bannerWord, notStated, stateWord } from '../words.ts';
import type { ConsentAudit, StateCount } from './gather.ts';

/** The sections of this report, named once because the cover refers to them. */
export const sections = {
  time: '1  Decisions over time',
  completeness: '2  Completeness',
  totals: '3  Totals',
  withdrawals: '4  Withdrawals',
  policies: '5  Policy versions in force',
  standing: '6  Standing consents: expiry and version',
  scans: '7  Scans and integrations',
  access: '8  Documents, downloads and look-ups',
  glossary: '9  Glossary',
} as const;
/** Number of the first of the two sections that end every report. */
export const CHECKPOINT_SECTION = 10;

/** One page: what an authority asks, what the records answer, and in which section. */
export function* coverBlocks(audit: ConsentAudit, input: ReportInput): Generator<Block> {
  yield table({
    caption: 'What an authority asks',
    columns: [
      { title: 'Question', share: 3.6, value: ([question]) => question },
      { title: 'Answer', share: 7.4, value: ([, answer]) => answer },
      { title: 'Where', share: 1.6, value: ([, , where]) => where },
    ],
    rows: answers(audit, input),
  });
}

type Answer = readonly [question: string, answer: string, where: string];

function answers(audit: ConsentAudit, input: ReportInput): readonly Answer[] {
  const { totals, completeness, access } = audit;
  const { agreement } = completeness;
  const missing = input.profile === null ? null : missingProfileParts(input.profile).length;
  return [
    [
      'Who is the controller?',
      missing === null
        ? 'Not configured: no controller profile.'
        : missing === 0
          ? 'As stated above; the controller profile is complete.'
          : `As stated above; ${counted(missing, 'part of the controller profile is', 'parts of the controller profile are')} missing.`,
      'Page 1',
    ],
    [
      'Are the records complete?',
      agreement.pulled
        ? `${counted(agreement.gaps.length, 'gap', 'gaps')} in the pulled log; ${counted(totals.conflicts, 'record contradicts', 'records contradict')} another; ${agreement.totals.onlyPulled === 0 ? 'every known decision was delivered' : `${counted(agreement.totals.onlyPulled, 'decision was', 'decisions were')} never delivered`}.`
        : 'The consent log was not pulled: the records are based on deliveries only.',
      'Section 2',
    ],
    [
      'To what did people consent?',
      totals.decisions === 0 ? 'No decision was recorded in the period.' : purposesAnswer(audit),
      'Section 3',
    ],
    ['Who withdrew consent, and was it recorded promptly?', withdrawalsAnswer(audit), 'Section 4'],
    ['Which policy was in force?', policiesAnswer(audit), 'Section 5'],
    ['How was the banner shown?', bannersAnswer(audit), 'Section 5'],
    ['Which consents no longer hold?', standingAnswer(audit), 'Section 6'],
    ['What was set before consent?', beforeConsentSentence(audit.scans), 'Section 7'],
    [
      'What about one person?',
      audit.subjectAppendix === null
        ? 'Not in this copy; added for one subject on request (--subject).'
        : `${counted(audit.subjectAppendix.decisions.length, 'record', 'records')} of the requested subject.`,
      audit.subjectAppendix === null ? '–' : 'Appendix',
    ],
    [
      'Which requests did people make?',
      'See the separate report, the register of data subject requests.',
      'dsar-register',
    ],
    [
      'Who looked up, exported or downloaded records?',
      `${counted(access.produced, 'document', 'documents')} produced, ${counted(access.downloaded, 'download', 'downloads')}, ${counted(access.lookedUp, 'look-up', 'look-ups')} of single subjects.`,
      'Section 8',
    ],
    [
      'Has anything been changed since?',
      input.checkpoint === null
        ? 'Not sealed yet: no checkpoint covers these records.'
        : `Sealed: a signed checkpoint covers ${formatCount(input.checkpoint.size)} entries and can be verified without this program.`,
      `Section ${CHECKPOINT_SECTION}`,
    ],
    [
      'What does this not prove?',
      'Who sent the deliveries, what the service left out, and how a banner looked where no evidence of it was added.',
      `Section ${CHECKPOINT_SECTION + 1}`,
    ],
  ];
}

function purposesAnswer({ byPurpose, withoutPurposes, byState }: ConsentAudit): string {
  const shown = byPurpose.slice(0, 4).map(({ purpose, granted, refused, withdrawn }) => {
    return `${purpose}: ${formatCount(granted)} granted, ${formatCount(refused)} refused, ${formatCount(withdrawn)} withdrawn`;
  });
  if (shown.length === 0) return `${counted(withoutPurposes, 'decision names', 'decisions name')} no purpose.`;
  const more = byPurpose.length - shown.length;
  const disputed = countOf(byState, 'disputed');
  return `${shown.join('; ')}${more > 0 ? `; ${counted(more, 'more purpose', 'more purposes')}` : ''}.${
    disputed > 0 ? ` ${counted(disputed, 'decision is', 'decisions are')} disputed and not counted as granted.` : ''
  }`;
}

function withdrawalsAnswer({ withdrawals }: ConsentAudit): string {
  const { decisions, recordedWithin, withoutOwnTime, longest } = withdrawals;
  if (decisions === 0) return 'No withdrawal was recorded in the period.';
  const timed = decisions - withoutOwnTime;
  return `${counted(decisions, 'withdrawal', 'withdrawals')}; ${formatCount(recordedWithin.minute)} of ${formatCount(timed)} with a stated time recorded within a minute${
    longest === null ? '' : `, the longest after ${formatDuration(longest)}`
  }.`;
}

function policiesAnswer({ policies }: ConsentAudit): string {
  const inForce = policies.filter(({ inForceFrom }) => inForceFrom !== null);
  const ids = new Set(inForce.map(({ policyId }) => policyId));
  if (ids.size === 0)
    return policies.length === 0
      ? 'No policy was reported up to the end of the period.'
      : 'Policies were reported, but no publications.';
  return `${counted(inForce.length, 'published version', 'published versions')} of ${counted(ids.size, 'policy', 'policies')}.`;
}

function bannersAnswer({ banners }: ConsentAudit): string {
  const all = banners.evidenced + banners.notEvidenced;
  if (all === 0) return 'No decision was made on a banner in the period.';
  return `For ${formatCount(banners.evidenced)} of ${counted(all, 'decision', 'decisions')} evidence shows the banner at that time; for ${formatCount(banners.notEvidenced)} it is not evidenced.`;
}

function standingAnswer({ standing }: ConsentAudit): string {
  const sum = (read: (row: ConsentAudit['standing'][number]) => number) =>
    standing.reduce((total, row) => total + read(row), 0);
  const consents = sum((row) => row.consents);
  if (consents === 0) return 'No consent stood at the end of the period.';
  const old = sum((row) => (row.superseded ? row.consents : 0));
  return `Of ${formatCount(consents)} standing consents ${formatCount(sum((row) => row.expired))} had expired and ${formatCount(old)} were given under a superseded version.`;
}

/** Explains the terms of this report. */
export function* glossaryBlocks(): Generator<Block> {
  yield { block: 'heading', level: 1, text: sections.glossary };
  yield {
    block: 'facts',
    pairs: [
      ['Banner', 'The notice on which a visitor makes a choice; identified by the service’s id.'],
      ['Checkpoint', 'A signed statement of the number of entries in the ledger and of their common hash.'],
      [
        'Commitment',
        'A salted hash of an entry: it proves the entry while the entry is kept, and reveals nothing once it is erased.',
      ],
      ['Conflict', 'Two records of one decision that disagree.'],
      ['Decision', 'One recorded choice of one hashed subject on one banner.'],
      ['Delivery', 'One message from the service to this installation’s endpoint (webhook).'],
      ['Disputed', 'A decision whose delivery and log record disagree: never counted as granted.'],
      ['Entry', 'One immutable line of the ledger, numbered without gaps.'],
      ['Expired', 'The date until which a consent was given has passed.'],
      ['Drift', 'Differences between a scan of a site and the previous scan: new, gone or changed.'],
      ['Gap', 'A period that no finished pull of the consent log covers.'],
      ['Pull', 'Fetching the service’s consent log, to compare it with the deliveries.'],
      ['Repeat', 'A delivery that arrived again; it is counted, not recorded twice.'],
      [
        'Standing consent',
        'What a decision of a subject on a banner granted, until later decisions end it for every purpose.',
      ],
      ['Subject', 'A hashed visitor identifier as sent by the service. On its own it identifies nobody.'],
      ['Superseded', 'Given under a version of the policy that had been replaced by a newer one.'],
    ],
  };
}

/** Rows of a table on the pages; the JSON has all of them. */
export const ROWS_SHOWN = 40;

export function monthTable(audit: ConsentAudit): Block {
  return stateTable(
    'Decisions by month',
    'Month',
    audit.byMonth.map(({ month, decisions, states }) => ({ name: formatMonth(month), decisions, states })),
    audit,
  );
}

export function* totals(audit: ConsentAudit, input: ReportInput): Generator<Block> {
  const { decisions } = audit.totals;
  const stateShares = formatShares(audit.byState.map((row) => row.decisions));
  const bannerShares = formatShares(audit.byBanner.map((row) => row.decisions));
  yield {
    block: 'paragraph',
    text: 'Each decision counts once, however often it was reported: by its delivery, by the pulled log, or by both.',
  };
  yield table({
    caption: 'By purpose',
    columns: [
      { title: 'Purpose', share: 3.6, value: ({ purpose }) => purpose },
      { title: 'Granted', share: 1.6, align: 'right', value: ({ granted }) => formatCount(granted) },
      { title: 'Refused', share: 1.6, align: 'right', value: ({ refused }) => formatCount(refused) },
      { title: 'Withdrawn', share: 1.7, align: 'right', value: ({ withdrawn }) => formatCount(withdrawn) },
      { title: 'Disputed', share: 1.6, align: 'right', value: ({ disputed }) => formatCount(disputed) },
      { title: 'Standing at the end', share: 2, align: 'right', value: ({ standing }) => formatCount(standing) },
    ],
    rows: audit.byPurpose,
    empty: 'No decision of the period names a purpose that needs consent.',
  });
  yield fine(
    [
      'Withdrawn: denied after the same subject had granted it on the same banner, or stated as withdrawn. Refused: denied otherwise. Disputed: granted by a decision whose records contradict each other; what all of them deny is refused or withdrawn. Standing at the end: granted, and not expired before the end of the period.',
      audit.withoutPurposes > 0
        ? `${formatCount(audit.withoutPurposes)} ${audit.withoutPurposes === 1 ? 'decision names' : 'decisions name'} no purpose that needs consent and ${audit.withoutPurposes === 1 ? 'is' : 'are'} not in this table.`
        : '',
      audit.necessary.length > 0
        ? `Listed separately, because they need no consent: ${audit.necessary.map(({ purpose, decisions: n }) => `${purpose} (in ${formatCount(n)} decisions)`).join(', ')}.`
        : '',
    ]
      .filter(Boolean)
      .join(' '),
  );
  yield {
    block: 'table',
    caption: 'By state',
    columns: [
      { title: 'State, judged by purpose', share: 5 },
      { title: 'Decisions', share: 2, align: 'right' },
      { title: 'Share', share: 2, align: 'right' },
    ],
    rows: audit.byState.map(({ state, decisions: n }, place) => [
      stateWord(state),
      formatCount(n),
      stateShares[place] ?? '–',
    ]),
    total: ['All', formatCount(decisions), formatShare(decisions, decisions)],
    empty: 'No decisions in the period.',
  };
  if (audit.byStatedState.length > 0) {
    yield fine(
      `As the records state it (ISO/IEC TS 27560): ${audit.byStatedState.map(({ state, decisions: n }) => `${stateWord(state).toLowerCase()} ${formatCount(n)}`).join(', ')}.`,
    );
  }
  yield stateTable(
    'By region',
    'Region',
    audit.byRegion.map(({ region, ...rest }) => ({ name: region ?? notStated, ...rest })),
    audit,
  );
  yield stateTable(
    'By policy and version',
    'Policy, version',
    audit.byPolicyVersion.map(({ policyId, policyVersion, ...rest }) => ({
      name:
        policyId === null && policyVersion === null
          ? notStated
          : `${policyId ?? notStated}, ${policyVersion === null ? 'version not stated' : `version ${policyVersion}`}`,
      ...rest,
    })),
    audit,
  );
  if (audit.byBanner.length > 1) {
    yield {
      block: 'table',
      caption: 'By banner',
      columns: [
        { title: 'Banner', share: 5 },
        { title: 'Decisions', share: 2, align: 'right' },
        { title: 'Share', share: 2, align: 'right' },
      ],
      rows: audit.byBanner.map(({ bannerId, decisions: n }, place) => [
        bannerWord(bannerId, input),
        formatCount(n),
        bannerShares[place] ?? '–',
      ]),
      empty: 'No decisions in the period.',
    };
  }
}

/** Rows by name, columns by the states that occur: at most six, the others combined in one. */
function stateTable(
  caption: string,
  what: string,
  all: readonly { name: string; decisions: number; states: readonly StateCount[] }[],
  audit: ConsentAudit,
): Block {
  const states = audit.byState.map(({ state }) => state).slice(0, 5);
  const more = audit.byState.length > states.length;
  const shown = all.slice(0, ROWS_SHOWN);
  const rest = all.slice(ROWS_SHOWN);
  const cells = (row: { name: string; decisions: number; states: readonly StateCount[] }) => {
    const known = states.map((state) => countOf(row.states, state));
    return [
      row.name,
      ...known.map(formatCount),
      ...(more ? [formatCount(row.decisions - known.reduce((a, b) => a + b, 0))] : []),
      formatCount(row.decisions),
    ];
  };
  const sumRow = (name: string, rows: typeof all) => ({
    name,
    decisions: rows.reduce((sum, { decisions }) => sum + decisions, 0),
    states: audit.byState.map(({ state }) => ({
      state,
      decisions: rows.reduce((sum, row) => sum + countOf(row.states, state), 0),
    })),
  });
  return {
    block: 'table',
    caption,
    columns: [
      { title: what, share: 4.4 },
      ...states.map((state) => ({ title: stateWord(state), share: 1.7, align: 'right' as const })),
      ...(more ? [{ title: 'Other', share: 1.7, align: 'right' as const }] : []),
      { title: 'All', share: 1.7, align: 'right' },
    ],
    rows: [
      ...shown.map(cells),
      ...(rest.length > 0 ? [cells(sumRow(`${formatCount(rest.length)} more (in the JSON)`, rest))] : []),
    ],
    total: cells(sumRow('All', all)),
    empty: 'No decisions in the period.',
  };
}

export function countOf(states: readonly StateCount[], state: string): number {
  return states.find((one) => one.state === state)?.decisions ?? 0;
}
