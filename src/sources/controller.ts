import type { Source } from '../core/source.ts';
import type { ControllerProfile } from '../law/profile.ts';
import type { Sources } from './sources.ts';

/** A controller whose profile may be another client's, and the source; null: the profile is that of the source. */
export function doubtfulController(
  profile: ControllerProfile | null,
  source: Source | null,
  sources: Pick<Sources, 'first'>,
): { readonly controller: string; readonly source: Pick<Source, 'slug' | 'name'> } | null {
  if (source === null || profile === null || isControllerOf(profile, source, sources)) return null;
  return { controller: profile.name, source };
}

export type DoubtfulController = NonNullable<ReturnType<typeof doubtfulController>>;

/**
 * Whether a profile is a source's own, or names it, or the source is the installation's first: so it is not taken for
 * another client's.
 */
export function isControllerOf(
  profile: ControllerProfile,
  source: Pick<Source, 'slug' | 'options'>,
  sources: Pick<Sources, 'first'>,
): boolean {
  const isOwn = source.options.controllerFile !== null;
  return isOwn || profile.requestFormFor?.includes(source.slug) === true || sources.first() === source.slug;
}

/**
 * Why a letter cannot name the controller of a profile that may be another client's, in a sentence; null: it can.
 * `confirmed`: the controller that the person named for this letter.
 */
export function controllerProblem(doubtful: DoubtfulController | null, confirmed: string | null): string | null {
  if (doubtful === null || confirmed === doubtful.controller) return null;
  const { controller, source } = doubtful;
  return `The letter would name ${controller} as the controller of ${source.name}, whose profile is shared by several sources. Confirm it for this letter (on the command line: --controller ${JSON.stringify(controller)}), or have an admin say whose profile it is on the page of the source.`;
}

/** The parameter with which a document records that a person confirmed its controller. `before`: those of the document that is made again. */
export function confirmedController(
  doubtful: DoubtfulController | null,
  before: Readonly<Record<string, unknown>> | null,
): { readonly confirmedController?: string } {
  if (before !== null) {
    const { confirmedController: named } = before;
    return typeof named === 'string' ? { confirmedController: named } : {};
  }
  return doubtful === null ? {} : { confirmedController: doubtful.controller };
}
