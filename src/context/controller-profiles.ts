import { stat } from 'node:fs/promises';
import { type Config, controllerFileOf } from '../config/config.ts';
import { loadControllerFile } from '../config/settings-files.ts';
import { codeOf, UsageError } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import type { ControllerProfile } from '../law/profile.ts';

/** The controller profile of a source; null if none is configured. Rejects with UsageError if the file is invalid. */
export async function loadProfileOf(config: Config, source: Source | null): Promise<ControllerProfile | null> {
  const { path, isNamed } = controllerFileOf(config, source);
  const key = `${isNamed} ${path}`;
  const asked = loading.get(key) ?? loadProfileAt(path, isNamed);
  if (loading.size === 0) queueMicrotask(() => loading.clear());
  loading.set(key, asked);
  return asked;
}

/** Profiles asked for in this turn, by file: a list of requests asks for those of all sources, which usually share one. */
const loading = new Map<string, Promise<ControllerProfile | null>>();

async function loadProfileAt(path: string, isNamed: boolean): Promise<ControllerProfile | null> {
  const version = await stat(path).then(
    ({ ino, size, mtimeMs, ctimeMs }) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`,
    (error: unknown) => (!isNamed && codeOf(error) === 'ENOENT' ? null : String(error)),
  );
  if (version === null) return null;
  const kept = profiles.get(path);
  if (kept?.version === version) return kept.profile;
  const loaded = await loadControllerFile(path);
  if (loaded.outcome === 'invalid') throw new UsageError(loaded.problems);
  profiles.set(path, { version, profile: loaded.value });
  return loaded.value;
}

/** Profiles as last read, by file: a list of requests needs those of all sources. */
const profiles = new Map<string, { readonly version: string; readonly profile: ControllerProfile }>();
