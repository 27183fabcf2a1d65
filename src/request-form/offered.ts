import type { Source } from '../core/source.ts';
import type { ControllerProfile } from '../law/profile.ts';
import type { Sources } from '../sources/sources.ts';

/**
 * Whether a source has a web form: `off`: its controller profile does not offer one. `unconfirmed`: the profile is
 * shared with an earlier source and may be another client's, so the form would name the wrong controller; it is offered
 * once the profile names the source under `requestFormFor`. The first source of the installation keeps its form.
 */
export function requestFormState(
  profile: ControllerProfile | null,
  source: Pick<Source, 'slug' | 'options'>,
  sources: Pick<Sources, 'first'>,
): 'offered' | 'off' | 'unconfirmed' {
  if (profile?.requestForm !== true) return 'off';
  return isConfirmed(profile, source, sources) ? 'offered' : 'unconfirmed';
}

/** A controller whose profile may be another client's, and the source; null: the profile is that of the source. */
export function doubtfulController(
  profile: ControllerProfile | null,
  source: Source | null,
  sources: Pick<Sources, 'first'>,
): { readonly controller: string; readonly source: Pick<Source, 'slug' | 'name'> } | null {
  if (source === null || profile === null || isConfirmed(profile, source, sources)) return null;
  return { controller: profile.name, source };
}

export type DoubtfulController = NonNullable<ReturnType<typeof doubtfulController>>;

/**
 * Whether a profile is a source's own, or names it, or the source is the installation's first: so it is not taken for
 * another client's.
 */
function isConfirmed(
  profile: ControllerProfile,
  source: Pick<Source, 'slug' | 'options'>,
  sources: Pick<Sources, 'first'>,
): boolean {
  const isOwn = source.options.controllerFile !== null;
  return isOwn || profile.requestFormFor?.includes(source.slug) === true || sources.first() === source.slug;
}
