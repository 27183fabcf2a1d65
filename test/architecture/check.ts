import { posix } from 'node:path';
import { findCycles } from './cycles.ts';
import {
  environmentReaders,
  exiters,
  libraryHomes,
  lists,
  type Part,
  parts,
  pure,
  pureBuiltins,
  typesEverywhere,
} from './import-table.ts';
import type { Import, SourceFacts } from './read-source.ts';

/**
 * Checks source files (content by path relative to the repository) against the import table. Returns one sentence per
 * violation, each beginning with the path; empty if there is none.
 */
export function checkArchitecture(facts: ReadonlyMap<string, SourceFacts>): readonly string[] {
  const violations: string[] = [];
  const edges = new Map<string, string[]>();
  for (const [path, source] of facts) {
    const part = partOf(path);
    if (part === undefined) {
      violations.push(`${path} belongs to no part of the import table`);
      continue;
    }
    violations.push(...findMisplacedPowers(path, source));
    const targets: string[] = [];
    for (const imported of source.imports) {
      if (imported.specifier.startsWith('.')) {
        const target = posix.join(posix.dirname(path), imported.specifier);
        const fault = findRelativeFault(part, target, imported, facts);
        if (fault !== null) violations.push(`${path} ${fault}`);
        targets.push(target);
      } else {
        const fault = findLibraryFault(part, path, imported);
        if (fault !== null) violations.push(`${path} ${fault}`);
      }
    }
    edges.set(path, targets);
  }
  for (const cycle of findCycles(edges)) violations.push(`${cycle[0]} is in a cycle: ${cycle.join(' → ')}`);
  return violations;
}

/** The part a path belongs to. */
export function partOf(path: string): Part | undefined {
  return parts.find((part) => part.files.test(path));
}

function findMisplacedPowers(path: string, source: SourceFacts): readonly string[] {
  const faults: string[] = [];
  if (source.readsEnvironment && !environmentReaders.has(path)) faults.push(`${path} reads process.env`);
  if (source.exits && !exiters.has(path)) faults.push(`${path} calls process.exit`);
  const isIndex = /(^|\/)index\.tsx?$/.test(path);
  if ((source.isBarrel || isIndex) && !lists.has(path)) faults.push(`${path} is a barrel`);
  return faults;
}

function findRelativeFault(
  part: Part,
  target: string,
  imported: Import,
  facts: ReadonlyMap<string, SourceFacts>,
): string | null {
  if (target.endsWith('.json')) return null;
  if (!facts.has(target)) return `imports ${target}, which is not there`;
  const owner = partOf(target);
  if (owner === undefined || owner === part) return null;
  const allowed = imported.typeOnly ? [...part.values, ...part.types] : part.values;
  if (allowed.includes('*') || allowed.includes(owner.name) || allowed.includes(target)) return null;
  return `(${part.name}) may not import ${imported.typeOnly ? 'types' : 'values'} of ${target} (${owner.name})`;
}

function findLibraryFault(part: Part, path: string, imported: Import): string | null {
  const { specifier, typeOnly } = imported;
  if (specifier.startsWith('node:')) {
    return pure.includes(part.name) && !pureBuiltins.has(specifier)
      ? `(${part.name}) may not import ${specifier}`
      : null;
  }
  const library = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const homes = libraryHomes[library];
  if (homes === undefined) return `imports ${library}, which has no home in the import table`;
  if (homes.includes('*') || homes.includes(part.name) || homes.includes(path)) return null;
  if (typeOnly && !pure.includes(part.name) && typesEverywhere.has(library)) return null;
  return `(${part.name}) may not import ${library}, whose home is ${homes.join(', ')}`;
}
