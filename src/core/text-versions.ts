/** One look at a target: which text it had, and between which moments the service gave it out. Times are ISO 8601 UTC. */
export interface Sighting {
  readonly seq: number;
  /** Null: there was no text (404, 410). */
  readonly textSha256: string | null;
  /** The entry that holds the bytes. */
  readonly bodySeq: number;
  readonly originFrom: string;
  readonly originTo: string;
  readonly settled: boolean;
}

/** A text of a target for a stretch of time. Two of them border on each other between `lastSeen` of the one and `firstSeen` of the next. */
export interface TextVersion {
  /** From 1. */
  readonly version: number;
  readonly textSha256: string | null;
  readonly bodySeq: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** When the text before was seen last: this one came later. Null: it is the first that was ever seen. */
  readonly notBefore: string | null;
  /** It was there by this time. */
  readonly firstSeen: string;
  /** It was still there at this time. With a single sighting this lies before `firstSeen`: somewhere between it was there. */
  readonly lastSeen: string;
  /** A fetch that counts (not provisional) has shown it. */
  readonly settled: boolean;
  readonly sightings: number;
}

/**
 * The versions after one more sighting, in order. A text that was seen before comes back as a version of its own, unless the
 * answer may be older than the first sighting of its successor: then a cache served it, and it only shows that it was there longer.
 */
export function addSighting(versions: readonly TextVersion[], sighting: Sighting): readonly TextVersion[] {
  const last = versions.at(-1);
  if (last === undefined) return [begin(1, null, sighting)];
  if (last.textSha256 === sighting.textSha256) return [...versions.slice(0, -1), seenAgain(last, sighting)];
  const before = versions.at(-2);
  if (before?.textSha256 === sighting.textSha256 && sighting.originFrom <= last.firstSeen) {
    const longer = seenAgain(before, sighting);
    return [...versions.slice(0, -2), longer, { ...last, notBefore: longer.lastSeen }];
  }
  return [...versions, begin(last.version + 1, last.lastSeen, sighting)];
}

function begin(version: number, notBefore: string | null, sighting: Sighting): TextVersion {
  return {
    version,
    textSha256: sighting.textSha256,
    bodySeq: sighting.bodySeq,
    firstSeq: sighting.seq,
    lastSeq: sighting.seq,
    notBefore,
    firstSeen: sighting.originTo,
    lastSeen: sighting.originFrom,
    settled: sighting.settled,
    sightings: 1,
  };
}

function seenAgain(version: TextVersion, sighting: Sighting): TextVersion {
  return {
    ...version,
    lastSeq: sighting.seq,
    firstSeen: sighting.originTo < version.firstSeen ? sighting.originTo : version.firstSeen,
    lastSeen: sighting.originFrom > version.lastSeen ? sighting.originFrom : version.lastSeen,
    settled: version.settled || sighting.settled,
    sightings: version.sightings + 1,
  };
}

/**
 * Which text was in force at a time. `certain`: seen before and after it, or the last one that was seen, where nothing newer is known.
 * `between`: the change from the one to the other was somewhere around it. `before-first`: nobody had looked yet.
 */
export type TextAt =
  | { readonly outcome: 'certain'; readonly version: TextVersion; readonly seenSince: boolean }
  | { readonly outcome: 'between'; readonly earlier: TextVersion; readonly later: TextVersion }
  | { readonly outcome: 'before-first'; readonly first: TextVersion | null };

/** Finds the text in force at `at` (ISO 8601 UTC, milliseconds) among the versions of one target, in order. */
export function textAt(versions: readonly TextVersion[], at: string): TextAt {
  const place = versions.findLastIndex(({ firstSeen }) => firstSeen <= at);
  const next = versions[place + 1];
  const version = versions[place];
  if (version === undefined) return { outcome: 'before-first', first: next ?? null };
  if (next !== undefined && at > version.lastSeen) return { outcome: 'between', earlier: version, later: next };
  return { outcome: 'certain', version, seenSince: at <= version.lastSeen };
}
