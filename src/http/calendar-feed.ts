import type { FastifyInstance, FastifyReply } from 'fastify';
import { listCases } from '../cases/list-cases.ts';
import type { CaseView } from '../cases/view.ts';
import type { Context } from '../context/context.ts';
import { CodedError } from '../core/errors.ts';
import { addDays } from '../core/zoned-days.ts';
import { isOwnLimit } from '../law/deadlines.ts';
import { personOfCalendar } from '../people/calendar-address.ts';
import { adminAddressOf } from './admin-address.ts';
import { kindsText } from './pages/parts/words.ts';

/** Legal limits as a calendar, for programs that cannot sign in: the address is the secret. */
export async function calendarRoutes(
  app: FastifyInstance,
  context: Pick<Context, 'config' | 'store' | 'keys' | 'instance' | 'cases' | 'clock'>,
): Promise<void> {
  app.get<{ Params: { token: string } }>('/calendar/:token', async (request, reply): Promise<FastifyReply> => {
    const person = await personOfCalendar(context, request.params.token);
    if (person === null) throw new CodedError('not_found');
    const now = context.clock().toISOString();
    const views = await listCases(context.cases, {
      open: true,
      now,
      ...(person.sources === null ? {} : { sources: person.sources }),
    });
    const origin = adminAddressOf(context.config, request);
    const link = (caseId: string) => `${origin}/cases/${encodeURIComponent(caseId)}`;
    return reply
      .type('text/calendar; charset=utf-8')
      .send(icalendarOf(views, { instance: context.instance, now, link }));
  });
}

/**
 * Legal limits of open requests as a calendar (RFC 5545), one whole-day event each. It contains no names, because calendars
 * are stored elsewhere. `link` gives the address of a case.
 */
function icalendarOf(
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
