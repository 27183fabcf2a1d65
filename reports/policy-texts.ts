import { addSighting, inForceBetween, sightingOf, type TextVersion } from '../src/texts/text-versions.ts';
import type { TextLookRow } from '../src/store/queries/history-evidence.ts';

/** A text of a policy that may have been in force in a period, as it was fetched. Times are ISO 8601 UTC. */
export interface PolicyTextInterval {
  /** `hosted:<policy id>`: the public page; `embed:<type>`: what the embed endpoint showed for the type. */
  readonly target: string;
  readonly policyId: string | null;
  readonly policyType: string | null;
  /** Of the visible text; null: the service answered that there is none. */
  readonly textSha256: string | null;
  /** The entry of the ledger that holds the answer, and its commitment. */
  readonly bodySeq: number;
  readonly commitment: string | null;
  readonly contentType: string | null;
  /** The text before was seen last then; null: it is the first that was seen. */
  readonly notBefore: string | null;
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** The next text was seen first then; null: none was seen yet. */
  readonly nextSeen: string | null;
  /** A fetch that counts has shown it: not one so soon after a change that the edge may have had the old text. */
  readonly settled: boolean;
  readonly looks: number;
}

/** The texts that were, or may have been, in force at some time between `from` and `to`. Looks come target by target. */
export async function loadPolicyTextIntervals(
  looks: AsyncIterable<TextLookRow>,
  from: string,
  to: string,
): Promise<readonly PolicyTextInterval[]> {
  const found: PolicyTextInterval[] = [];
  let target: string | null = null;
  let versions: readonly TextVersion[] = [];
  const heads = new Map<number, TextLookRow>();
  const finish = (): void => {
    const intervals = versions.map((version, place) =>
      intervalOf(version, heads.get(version.firstSeq) as TextLookRow, versions[place + 1]?.firstSeen ?? null),
    );
    found.push(...inForceBetween(intervals, from, to));
    heads.clear();
    versions = [];
  };
  for await (const look of looks) {
    if (look.target !== target) finish();
    target = look.target;
    const before = versions.length;
    versions = addSighting(versions, sightingOf(look));
    if (versions.length > before) heads.set(look.seq, look);
  }
  finish();
  return found;
}

function intervalOf(version: TextVersion, head: TextLookRow, nextSeen: string | null): PolicyTextInterval {
  return {
    target: head.target,
    policyId: head.policy_id,
    policyType: head.policy_type,
    textSha256: version.textSha256,
    bodySeq: version.bodySeq,
    commitment: head.commitment?.toString('hex') ?? null,
    contentType: head.content_type,
    notBefore: version.notBefore,
    firstSeen: version.firstSeen,
    lastSeen: version.lastSeen,
    nextSeen,
    settled: version.settled,
    looks: version.sightings,
  };
}

/** Whose text it is, in words. */
export function describeText({ target, policyId, policyType }: PolicyTextInterval): string {
  if (!target.startsWith('hosted:')) return `embed endpoint, ${policyType ?? target}`;
  return `public page of ${policyId ?? target.slice('hosted:'.length)}${policyType === null ? '' : ` (${policyType})`}`;
}
