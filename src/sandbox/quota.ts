/** What is left of a plan's generations: one client's own, or pooled by an agency's clients (docs/service.md §8). */
export interface Quota {
  readonly most: number;
  used(): number;
  remaining(): number;
  /** Counts one generation; false: nothing is left. */
  take(): boolean;
}

export function createQuota(most: number, used = 0): Quota {
  let taken = used;
  return {
    most,
    used: () => taken,
    remaining: () => Math.max(0, most - taken),
    take: () => {
      if (taken >= most) return false;
      taken += 1;
      return true;
    },
  };
}
