import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as verifier from '../../reports/verifier/verify.mjs';
import { addBannerEvidence } from '../../src/banners/evidence.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { addAttachment } from '../../src/documents/attachments.ts';
import { checkFile, isUpload } from '../../src/documents/check.ts';
import { createProver, proofFiles } from '../../src/ledger/prove-entry.ts';
import { runCli } from '../cli/command-line.ts';
import { signedInAs } from '../http/office-world.ts';
import { temporaryFolder } from '../temporary.ts';
import { filesOf, packOf } from './pack-world.ts';

const FORGED = Buffer.from('%PDF-1.4\n% a forged letter\n%%EOF\n');

test('a file counts only as what its entry registers, and by whom', async () => {
  const { world, caseId, path, zip, verifierKey } = await packOf();
  const { context } = world;
  /** What the verifier says of a file next to the proof of an entry. */
  const said = async (bytes: Buffer, seq: number, name = 'letter.pdf') => {
    await context.seal();
    const proof = await createProver(context)(seq, 'last');
    if (proof.outcome === 'unproven' || proof.inclusion === null) throw new Error(JSON.stringify(proof));
    const { tlogProof, meta, body } = proofFiles(proof.entry, proof.inclusion, true);
    const given = { 'log.vkey': verifierKey, [`proofs/${seq}.tlog-proof`]: tlogProof, [name]: bytes };
    const files = new Map(Object.entries({ ...given, [`proofs/${seq}.meta`]: meta, [`proofs/${seq}.body`]: body }));
    const { ok, checks } = (await verifier.check(
      new Map(
        [...files].map(([name, content]) => [
          name,
          { content: new Uint8Array(Buffer.from(content ?? '')), broken: false },
        ]),
      ),
      { isWhole: false },
    )) as { ok: boolean; checks: { state: string; what: string; text: string }[] };
    const { state, text } = checks.find(({ what }) => what === name) ?? { state: '', text: '' };
    return { ok, state, text };
  };

  await context.projector.catchUp();
  const pack = await context.store.read
    .selectFrom('documents')
    .select(['seq', 'document_id'])
    .executeTakeFirstOrThrow();
  expect(await said(zip, Number(pack.seq))).toEqual({
    ok: true,
    state: 'ok',
    text: expect.stringMatching(
      new RegExp(
        `^is byte for byte the document ${pack.document_id} \\(dsar-pack, zip\\) that consent-ledger made for Olga and registered as entry \\d+ on 20`,
      ),
    ),
  });
  const letter = filesOf(zip).get('letter.pdf') ?? Buffer.of();
  expect((await said(letter, Number(pack.seq) - 1)).text).toContain('letter.pdf of the pack ');

  const evidence = await addBannerEvidence(context, {
    ...{ source: 'default', bannerId: 'main', bytes: FORGED, fileName: 'letter.pdf', actor: 'Mallory' },
    ...{ from: '2026-01-01T00:00:00.000Z', to: null, note: null },
  });
  if (evidence.outcome !== 'added') throw new Error(JSON.stringify(evidence));
  expect(await said(FORGED, evidence.seq)).toEqual({
    ok: true,
    state: 'note',
    text: expect.stringMatching(
      /^is byte for byte the file that Mallory uploaded as evidence of the banner main, .* It was not made by consent-ledger/,
    ),
  });

  const attachment = await addAttachment(context.documents, {
    ...{ caseId, actor: 'Mallory', fileName: 'letter.pdf', bytes: FORGED },
  });
  if (attachment.outcome !== 'added') throw new Error(JSON.stringify(attachment));
  expect(await said(FORGED, attachment.seq)).toMatchObject({
    state: 'note',
    text: expect.stringContaining(`the file that Mallory uploaded for the request ${caseId}`) as unknown,
  });

  // Anyone with a signing secret can send any hash.
  const delivered = await world.event('page.viewed', { action: 'document.produced', sha256: sha256Hex(FORGED) });
  expect(await said(FORGED, delivered)).toEqual({
    ok: false,
    state: 'bad',
    text: 'matches none of the proven entries',
  });
  // A program that lies beside proofs proves nothing, and is not passed over in silence.
  for (const name of ['verify.mjs', 'verify.html'])
    expect(await said(FORGED, delivered, name)).toEqual({
      ok: true,
      state: 'note',
      text: 'is taken for the verifier that came with the proofs: it was not compared with anything',
    });
  // A download names the hash, but registers nothing.
  const officer = await signedInAs(world, 'officer');
  expect((await officer.get(`/documents/${pack.document_id}/download`)).status).toBe(200);
  await context.projector.catchUp();
  const [download] = await context.store.read
    .selectFrom('action_history')
    .select('seq')
    .where('action', '=', 'document.downloaded')
    .execute();
  expect(await said(zip, Number(download?.seq))).toMatchObject({ ok: false, state: 'bad' });

  // The page and the command say the same of an uploaded file.
  await context.projector.catchUp();
  const forged = join(await temporaryFolder(), 'letter.pdf');
  await writeFile(forged, FORGED);
  const { documents } = await checkFile(context, forged);
  expect(documents.map(isUpload)).toEqual([true]);
  const command = await runCli(world.folder, ['document', 'check', forged]);
  expect(command.stdout).toContain(`✓ registered: ${forged} was uploaded for a request; it was not made here`);
  const multipart = new FormData();
  multipart.set('file', new Blob([FORGED]), 'letter.pdf');
  await officer.get('/documents/check');
  const page = await officer.post('/documents/check', {}, { multipart });
  expect(page.text).toContain('Registered, but not made here: somebody uploaded it for a request: ');
  expect(page.text).not.toContain('Genuine: ');
  expect((await runCli(world.folder, ['document', 'check', path])).stdout).toContain('✓ genuine');
  expect(await readFile(path)).toEqual(zip);
});
