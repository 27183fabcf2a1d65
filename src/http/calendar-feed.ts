import type { CaseView } from '../../../cases/view.ts';
import { addDays } from '../../../core/zoned-days.ts';
import { isOwnLimit } from '../../../law/deadlines.ts';
import { kindsText } from '../parts/words.ts';

/**
 * Legal limits of open requests as a calendar (RFC 5545), one whole-day event each. It contains no names, because calendars
 * are stored elsewhere. `link` gives the address of a case.
 */
export function icalendarOf(
  views: readonly CaseView[],
  {
    instance,
    now,
    link,
  }: { readonly instance: string; readonly now: string; readonly link: (caseId: string) => string },
): string {
  const stamp = now.replace(/[-:]/g, '').replace(/\.\d+/, '');
  const events = views.flatMap(({ row, kinds, deadline }) =>
    deadline.limit === null
      ? []
      : [
          'BEGIN:VEVENT',
          `UID:${escaped(row.case_id)}@${instance}`,
          `DTSTAMP:${stamp}`,
          `DTSTART;VALUE=DATE:${deadline.limit.replaceAll('-', '')}`,
          `DTEND;VALUE=DATE:${addDays(deadline.limit, 1).replaceAll('-', '')}`,
          `SUMMARY:${escaped(`${kindsText(kinds)} ${row.case_id}: legal limit${isOwnLimit(deadline) ? ' (own rule)' : ''}`)}`,
          `URL:${link(row.case_id)}`,
          'TRANSP:TRANSPARENT',
          'END:VEVENT',
        ],
  );
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//consent-ledger//requests//EN',
    'X-WR-CALNAME:Requests',
    ...events,
    'END:VCALENDAR',
  ];
  return `${lines.map(folded).join('\r\n')}\r\n`;
}

/** RFC 5545, 3.3.11. */
function escaped(text: string): string {
  return text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');
}

/** RFC 5545, 3.1: no line is longer than 75 octets; longer ones continue after a space. */
function folded(line: string): string {
  const parts: string[] = [''];
  for (const character of line) {
    const last = parts[parts.length - 1] ?? '';
    const room = parts.length === 1 ? 75 : 74;
    if (Buffer.byteLength(last + character) > room) parts.push(character);
    else parts[parts.length - 1] = last + character;
  }
  return parts.join('\r\n ');
}
