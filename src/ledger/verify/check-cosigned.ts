import { actionSchema } from '../../core/action.ts';
import type { TreeHead } from '../../crypto/checkpoint.ts';
import { cosignedAt, whyAhead } from '../cosignature.ts';
import { checkpointInName, hashesOfKept, type KeptFile, namesKept, readWitnessState } from '../cosigned-checkpoints.ts';
import { parseOrigin } from '../epochs.ts';
import { readTimestamp } from '../timestamp.ts';
import type { Cosigner, TimestampAuthority } from '../witness-policy.ts';
import type { Checking, Run } from './check-types.ts';
import type { SignedNote } from './signed-notes.ts';

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

/** Checks notes, cosignatures and tokens, and that everything kept still exists. Roots are compared by another check. */
export function beginWitnessed({ store, signed, stated, report, now }: Run): Checking {
  if (signed.witnessed === null) return {};
  const { policy, kept, tokens, elsewhere, unread } = signed.witnessed;
  const unchecked = [...unread];
  const recorded: { readonly seq: number; readonly name: string; readonly sha256: readonly string[] }[] = [];
  let cosignatures = 0;
  let timestamps = 0;
  let strangers = 0;
  let newest = 0;
  const fault = (seq: number | null, sentence: string) => report({ seq, fault: 'witness-invalid', sentence });

  async function checkCosignatures(one: SignedNote & { readonly file: string }): Promise<void> {
    const cosigners = (policy?.witnesses ?? []).filter((witness): witness is Cosigner => witness.kind === 'cosigner');
    // The first line is the ledger's own signature.
    const [, ...lines] = one.note.slice(one.note.indexOf('\n\n') + 2, -1).split('\n');
    for (const line of lines) {
      const cosigned: { what: string; size: number; at: string }[] = [];
      for (const witness of cosigners) {
        const at = await cosignedAt(witness, one.note, line);
        if (at !== null) cosigned.push({ what: `the cosignature of ${witness.name}`, size: one.size ?? 0, at });
      }
      const ahead = cosigned.find(({ at }) => whyAhead(at, now) !== null);
      if (ahead !== undefined)
        fault(one.size, `${ahead.what} in ${one.where} does not count: ${whyAhead(ahead.at, now)}`);
      else if (cosigned.length > 0) {
        stated.push(...cosigned);
        cosignatures += 1;
        newest = Math.max(newest, one.size ?? 0);
      } else if (policy === null) strangers += 1;
      else
        fault(
          one.size,
          `${one.where} has a cosignature that is not from a witness in WITNESSES, or is for other content`,
        );
    }
    if (one.file.endsWith('.txt') && lines.length === 0) fault(one.size, `${one.where} has no cosignature`);
  }

  /** An earlier checkpoint under the name of a later one would stand in for what witnesses signed of that. */
  function checkName(file: string, where: string, { origin, size }: TreeHead): void {
    const named = checkpointInName(file);
    if (named?.size !== size || named.epoch !== parseOrigin(origin)?.epoch)
      fault(size, `${where} is not the checkpoint that its name says`);
  }

  async function checkToken({ name, bytes }: KeptFile): Promise<void> {
    const [, stem = '', authority = ''] = /^(\d+-\d{16})\.([A-Za-z0-9_-]+)\.tsr$/.exec(name) ?? [];
    const note = kept.find(({ file }) => file === `${stem}.note`);
    if (note === undefined) return fault(null, `the checkpoint of the token ${name} is missing next to it`);
    const known = policy?.witnesses.find(
      (witness): witness is TimestampAuthority => witness.kind === 'timestamp' && witness.name === authority,
    );
    if (known === undefined) {
      if (policy === null) strangers += 1;
      else fault(note.size, `the token ${name} is not from an authority in WITNESSES`);
      return;
    }
    const read = await readTimestamp(bytes, Buffer.from(note.note), known.roots);
    if (read.outcome === 'invalid')
      return fault(note.size, `the token ${name} is not valid for its checkpoint: ${read.reason}`);
    const ahead = whyAhead(read.at, now);
    if (ahead !== null) return fault(note.size, `the token ${name} does not count: ${ahead}`);
    stated.push({ what: `the time stamp of ${known.name}`, size: note.size ?? 0, at: read.at });
    timestamps += 1;
    newest = Math.max(newest, note.size ?? 0);
  }

  /** Checks that what entries recorded is still kept. */
  function checkRecorded(): void {
    const there = new Map(
      [...tokens, ...kept.map(({ file, note }) => ({ name: file, bytes: Buffer.from(note) }))].map((one) => [
        one.name,
        new Set(hashesOfKept(one)),
      ]),
    );
    for (const { seq, name, sha256 } of recorded)
      if (!sha256.every((one) => there.get(name)?.has(one) === true))
        report({
          seq,
          fault: 'file-missing',
          sentence: `entry ${seq} records what witnesses signed, but DATA_DIR/witnessed/${name} ${there.has(name) ? 'no longer holds all of it' : 'is missing'}`,
        });
  }

  /** Checks that what the last runs kept still exists. */
  async function checkPresence(): Promise<void> {
    const there = new Set([...kept.map(({ file }) => file), ...tokens.map(({ name }) => name)]);
    const { witnesses } = await readWitnessState(store);
    for (const [identity, standing] of Object.entries(witnesses)) {
      for (const name of namesKept(standing, identity).filter((one) => !there.has(one)))
        report({
          seq: standing.size,
          fault: 'file-missing',
          sentence: `what ${standing.name} signed is missing from DATA_DIR/witnessed (${name})`,
        });
    }
  }

  return {
    entry(entry) {
      if (entry.kind !== 'action' || entry.body?.includes('"checkpoint.witnessed"') !== true) return;
      const read = actionSchema.safeParse(parsed(entry.body)).data;
      if (read?.action === 'checkpoint.witnessed')
        for (const file of read.files) recorded.push({ seq: entry.seq, ...file });
    },
    async end() {
      for (const one of kept) {
        one.faults.forEach(report);
        if (one.head !== null) checkName(one.file, one.where, one.head);
        if (one.head !== null) await checkCosignatures(one);
      }
      for (const { faults, size } of elsewhere) {
        faults.forEach(report);
        newest = Math.max(newest, size ?? 0);
      }
      for (const token of tokens) await checkToken(token);
      await checkPresence();
      checkRecorded();
      if (strangers > 0)
        unchecked.push(
          `${strangers} ${strangers === 1 ? 'cosignature or token is' : 'cosignatures and tokens are'} kept in DATA_DIR/witnessed, but WITNESSES does not say whose to accept`,
        );
    },
    counts: () => ({ cosignatures, timestamps, copies: elsewhere.length, witnessed: newest, unchecked }),
  };
}
