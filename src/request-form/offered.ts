import type { Source } from '../core/source.ts';
import type { ControllerProfile } from '../law/profile.ts';
import { isControllerOf } from '../sources/controller.ts';
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
  return isControllerOf(profile, source, sources) ? 'offered' : 'unconfirmed';
}
