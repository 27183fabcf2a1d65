/** One instruction of a Dockerfile, continuation lines joined. */
export interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** One `FROM` and what follows it. */
export interface Stage {
  readonly image: string;
  readonly alias: string | null;
  readonly instructions: readonly Instruction[];
}

/** Reads a Dockerfile into its stages. Throws on an instruction before the first FROM. */
export function readDockerfile(text: string): readonly Stage[] {
  const stages: { image: string; alias: string | null; instructions: Instruction[] }[] = [];
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  for (const line of lines) {
    const [, name = '', value = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
    if (name === 'FROM') {
      const [image = '', , alias = null] = value.split(/\s+/);
      stages.push({ image, alias, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) throw new Error(`before the first FROM: ${line}`);
      stage.instructions.push({ name, value });
    }
  }
  return stages;
}

/** Values of all instructions of one name, in order. */
export function valuesOf(stage: Stage, name: string): readonly string[] {
  return stage.instructions.filter((instruction) => instruction.name === name).map(({ value }) => value);
}

/** Variables that the ENV instructions of a stage set. */
export function environmentOf(stage: Stage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    valuesOf(stage, 'ENV').flatMap((value) =>
      value.split(/\s+/).map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const),
    ),
  );
}
