import { variableNames, variables } from './variables.ts';

/** Warnings about names that look like misspellings of ours: they would be ignored silently otherwise. */
export function warnOfNearMisses(names: readonly string[]): string[] {
  const warnings: string[] = [];
  for (const name of [...names].sort()) {
    const plainFile = variableNames.find((known) => !variables[known].secret && name === `${known}_FILE`);
    if (plainFile !== undefined) {
      warnings.push(`${name} is not read: only secrets can be given as a file. Set ${plainFile}.`);
      continue;
    }
    const meant = closestName(name);
    if (meant !== null) warnings.push(`${name} is not read. Did you mean ${meant}?`);
  }
  return warnings;
}

const candidates: readonly string[] = variableNames.flatMap((name) =>
  variables[name].secret ? [name, `${name}_FILE`] : [name],
);

function closestName(name: string): string | null {
  const upper = name.toUpperCase().replaceAll('-', '_');
  let best: { name: string; distance: number } | null = null;
  for (const candidate of candidates) {
    // Short names have many innocent neighbours: there only the spelling in other letters counts.
    const allowed = candidate.length >= 8 ? 2 : 0;
    const distance = editDistance(upper, candidate, allowed);
    if (distance <= allowed && (best === null || distance < best.distance)) best = { name: candidate, distance };
  }
  return best?.name ?? null;
}

/** Optimal string alignment distance (insert, delete, replace, swap of neighbours); anything above `limit` may be `limit + 1`. */
function editDistance(a: string, b: string, limit: number): number {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
