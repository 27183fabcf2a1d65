import { Cron } from 'croner';

/**
 * Why a text is no cron expression, in words; null when it is one.
 * Five fields (minute hour day month weekday) or six (with seconds first); names, ranges, steps and lists are understood.
 * A date ("2030-01-01T00:00:00"), which the library would take too, is refused, and so is a pattern that never comes round (31 February).
 */
export function cronProblem(expression: string): string | null {
  const fields = expression.trim().split(/\s+/).length;
  if (!expression.trim().startsWith('@') && fields !== 5 && fields !== 6)
    return 'it needs five fields: minute hour day month weekday';
  try {
    return nextTime(expression, 'UTC', new Date(0)) === null ? 'it never matches a date' : null;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
  }
}

/**
 * The first moment strictly after `after` that the expression names in an IANA time zone; null when there is none.
 * A local time that a change of the clocks skips runs at the shifted hour. Throws on an invalid expression or zone.
 */
export function nextTime(expression: string, timeZone: string, after: Date): Date | null {
  return new Cron(expression, { timezone: timeZone, paused: true }).nextRun(after);
}
