/** The current time, passed as an argument so that tests and replays can set it. */
export type Clock = () => Date;

/** ISO 8601 UTC with milliseconds, the only form used to store times. */
export function isoNow(clock: Clock): string {
  return clock().toISOString();
}
