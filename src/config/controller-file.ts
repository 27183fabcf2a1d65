import { type ControllerProfile, profileSchema } from '../core/profile.ts';
import { loadYamlFile, parseYaml, type YamlFile } from './yaml-file.ts';

const WHAT = 'Controller profile';

/** Reads a controller profile (src/core/profile.ts) from a YAML or JSON file. Each problem names the file and the place in it. */
export function loadControllerFile(path: string): Promise<YamlFile<ControllerProfile>> {
  return loadYamlFile(WHAT, path, profileSchema);
}

/** The same for a text; `path` is only for the messages. */
export function parseControllerProfile(text: string, path: string): YamlFile<ControllerProfile> {
  return parseYaml(WHAT, text, path, profileSchema);
}
