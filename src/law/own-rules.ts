import type { LegalPeriod, Regime, RegimeRow, RegimesFile } from './regime-schema.ts';

/** What a file of an installation changes in the rules of one regime. */
export interface RegimeChange {
  /** Id of the regime. */
  readonly id: string;
  /** What differs from the built-in rules, such as `all: period 24 months`. */
  readonly differs: readonly string[];
  /** Everything that the file says of it: equal texts are equal rules. */
  readonly stated: string;
}

/** Since when a changed rule has been in force here: the entry that recorded it. */
export interface RecordedSince {
  readonly seq: number;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** The entries that recorded the changes in force, by id of the regime. */
export type RecordedRules = ReadonlyMap<string, RecordedSince>;

/** What the built-in rules say. */
interface BuiltIn {
  readonly regimes: readonly Regime[];
  readonly rows: readonly RegimeRow[];
}

/** The regimes that a file adds or changes, in the order of their ids. What it repeats unchanged is left out. */
export function findRegimeChanges(file: RegimesFile, builtIn: BuiltIn): readonly RegimeChange[] {
  const { confirm, disable, suspendByGuidance, regimes, rows } = file;
  const guided = suspendByGuidance ? builtIn.rows.filter(isGuided).map(({ regime }) => regime) : [];
  const named = [...regimes.map(({ id }) => id), ...rows.map(({ regime }) => regime)];
  const ids = [...new Set([...confirm, ...disable, ...guided, ...named])].sort();
  return ids.flatMap((id) => {
    const described = regimes.filter((regime) => regime.id === id);
    const own = rows.filter((row) => row.regime === id);
    const [isConfirmed, isDisabled, isPaused] = [confirm, disable, guided].map((list) => list.includes(id));
    const differs = [
      ...described.flatMap((regime) => differencesOfRegime(regime, builtIn)),
      ...own.flatMap((row) => differencesOfRow(row, builtIn)),
      ...(isConfirmed ? ['unconfirmed rules taken as confirmed'] : []),
      ...(isDisabled ? ['taken as not applicable'] : []),
      ...(isPaused ? ['pauses by guidance counted'] : []),
    ];
    if (differs.length === 0) return [];
    return { id, differs, stated: JSON.stringify([described, own, isConfirmed, isDisabled, isPaused]) };
  });
}

/** How a description of a law differs from the built-in one; empty: it does not. */
export function differencesOfRegime(regime: Regime, { regimes }: BuiltIn): readonly string[] {
  const known = regimes.find(({ id }) => id === regime.id);
  if (known === undefined) return [`a law of its own: ${valueText(regime.law)}`];
  return differences(regime, [known]);
}

/** How a row differs from the built-in rules that it replaces; empty: it does not. */
export function differencesOfRow(row: RegimeRow, { rows }: BuiltIn): readonly string[] {
  const kinds = row.kinds === 'all' ? (['all'] as const) : row.kinds;
  const ofRegime = rows.filter(({ regime }) => regime === row.regime);
  const forAll = ofRegime.filter((one) => one.kinds === 'all');
  const replaced = kinds.flatMap((kind) => {
    const ofKind = ofRegime.filter((one) => kind !== 'all' && one.kinds !== 'all' && one.kinds.includes(kind));
    return ofKind.length > 0 ? ofKind : forAll;
  });
  const same = replaced.filter((one) => differences(row, [one]).length === 0);
  if (same.length > 0 && same.length === replaced.length) return [];
  return (replaced.length === 0 ? ['a rule of its own', periodWord(row)] : differences(row, replaced)).map(
    (text) => `${kinds.join(', ')}: ${text}`,
  );
}

/** Fields about the place of a rule in a file, or when its source was read. They decide nothing. */
const NOT_RULES = ['kinds', 'readOn', 'isOwn'];

function differences(own: object, others: readonly object[]): readonly string[] {
  return Object.entries(own)
    .filter(([name]) => !NOT_RULES.includes(name))
    .filter(([name, value]) =>
      others.some(
        (other) => JSON.stringify(Object.entries(other).find(([key]) => key === name)?.[1]) !== JSON.stringify(value),
      ),
    )
    .map(([name, value]) => `${name} ${valueText(value)}`);
}

/** Longest value that an entry repeats; of longer ones it has the beginning. */
const LONGEST = 80;

function valueText(value: unknown): string {
  const isPeriod = typeof value === 'object' && value !== null && 'amount' in value && 'unit' in value;
  const text = isPeriod
    ? `${String(value.amount)} ${String(value.unit)}`
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function periodWord({ period }: { readonly period: LegalPeriod | 'at-once' }): string {
  return `period ${valueText(period)}`;
}

const isGuided = (row: Pick<RegimeRow, 'stopClock'>) => row.stopClock === 'guidance';

/** `since 2026-11-28, entry 12`. */
function sinceText(recorded: RecordedSince | null): string {
  return recorded === null ? 'not recorded in a ledger' : `since ${recorded.at.slice(0, 10)}, entry ${recorded.seq}`;
}

/** What to print in place of the citation of a rule that an installation wrote. The statute does not say that. */
export function ownCitation(row: Pick<RegimeRow, 'citation'>, recorded: RecordedSince | null): string {
  return `own rule of this installation, not of the statute (${sinceText(recorded)}); it refers to “${row.citation}”`;
}

/** What to add to the citation of a built-in rule: what this installation decided about it. Empty: nothing. */
export function ownDecisions(
  row: RegimeRow,
  decided: { readonly isConfirmed: boolean; readonly isDescribed: boolean; readonly isPaused: boolean },
  recorded: RecordedSince | null,
): string {
  const words = [
    ...(decided.isConfirmed ? ['taken as confirmed'] : []),
    ...(decided.isDescribed ? ['with its own description of the law'] : []),
    ...(decided.isPaused && isGuided(row) ? ['with pauses by guidance counted'] : []),
  ];
  return words.length === 0 ? '' : `; by decision of this installation ${words.join(', ')} (${sinceText(recorded)})`;
}
