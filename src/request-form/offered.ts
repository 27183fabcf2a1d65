import type { Source } from '../core/source.ts';
import type { ControllerProfile } from '../law/profile.ts';
import type { Sources } from '../sources/sources.ts';

/**
 * Whether a source has a web form: `off`: its controller profile does not offer one. `unconfirmed`: the profile is
 * shared with an earlier source and may be another client's, so the form would name the wrong controller; it is offered
 * once the profile names the source under `requestFormFor`. The source that had the profile first keeps its form.
 */
export function requestFormState(
  profile: ControllerProfile | null,
  source: Pick<Source, 'slug' | 'options'>,
  sources: Pick<Sources, 'list' | 'offboarded' | 'addedAt'>,
): 'offered' | 'off' | 'unconfirmed' {
  if (profile?.requestForm !== true) return 'off';
  return isConfirmed(profile, source, sources) ? 'offered' : 'unconfirmed';
}

/** Whether a profile is a source's own, or was its first, or names it: it is then not taken for another client's. */
export function isConfirmed(
  profile: ControllerProfile,
  source: Pick<Source, 'slug' | 'options'>,
  sources: Pick<Sources, 'list' | 'offboarded' | 'addedAt'>,
): boolean {
  if (source.options.controllerFile !== null || profile.requestFormFor?.includes(source.slug) === true) return true;
  // A client that has left may still be the one that the profile names.
  const sharing = [...sources.list(), ...sources.offboarded().map((one) => one.source)].filter(
    ({ options }) => options.controllerFile === null,
  );
  // Those of the environment have no time and come first.
  const [first] = sharing
    .map(({ slug }) => ({ slug, at: sources.addedAt(slug) ?? '' }))
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.slug < b.slug ? -1 : 1));
  return first?.slug === source.slug;
}
