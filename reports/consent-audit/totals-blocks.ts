import { formatCount, formatMonth, formatShare, formatShares } from '../format.ts';
import type { Block } from '../render/blocks.ts';
import { notStated, stateWord } from '../words.ts';
import type { ConsentAudit, StateCount } from './gather.ts';

/** Rows of a table on the pages; the JSON has them all. */
export const ROWS_SHOWN = 40;

export function monthTable(audit: ConsentAudit): Block {
  return stateTable(
    'Decisions by month',
    'Month',
    audit.byMonth.map(({ month, decisions, states }) => ({ name: formatMonth(month), decisions, states })),
    audit,
  );
}

export function* totals(audit: ConsentAudit): Generator<Block> {
  const { decisions } = audit.totals;
  const stateShares = formatShares(audit.byState.map((row) => row.decisions));
  const bannerShares = formatShares(audit.byBanner.map((row) => row.decisions));
  yield {
    block: 'paragraph',
    text: 'Each decision counts once, however often it was reported: by its delivery, by the pulled log, or by both.',
  };
  yield {
    block: 'table',
    caption: 'By purpose',
    columns: [
      { title: 'Purpose', share: 3.6 },
      { title: 'Granted', share: 1.6, align: 'right' },
      { title: 'Refused', share: 1.6, align: 'right' },
      { title: 'Withdrawn', share: 1.7, align: 'right' },
      { title: 'Disputed', share: 1.6, align: 'right' },
      { title: 'Standing at the end', share: 2, align: 'right' },
    ],
    rows: audit.byPurpose.map(({ purpose, granted, refused, withdrawn, disputed, standing }) => [
      purpose,
      formatCount(granted),
      formatCount(refused),
      formatCount(withdrawn),
      formatCount(disputed),
      formatCount(standing),
    ]),
    empty: 'No decision of the period names a purpose that needs consent.',
  };
  yield {
    block: 'paragraph',
    look: 'fine',
    text: [
      'Withdrawn: denied after the same subject had granted it on the same banner, or stated as withdrawn. Refused: denied otherwise. Disputed: the records of the decision contradict each other; it counts as nothing else. Standing at the end: granted, and not expired before the end of the period.',
      audit.withoutPurposes > 0
        ? `${formatCount(audit.withoutPurposes)} ${audit.withoutPurposes === 1 ? 'decision names' : 'decisions name'} no purpose that needs consent and ${audit.withoutPurposes === 1 ? 'is' : 'are'} not in this table.`
        : '',
      audit.necessary.length > 0
        ? `Listed apart, because they need no consent: ${audit.necessary.map(({ purpose, decisions: n }) => `${purpose} (in ${formatCount(n)} decisions)`).join(', ')}.`
        : '',
    ]
      .filter(Boolean)
      .join(' '),
  };
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
    yield {
      block: 'paragraph',
      look: 'fine',
      text: `As the records state it (ISO/IEC TS 27560): ${audit.byStatedState.map(({ state, decisions: n }) => `${stateWord(state).toLowerCase()} ${formatCount(n)}`).join(', ')}.`,
    };
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
        bannerId ?? notStated,
        formatCount(n),
        bannerShares[place] ?? '–',
      ]),
      empty: 'No decisions in the period.',
    };
  }
}

/** Rows by name, columns by the states that occur: at most six, the rest in one. */
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
