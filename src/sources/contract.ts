import type { SecretEncoding, Source } from '../core/source.ts';
import type { FieldMapping } from './changes.ts';
import type { NewSource, SourceChanges } from './input.ts';

/**
 * What came of a change. `exists`: the slug (or the secret) is there already. `unknown`: no such source (or secret).
 * `configured`: the credentials of this source come from the environment; change them there. `unchanged`: nothing to do.
 * `conflict`: someone else changed the source at the same time; look again. `invalid`: why, one sentence each.
 */
export type SourceOutcome =
  | { readonly outcome: 'done'; readonly source: Source; readonly seq: number }
  | { readonly outcome: 'exists' | 'unknown' | 'configured' | 'unchanged' | 'conflict' }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] };

/** A source that left: its entries stay, its credentials are gone. */
export interface OffboardedSource {
  readonly source: Source;
  /** ISO 8601 UTC. */
  readonly offboardedAt: string;
}

/** How a signing secret is taken in. */
export interface RotationOptions {
  /** How the secret is written, default `text`. */
  readonly encoding?: SecretEncoding | undefined;
  /** ISO 8601 UTC: until then the secrets of before are accepted too, and no longer. Absent: until they are retired one by one. */
  readonly retireOthersAt?: string | undefined;
}

/** The sources of this installation: the configured one and those that were added. */
export interface Sources {
  /** Those that are followed, by slug. */
  list(): readonly Source[];
  /** One that is followed, out of memory: at most REFRESH_MILLISECONDS (sources.ts) behind a change that another process made. */
  find(slug: string): Source | null;
  /** Those that left, by slug. */
  offboarded(): readonly OffboardedSource[];
  /** One that is followed or that left: for what is done with its evidence. */
  findAny(slug: string): Source | null;
  /** Slugs of rows that cannot be read because someone altered them; they are not listed. */
  damaged(): readonly string[];
  /** Signing secrets of a source that are accepted for a while only: id → until when, ISO 8601 UTC. */
  retirements(slug: string): ReadonlyMap<string, string>;
  /** Takes up a source; one that left is taken up again under its slug, and its numbers go on. */
  add(source: NewSource, actor: string): Promise<SourceOutcome>;
  change(slug: string, changes: SourceChanges, actor: string): Promise<SourceOutcome>;
  /** Adds a signing secret beside the old ones, which stay valid until they are retired. */
  rotateSecret(slug: string, secret: string, actor: string, options?: RotationOptions): Promise<SourceOutcome>;
  retireSecret(slug: string, secretId: string, actor: string): Promise<SourceOutcome>;
  /** Destroys the secrets whose time has come; they were accepted no more since then. Returns how many. */
  destroyRetired(actor: string): Promise<number>;
  /** Lets a source go: destroys its credentials. What must be settled before is the caller's to ask (src/sources/offboard.ts). */
  offboard(slug: string, facts: OffboardingFacts, actor: string): Promise<SourceOutcome>;
  /** Reads payloads of a source by a mapping from now on. */
  acceptMapping(slug: string, mapping: FieldMapping, actor: string): Promise<SourceOutcome>;
  /** Reads the sources again if they changed. */
  refresh(): Promise<void>;
  close(): void;
}

export interface OffboardingFacts {
  readonly reason: string | null;
  readonly openCases: number;
}
