import type { Source } from '../core/source.ts';
import { type ControllerProfile, missingProfileParts } from '../law/profile.ts';
import { doubtfulController } from '../sources/controller.ts';
import { findSourceFaults } from '../sources/faults.ts';
import type { Sources } from '../sources/sources.ts';

/**
 * Something that a source lacks, in a few words. `optional`: it works without, as without an API key: nothing is pulled. `profile`: its
 * controller profile is missing, has errors or lacks parts, which is asked for elsewhere. `client`: it may belong to another client than its
 * profile, or does not work as it is.
 */
export interface SourceGap {
  readonly what: string;
  readonly kind: 'optional' | 'profile' | 'client';
}

/** Whether a source lacks something that it needs. */
export function isIncomplete(gaps: readonly SourceGap[] | undefined): boolean {
  return gaps?.some(({ kind }) => kind !== 'optional') === true;
}

interface GapDeps {
  readonly loadProfile: (source: Source | null) => Promise<ControllerProfile | null>;
  readonly sources: Pick<Sources, 'first' | 'sharingKey'>;
}

/** What each source lacks, by its slug, so that nobody takes an imported one for complete. A source that lacks nothing is absent. */
export async function loadSourceGaps(
  deps: GapDeps,
  sources: readonly Source[],
): Promise<ReadonlyMap<string, readonly SourceGap[]>> {
  const sharing = deps.sources.sharingKey();
  const found = await Promise.all(
    sources.map(async (source) => {
      const faults = findSourceFaults(source, sharing).filter(
        ({ level, short }) => level === 'fault' || short !== null,
      );
      const ofSettings = faults.map(
        ({ level, short, sentence }): SourceGap => ({
          what: short ?? sentence,
          kind: level === 'fault' ? 'client' : 'optional',
        }),
      );
      return [source.slug, [...ofSettings, ...(await profileGaps(deps, source))]] as const;
    }),
  );
  return new Map(found.filter(([, gaps]) => gaps.length > 0));
}

async function profileGaps({ loadProfile, sources }: GapDeps, source: Source): Promise<readonly SourceGap[]> {
  let profile: ControllerProfile | null;
  try {
    profile = await loadProfile(source);
  } catch {
    return [{ what: 'controller profile has errors', kind: 'profile' }];
  }
  if (profile === null) return [{ what: 'no controller profile', kind: 'profile' }];
  const doubtful = doubtfulController(profile, source, sources);
  if (doubtful !== null) return [{ what: `profile of ${doubtful.controller}`, kind: 'client' }];
  const missing = missingProfileParts(profile).length;
  return missing === 0
    ? []
    : [{ what: `profile lacks ${missing} ${missing === 1 ? 'part' : 'parts'}`, kind: 'profile' }];
}
