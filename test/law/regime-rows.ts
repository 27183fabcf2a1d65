import type { LegalPeriod, RegimeRow } from '../../src/law/regime-schema.ts';
import { regimeRowSchema } from '../../src/law/regime-schema.ts';
import { builtInRegimes, builtInRows } from '../../src/law/regimes.ts';

/** The built-in rows as docs/deadlines.md shows them: one line of a Markdown table each. */
export function regimeLines(): readonly string[] {
  return builtInRows.map((input) => {
    const row = regimeRowSchema.parse(input);
    const cells = [
      `\`${row.regime}\`${row.places === null ? '' : ` ${row.places.join(' ')}`}`,
      `${row.kinds === 'all' ? (isAlone(row.regime) ? 'all' : 'all others') : row.kinds.join(', ')}${row.from === null ? '' : ` (from ${row.from})`}${row.before === null ? '' : ` (before ${row.before})`}`,
      period(row.period) + (row.runsFrom === 'receipt' ? '' : ', from the latest of receipt, identity, fee'),
      row.period === 'at-once' ? '–' : row.rollOver === 'none' ? 'none stated' : 'next working day',
      { none: 'no', clarification: 'clarification', guidance: 'optional, off' }[row.stopClock],
      extension(row),
      row.acknowledge === null ? '–' : period(row.acknowledge),
      row.identity.replaceAll('-', ' '),
      row.appeal === null
        ? '–'
        : `${row.appeal.days} days${row.appeal.extension === 0 ? '' : ` (+${row.appeal.extension})`}`,
      row.citation,
      row.confirmed ? (row.readOn ?? 'yes') : 'unconfirmed',
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

/** The regimes, the codes that lead to them, and the article that brings a controller there under them. */
export function regimeCodeLines(): readonly string[] {
  return builtInRegimes.map(
    ({ id, law, jurisdictions, reach }) =>
      `| \`${id}\` | ${law} | ${jurisdictions.join(' ')} | ${reach ?? 'residents only'} |`,
  );
}

function isAlone(regime: string): boolean {
  return builtInRows.filter((row) => row.regime === regime).length === 1;
}

function period(length: LegalPeriod | 'at-once'): string {
  if (length === 'at-once') return 'at once';
  const { amount, unit } = length;
  return `${amount} ${unit.replace('-', ' ').replace(/s$/, amount === 1 ? '' : 's')}`;
}

function extension(row: RegimeRow): string {
  if (row.extension === null) return '–';
  const by = row.extension.by === 'as-notified' ? 'as notified' : `+${period(row.extension.by)}`;
  return row.confirmed && row.extension.confirmed ? by : `${by} (unconfirmed: not counted)`;
}
