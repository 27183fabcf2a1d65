/** One result of `doctor`. `fault`: a reason not to go into production; `note`: allowed, but worth a look. */
export interface Line {
  readonly about: string;
  readonly level: 'ok' | 'note' | 'fault';
  readonly sentence: string;
  /** What to do; null if nothing has to be done. */
  readonly remedy: string | null;
}

export function ok(about: string, sentence: string): Line {
  return { about, level: 'ok', sentence, remedy: null };
}

export function note(about: string, sentence: string, remedy: string): Line {
  return { about, level: 'note', sentence, remedy };
}

export function fault(about: string, sentence: string, remedy: string): Line {
  return { about, level: 'fault', sentence, remedy };
}

/** One check: returns what it finds. */
export type DoctorCheck<T> = (given: T) => Line | readonly Line[] | Promise<Line | readonly Line[]>;

/** Runs checks one at a time. */
export async function runChecks<T>(checks: readonly DoctorCheck<T>[], given: T): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (const check of checks) lines.push(...[await check(given)].flat());
  return lines;
}
