import { editDistance } from '../core/edit-distance.ts';
import { variableNames, variables } from './variables.ts';

/** Warnings about names that look like misspellings of ours: they would be ignored silently otherwise. */
export function warnOfNearMisses(names: readonly string[]): string[] {
  const warnings: string[] = [];
  for (const name of [...names].sort()) {
    const plainFile = variableNames.find((known) => !variables[known].secret && name === `${known}_FILE`);
    if (plainFile !== undefined) {
      warnings.push(`${name} is not supported: only secrets can come from a file. Set ${plainFile}.`);
      continue;
    }
    const meant = closestName(name);
    if (meant !== null) warnings.push(`Unknown variable ${name}. Did you mean ${meant}?`);
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
