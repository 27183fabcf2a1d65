import type { Source } from '../../../core/source.ts';
import type { BannerStatus } from '../../../sync/status.ts';
import type { Worded } from '../parts/words.ts';

/** The state of a source's pull, combined for all its banners. */
export function pullText(source: Pick<Source, 'baseUrl' | 'apiKey'>, banners: readonly BannerStatus[]): Worded {
  if (source.baseUrl === null || source.apiKey === null) return { text: 'not pulled: no API key', tone: 'calm' };
  const failing = banners.filter(({ state }) => state === 'failing').length;
  if (failing > 0)
    return { text: banners.length === 1 ? 'failing' : `${failing} of ${banners.length} banners failing`, tone: 'bad' };
  if (banners.some(({ state }) => state === 'running')) return { text: 'being pulled', tone: 'calm' };
  if (banners.some(({ gap }) => gap !== null)) return { text: 'has gaps', tone: 'warn' };
  return banners.length === 0 ? { text: 'never pulled', tone: 'warn' } : { text: 'up to date', tone: 'good' };
}
