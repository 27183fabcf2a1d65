/** The demo's clock: follows the month that is played, then the real time. Never runs backwards while it plays. */
export interface DemoClock {
  now(): Date;
  /** The played month has come to this moment. */
  advanceTo(moment: Date): void;
  /** From here on it is the real time. */
  release(): void;
}

/** A clock that stands at `start` until it is advanced. */
export function createDemoClock(start: Date): DemoClock {
  let played: number | null = start.getTime();
  return {
    now: () => new Date(played ?? Date.now()),
    advanceTo(moment) {
      if (played !== null) played = Math.max(played, moment.getTime());
    },
    release() {
      played = null;
    },
  };
}

// Moments in a body of the sandbox's plain dialect: when it happened, sometimes also until when a consent is valid.
const moments = /"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)"/g;

/** When a played delivery arrives: a moment after what it tells of, which lies before `end`; null where its body names no time. */
export function arrivalOf(body: Buffer, end: Date, delay: number): Date | null {
  const past = [...body.toString('utf8').matchAll(moments)]
    .map(([, text]) => Date.parse(text as string))
    .filter((moment) => moment <= end.getTime());
  return past.length === 0 ? null : new Date(Math.max(...past) + delay);
}
