/** One sighting of a target: its text, and the times between which the service produced it. Times are ISO 8601 UTC. */
export interface Sighting {
  readonly seq: number;
  /** Null: there was no text (404, 410). */
  readonly textSha256: string | null;
  /** The entry that contains the bytes. */
  readonly bodySeq: number;
  readonly originFrom: string;
  readonly originTo: string;
  readonly settled: boolean;
}

/** A fetch as in the history. */
interface LookRow {
  readonly seq: number;
  readonly text_sha256: string | null;
  readonly body_seq: number;
  readonly origin_from: string;
  readonly origin_to: string;
  readonly phase: 'provisional' | 'settled';
}

export function sightingOf(row: LookRow): Sighting {
  return {
    seq: row.seq,
    textSha256: row.text_sha256,
    bodySeq: row.body_seq,
    originFrom: row.origin_from,
    originTo: row.origin_to,
    settled: row.phase === 'settled',
  };
}

/**
 * A text of a target during an interval. The boundary between two of them lies between `lastSeen` of the first and
 * `firstSeen` of the second.
 */
export interface TextVersion {
  /** From 1. */
  readonly version: number;
  readonly textSha256: string | null;
  readonly bodySeq: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** When the previous text was last seen, before this one came. Null: it is the first ever seen. */
  readonly notBefore: string | null;
  /** It was there by this time. */
  readonly firstSeen: string;
  /** It was still there at this time. With a single sighting this is before `firstSeen`: it was there at some time in between. */
  readonly lastSeen: string;
  /** A fetch that counts (not provisional) has shown it. */
  readonly settled: boolean;
  readonly sightings: number;
}

/**
 * The versions after one more sighting, in order. A text seen before becomes a separate version, unless the response
 * may be older than the first sighting of what followed: then a cache served it, which only shows that it was there
 * longer.
 */
export function addSighting(versions: readonly TextVersion[], sighting: Sighting): readonly TextVersion[] {
  const place = placeOf(versions, sighting);
  const seen = versions[place];
  if (seen === undefined) return [...versions, begin(versions.length + 1, versions.at(-1)?.lastSeen ?? null, sighting)];
  const longer = seenAgain(seen, versions[place - 1], sighting);
  const [next, ...later] = versions.slice(place + 1);
  return [
    ...versions.slice(0, place),
    longer,
    ...(next === undefined ? [] : [{ ...next, notBefore: longer.lastSeen }, ...later]),
  ];
}

/**
 * The newest version with this text that may have been there when the response was produced; -1: it is a separate
 * version.
 */
function placeOf(versions: readonly TextVersion[], { textSha256, originFrom, originTo }: Sighting): number {
  const place = versions.findLastIndex(
    (version, at) =>
      version.textSha256 === textSha256 &&
      originFrom <= (versions[at + 1]?.firstSeen ?? originFrom) &&
      originTo >= (versions[at - 1]?.lastSeen ?? originTo),
  );
  // The current text stays the current one, whatever the clocks say.
  return place === -1 && versions.at(-1)?.textSha256 === textSha256 ? versions.length - 1 : place;
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

function seenAgain(version: TextVersion, before: TextVersion | undefined, sighting: Sighting): TextVersion {
  // A response that may predate the text in between proves nothing about the beginning.
  const isOfThis = before === undefined || sighting.originFrom > before.firstSeen;
  return {
    ...version,
    lastSeq: sighting.seq,
    firstSeen: isOfThis && sighting.originTo < version.firstSeen ? sighting.originTo : version.firstSeen,
    lastSeen: sighting.originFrom > version.lastSeen ? sighting.originFrom : version.lastSeen,
    settled: version.settled || sighting.settled,
    sightings: version.sightings + 1,
  };
}

/**
 * The text in force at a time. `certain`: seen before and after it, or the last one seen if nothing newer is known.
 * `between`: the change between the two happened around that time. `before-first`: nothing had been fetched yet.
 */
type TextAt<Version = TextVersion> =
  | { readonly outcome: 'certain'; readonly version: Version; readonly seenSince: boolean }
  | { readonly outcome: 'between'; readonly earlier: Version; readonly later: Version }
  | { readonly outcome: 'before-first'; readonly first: Version | null };

/** Finds the text in force at `at` (ISO 8601 UTC, milliseconds) among the versions of one target, in order. */
export function textAt<Version extends Pick<TextVersion, 'firstSeen' | 'lastSeen'>>(
  versions: readonly Version[],
  at: string,
): TextAt<Version> {
  const place = versions.findLastIndex(({ firstSeen }) => firstSeen <= at);
  const [before, version, next] = [versions[place - 1], versions[place], versions[place + 1]];
  if (version === undefined) return { outcome: 'before-first', first: next ?? null };
  // Two edges, one of which still had the old text when the other had the new one.
  if (before !== undefined && at < before.lastSeen) return { outcome: 'between', earlier: before, later: version };
  if (next !== undefined && at > version.lastSeen) return { outcome: 'between', earlier: version, later: next };
  return { outcome: 'certain', version, seenSince: at <= version.lastSeen };
}

/** The versions of one target that were, or may have been, in force at some time from `from` to before `to`. */
export function inForceBetween<Version extends Pick<TextVersion, 'notBefore' | 'firstSeen'>>(
  versions: readonly Version[],
  from: string,
  to: string,
): readonly Version[] {
  return versions.filter(({ notBefore, firstSeen }, place) => {
    const next = versions[place + 1];
    return (notBefore ?? firstSeen) < to && (next === undefined || next.firstSeen > from);
  });
}
