/** The present moment, as an argument, so that tests and replays decide it. */
export type Clock = () => Date;

/** ISO 8601 UTC with milliseconds: the one form in which times are stored. */
export function isoNow(clock: Clock): string {
  return clock().toISOString();
}
