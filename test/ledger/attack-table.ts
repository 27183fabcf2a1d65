import { readFile, writeFile } from 'node:fs/promises';
import { type Level, levels } from './attack-world.ts';
import { type Attack, attacks } from './attacks.ts';

const PAGE = new URL('../../docs/threats.md', import.meta.url);
const BEGIN = '<!-- attacks: begin; written by `UPDATE_DOCS=yes npm run test:long -- test/ledger/attacks` -->';
const END = '<!-- attacks: end -->';

/** The finder of each attack, by kind of attacker; null: none. */
export type Found = ReadonlyMap<Attack, Readonly<Partial<Record<Level, string | null>>>>;

/** Whether the attack has to be found. */
export function mustBeFound(attack: Attack, level: Level): boolean {
  return attack.limit === undefined && (level !== '+ keys' || attack.limitWithKeys === undefined);
}

/** Whether the attacker can carry it out at all. */
export function isPossible(attack: Attack, level: Level): boolean {
  return level !== 'database' || (attack.sql !== undefined && attack.needsFiles === undefined);
}

/** The table of docs/threats.md, one line per attack: the attack and its finder. */
export async function tableInDocs(): Promise<readonly string[]> {
  const text = await readFile(PAGE, 'utf8');
  return text
    .slice(text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END))
    .trim()
    .split('\n');
}

export async function writeTable(lines: readonly string[]): Promise<void> {
  const text = await readFile(PAGE, 'utf8');
  const [before, after] = [text.slice(0, text.indexOf(BEGIN)), text.slice(text.indexOf(END))];
  await writeFile(PAGE, `${before}${BEGIN}\n\n${lines.join('\n')}\n\n${after}`);
}

export function tableOf(found: Found): string[] {
  const notes: string[] = [];
  const cell = (attack: Attack, level: Level) => {
    if (!isPossible(attack, level)) return '–';
    if (mustBeFound(attack, level)) return `\`${(found.get(attack)?.[level] ?? 'nobody').replaceAll(', ', '`, `')}\``;
    const note = attack.limit ?? attack.limitWithKeys ?? '';
    if (!notes.includes(note)) notes.push(note);
    return `nobody (${notes.indexOf(note) + 1})`;
  };
  const rows = attacks.flatMap(([group, list]) => [
    `| **${group}** | | | |`,
    ...list.map((attack) => `| ${attack.what} | ${levels.map((level) => cell(attack, level)).join(' | ')} |`),
  ]);
  return [
    '| attack | database | + DATA_DIR | + keys |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...notes.map((note, place) => `${place + 1}. ${note[0]?.toUpperCase()}${note.slice(1)}.`),
  ];
}
