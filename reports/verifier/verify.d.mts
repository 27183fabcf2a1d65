/** What tests use of the verifier; nothing of the program does. */
export const engine: { subtle: object | undefined };
export function check(
  files: ReadonlyMap<string, { content: Uint8Array; broken: boolean }>,
  options?: { expectedKey?: string; isWhole?: boolean },
): Promise<unknown>;
export function unzip(bytes: Uint8Array): Promise<ReadonlyMap<string, { content: Uint8Array; broken: boolean }>>;
export function plainSha256(bytes: Uint8Array): Uint8Array;
export function plainSha512(bytes: Uint8Array): Uint8Array;
export function plainEd25519(key: Uint8Array, signature: Uint8Array, message: Uint8Array): boolean;
export function isIncluded(
  leafHash: Uint8Array,
  index: number,
  size: number,
  hashes: readonly Uint8Array[],
  root: Uint8Array,
): Promise<unknown>;
export interface VerifierKey {
  readonly name: string;
}
export function parseVerifierKey(text: string): Promise<VerifierKey>;
export function openCheckpoint(note: string, key: VerifierKey): Promise<unknown>;
export function parseProof(text: string): { readonly index: number; readonly note: string };
export function plainShake(rate: number, bytes: Uint8Array, length: number): Uint8Array;
export function plainMlDsa44(key: Uint8Array, signature: Uint8Array, message: Uint8Array): boolean;
export interface Policy {
  readonly isQuorum: (signed: ReadonlySet<string>) => boolean;
}
export function parsePolicy(text: string): Promise<Policy>;
export function cosignersOf(
  note: string,
  policy: Policy,
  now?: number,
): Promise<{
  readonly signed: readonly { readonly name: string; readonly at: string }[];
  readonly uncounted: readonly string[];
}>;
export function ntt(polynomial: readonly number[]): number[];
export function inverseNtt(transformed: readonly number[]): number[];
export function matrixEntry(seed: Uint8Array, row: number, column: number): readonly number[];
