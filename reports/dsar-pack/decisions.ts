import type { JudgedRow } from '../../src/store/queries/history-decisions.ts';
import { decisionColumns } from '../decision-columns.ts';
import { renderCsv } from '../render/csv.ts';
import { renderJson } from '../render/json.ts';
import type { PackContext, PackPart } from './context.ts';

/** The person's decisions for a spreadsheet: every record, repeats too. */
export const decisionsCsv: PackPart = (context) =>
  context.disclosure === 'full'
    ? {
        name: 'decisions.csv',
        what: 'the same for a spreadsheet: every record, those that were reported twice too',
        content: renderCsv(decisionColumns(context.cite, context.banner.cite), context.decisions()),
      }
    : null;

/** The same for a program. */
export const decisionsJson: PackPart = (context) =>
  context.disclosure === 'full'
    ? {
        name: 'decisions.json',
        what: 'the same for a program',
        content: renderJson({ case: context.input.case.case_id, records: records(context) }),
      }
    : null;

async function* records(context: PackContext): AsyncGenerator<Record<string, unknown>> {
  const columns = decisionColumns(context.cite, context.banner.cite);
  for await (const row of context.decisions())
    yield {
      ...Object.fromEntries(columns.map(({ title, value }) => [title, value(row)])),
      purposes: parsedPurposes(row),
    };
}

function parsedPurposes(row: JudgedRow): unknown {
  return JSON.parse(row.purposes);
}
