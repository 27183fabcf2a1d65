/**
 * A second, simple implementation of the state of consent, purpose by purpose, written from the documentation
 * (docs/architecture.md, Decisions are judged by purpose) without the program's own code. Look-up, audit and case page
 * are compared with it.
 */
export interface PlainRecord {
  readonly seq: number;
  readonly subject: string | null;
  readonly banner: string | null;
  readonly decision: string;
  readonly at: string;
  readonly state: string;
  readonly purposes: Readonly<Record<string, string>>;
  readonly until: string | null;
  readonly version: string | null;
}

interface Standing {
  readonly is: string;
  readonly until: string | null;
  readonly version: string | null;
  readonly by: string;
}
export type PlainStanding = ReadonlyMap<string, Standing>;

const ANY = '*';
const ends: ReadonlySet<string> = new Set(['gone', 'expired', 'terminated', 'invalidated']);

/**
 * The state of each purpose (in lower case) at a moment, by subject and banner, from the given records. Decisions at
 * the moment itself count.
 */
export function replay(records: readonly PlainRecord[], moment: string): ReadonlyMap<string, PlainStanding> {
  const decisions = new Map<string, PlainRecord[]>();
  for (const one of [...records].sort((a, b) => a.seq - b.seq))
    decisions.set(one.decision, [...(decisions.get(one.decision) ?? []), one]);
  const inOrder = [...decisions.values()]
    .filter((told) => ownerOf(told) !== null && (told[0] as PlainRecord).at <= moment)
    .sort(([a], [b]) => (a && b ? (a.at === b.at ? a.seq - b.seq : a.at < b.at ? -1 : 1) : 0));
  const people = new Map<string, Map<string, Standing>>();
  for (const told of inOrder) {
    const [first] = told as [PlainRecord];
    const key = `${ownerOf(told)} ${first.banner ?? ''}`;
    people.set(key, decide(people.get(key) ?? new Map(), told, first.at));
  }
  for (const purposes of people.values())
    for (const [purpose, now] of purposes)
      if (now.is === 'granted' && now.until !== null && now.until <= moment)
        purposes.set(purpose, { ...now, is: 'expired' });
  return people;
}

/** A decision belongs to the first subject that its records name. */
function ownerOf(told: readonly PlainRecord[]): string | null {
  return told.find(({ subject }) => subject !== null)?.subject ?? null;
}

function decide(before: Map<string, Standing>, told: readonly PlainRecord[], at: string): Map<string, Standing> {
  const by = told[0]?.decision ?? '';
  const until = told.find((one) => one.until !== null)?.until ?? null;
  const version = told.find((one) => one.version !== null)?.version ?? null;
  const contested = told.some((a) => told.some((b) => disagree(a, b)));
  const merged = {
    state: told.find(({ state }) => state !== 'unknown')?.state ?? 'unknown',
    purposes: mergedChoice(told),
  };
  // A record that could not be read does not contradict the others.
  const read = merged.state === 'unknown' ? told : told.filter(({ state }) => state !== 'unknown');
  const sayings = contested ? read.map(({ state, purposes }) => ({ state, purposes: lower([purposes]) })) : [merged];
  const effects = sayings.map((saying) => effectOf(before, saying, at));
  const after = new Map<string, Standing>();
  const names = new Set([...before.keys(), ...effects.flatMap((effect) => [...effect.keys()])]);
  for (const purpose of names) {
    const was = before.get(purpose);
    const outcomes = [...new Set(effects.map((effect) => effect.get(purpose) ?? 'as before'))];
    const told = outcomes.filter((outcome) => outcome !== 'as before');
    const said = told.some((one) => one !== 'gone') ? told.filter((one) => one !== 'gone') : told;
    const wasHeld = was !== undefined && ['granted', 'disputed', 'unclear'].includes(was.is);
    const lapsed = wasHeld && was.until !== null && was.until <= at;
    let is = said[0] ?? 'as before';
    if (contested) {
      if (said.includes('granted')) is = 'disputed';
      else if (said.includes('withdrawn')) is = 'withdrawn';
      else if (ends.has(is) && outcomes.includes('as before') && !lapsed) is = wasHeld ? 'disputed' : 'as before';
    }
    if (is === 'as before') {
      if (was !== undefined) after.set(purpose, was);
    } else if (is === 'unclear') after.set(purpose, { ...(was as Standing), is, by });
    else if (is !== 'gone') after.set(purpose, { is, until, version, by });
  }
  return after;
}

/**
 * The effect of one decision on each purpose: granted, refused, withdrawn …; `gone`: no longer mentioned. Other
 * purposes stay unchanged.
 */
function effectOf(
  now: ReadonlyMap<string, Standing>,
  { state, purposes }: { readonly state: string; readonly purposes: ReadonlyMap<string, string> },
  at: string,
): Map<string, string> {
  const effect = new Map<string, string>();
  const held = (purpose: string) => {
    const one = now.get(purpose);
    return (
      one !== undefined &&
      ['granted', 'disputed', 'unclear'].includes(one.is) &&
      !(one.until !== null && one.until <= at)
    );
  };
  const lapsed = [...now].filter(
    ([purpose, one]) => ['granted', 'disputed', 'unclear'].includes(one.is) && !held(purpose),
  );
  const live = [...now.keys()].filter(held);
  const yes = [...purposes]
    .filter(([name, choice]) => name !== 'necessary' && choice === 'granted')
    .map(([name]) => name);
  const no = [...purposes]
    .filter(([name, choice]) => name !== 'necessary' && choice !== 'granted')
    .map(([name]) => name);
  const end = (alsoWithdrawn: readonly string[], alsoRefused: readonly string[]) => {
    if (alsoWithdrawn.length + alsoRefused.length > 0 && now.has(ANY)) effect.set(ANY, 'gone');
    for (const purpose of alsoRefused) effect.set(purpose, 'refused');
    for (const [purpose] of lapsed) effect.set(purpose, purpose === ANY ? 'gone' : 'refused');
    for (const purpose of [...alsoWithdrawn, ...live]) effect.set(purpose, 'withdrawn');
    return effect;
  };
  if (['expired', 'terminated', 'invalidated'].includes(state)) {
    for (const [purpose] of [...lapsed, ...live.map((one) => [one] as const)]) effect.set(purpose, state);
    return effect;
  }
  if (state === 'unknown') for (const purpose of live) effect.set(purpose, 'unclear');
  if (!['given', 'renewed-given', 'refused', 'withdrawn'].includes(state)) return effect;
  const given = state === 'given' || state === 'renewed-given';
  if (given && purposes.size === 0) {
    for (const [purpose, one] of now)
      effect.set(purpose, ['granted', 'disputed', 'unclear'].includes(one.is) ? 'granted' : 'gone');
    return effect.set(ANY, 'granted');
  }
  if (given && yes.length + no.length === 0) return end([], []);
  if (state === 'refused' && no.length === 0) return end([], yes);
  if (state === 'withdrawn' && no.length === 0) return end(yes, []);
  const denies = no.filter((purpose) => held(purpose) || held(ANY));
  if (state === 'withdrawn' && yes.length > 0 && denies.length === 0) return end([...yes, ...no], []);
  if (now.has(ANY)) effect.set(ANY, 'gone');
  for (const purpose of yes) effect.set(purpose, 'granted');
  for (const purpose of no)
    effect.set(
      purpose,
      denies.includes(purpose) || (state === 'withdrawn' && denies.length === 0) ? 'withdrawn' : 'refused',
    );
  return effect;
}

function lower(choices: readonly Readonly<Record<string, string>>[]): Map<string, string> {
  const all = new Map<string, string>();
  for (const choice of choices) {
    const named = new Set(Object.keys(choice).map((name) => name.toLowerCase()));
    for (const name of named) {
      const said = Object.entries(choice).flatMap(([one, value]) => (one.toLowerCase() === name ? value : []));
      if (!all.has(name)) all.set(name, said.includes('denied') ? 'denied' : 'granted');
    }
  }
  return all;
}

function mergedChoice(told: readonly PlainRecord[]): Map<string, string> {
  return lower(told.map(({ purposes }) => purposes));
}

function disagree(a: PlainRecord, b: PlainRecord): boolean {
  const differ = (one: string | null, other: string | null) => one !== null && other !== null && one !== other;
  if (a.state !== b.state && a.state !== 'unknown' && b.state !== 'unknown') return true;
  if (differ(a.subject, b.subject) || differ(a.banner, b.banner) || differ(a.version, b.version)) return true;
  const [first, second] = [lower([a.purposes]), lower([b.purposes])];
  return [...first].some(([name, choice]) => second.has(name) && second.get(name) !== choice);
}
