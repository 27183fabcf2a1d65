import type { CsvColumn } from '../../../../reports/render/csv-json.ts';
import { partsOfAssignee } from '../../../cases/assignee.ts';
import { listCases } from '../../../cases/list-cases.ts';
import type { CaseView } from '../../../cases/view.ts';
import type { Context } from '../../../context/context.ts';
import { languageText } from '../../../core/language.ts';
import { localTimeOf } from '../../../core/zoned-days.ts';
import { decidingLaw, isOwnLimit } from '../../../law/deadlines.ts';
import { datelessText, unrecordedText } from '../../../law/not-recorded.ts';
import { OWN_RULE } from '../parts/parts.tsx';
import { identityText, kindsText, stateText } from '../parts/words.ts';
import { type Filter, openOnes, partsOf, sorted } from './request-filter.ts';

/** Settled requests read at once. */
export const SETTLED_READ = 500;

/** Every request of the filter, open ones first. */
export async function* requestsOf(
  cases: Context['cases'],
  scope: Parameters<typeof listCases>[1],
  filter: Filter,
): AsyncGenerator<CaseView> {
  let page = await listCases(cases, scope);
  yield* sorted(await openOnes(cases, partsOf(page).open, filter), filter.sort);
  while (filter['which'] === undefined) {
    const { settled } = partsOf(page);
    yield* settled;
    const last = settled.at(-1);
    if (last === undefined || settled.length < SETTLED_READ) return;
    page = await listCases(cases, { ...scope, settledAfter: last.row });
  }
}

/** The columns of the list as a file. */
export function fileColumns(nameOf: (slug: string) => string, timeZone: string): readonly CsvColumn<CaseView>[] {
  return [
    { title: 'Request', value: ({ row }) => row.case_id },
    { title: 'Source', value: ({ row }) => nameOf(row.source) },
    { title: 'Kind', value: ({ kinds }) => kindsText(kinds) },
    { title: 'State', value: ({ row }) => stateText(row.state) },
    { title: 'Requester', value: ({ row }) => row.requester_name },
    { title: 'E-mail', value: ({ row }) => row.requester_email },
    { title: 'Postal address', value: ({ folded }) => folded.address?.replaceAll('\n', ', ') ?? null },
    { title: 'Place', value: ({ row }) => row.jurisdiction },
    { title: 'Language', value: ({ row }) => languageText(row.language) },
    { title: 'Channel', value: ({ row }) => row.channel },
    { title: `Received (${timeZone})`, value: ({ row }) => localTimeOf(row.receipt_at, timeZone).replace('T', ' ') },
    { title: 'Aim for', value: ({ deadline }) => deadline.aimFor },
    { title: 'Legal limit', value: ({ deadline }) => deadline.limit },
    { title: 'Days left', value: ({ open, daysLeft }) => (open ? daysLeft : null) },
    { title: 'Law', value: ({ deadline }) => lawText(deadline) },
    { title: 'Your own target', value: ({ deadline }) => deadline.ownTarget },
    { title: 'Open messages', value: ({ folded }) => folded.openMessages?.length ?? 0 },
    { title: 'Identity', value: (view) => identityText(view).text },
    {
      title: 'Assigned to',
      value: ({ folded }) => (folded.assignee === null ? null : partsOfAssignee(folded.assignee).name),
    },
  ];
}

/**
 * The deciding law; says so if its date follows a rule that the installation wrote, and which laws were not looked at.
 */
function lawText(deadline: CaseView['deadline']): string | null {
  const law = decidingLaw(deadline);
  if (law === null) return datelessText(deadline);
  const caveat = unrecordedText(deadline);
  return `${law.name}${isOwnLimit(deadline) ? ` (${OWN_RULE})` : ''}${caveat === null ? '' : `; ${caveat}`}`;
}
