import type { Period, RegimeRow } from '../../src/core/regime-schema.ts';
import { regimeRowSchema } from '../../src/core/regime-schema.ts';
import { builtInRegimes, builtInRows } from '../../src/core/regimes.ts';

/** The built-in rows as docs/deadlines.md shows them: one line of a Markdown table each. */
export function regimeLines(): readonly string[] {
  return builtInRows.map((input) => {
    const row = regimeRowSchema.parse(input);
    const cells = [
      `\`${row.regime}\``,
      row.kinds === 'all' ? (isAlone(row.regime) ? 'all' : 'all others') : row.kinds.join(', '),
      period(row.period) + (row.runsFrom === 'receipt' ? '' : ', from the latest of receipt, identity, fee'),
      row.rollOver === 'none' ? 'none; warns a day early' : 'next working day',
      { none: 'no', clarification: 'clarification', guidance: 'optional, off' }[row.stopClock],
      extension(row),
      row.acknowledge === null ? '–' : period(row.acknowledge),
      row.identity.replaceAll('-', ' '),
      row.citation,
      row.confirmed ? 'yes' : 'no: off',
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

/** The regimes and the jurisdiction codes that lead to them. */
export function regimeCodeLines(): readonly string[] {
  return builtInRegimes.map(({ id, law, jurisdictions }) => `| \`${id}\` | ${law} | ${jurisdictions.join(' ')} |`);
}

function isAlone(regime: string): boolean {
  return builtInRows.filter((row) => row.regime === regime).length === 1;
}

function period({ amount, unit }: Period): string {
  return `${amount} ${unit.replace('-', ' ').replace(/s$/, amount === 1 ? '' : 's')}`;
}

function extension(row: RegimeRow): string {
  if (row.extension === null) return '–';
  const by = row.extension.by === 'as-notified' ? 'as notified' : `+${period(row.extension.by)}`;
  return row.extension.confirmed ? by : `${by} (not confirmed: off)`;
}
