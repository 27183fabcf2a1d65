import { z } from 'zod';
import type { Context } from '../../context/context.ts';
import { type ReadTime, readTime } from '../../core/zoned-days.ts';
import { RefusedRequest } from './route.ts';

/** A time in a request, read by {@link timeIn} in the time zone of the controller. */
export const timeText = z.string().trim().min(1).max(60);
/** What {@link timeText} may be. */
export const timeWords = 'an ISO 8601 time, in the controller’s time zone if it has no offset, or a day (YYYY-MM-DD)';

/** The time of a field, ISO 8601 UTC with milliseconds. Throws `invalid_request` if it is none. */
export function timeIn({ config }: Pick<Context, 'config'>, field: string, text: string): string {
  return readOr(field, text, readTime(text, config.timeZone));
}

/** The time that was read from a field. Throws `invalid_request` if it is none. */
export function readOr(field: string, text: string, read: ReadTime): string {
  if (read.problem === undefined) return read.at;
  throw new RefusedRequest('invalid_request', [`${field}: Invalid time ${JSON.stringify(text)}: ${read.problem}`]);
}
