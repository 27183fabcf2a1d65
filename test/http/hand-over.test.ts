import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { letterLanguages } from '../../reports/letters/languages.ts';
import { findNotices } from '../../src/attention/find-notices.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { addAttachment } from '../../src/documents/attachments.ts';
import { produceLetter } from '../../src/documents/produce-letter.ts';
import {
  CODE_ATTEMPTS,
  createHandOver,
  listHandOvers,
  noteExpired,
  revokeHandOver,
} from '../../src/hand-over/hand-over.ts';
import { messagesOf, sendMessage } from '../../src/hand-over/visit.ts';
import { runCli } from '../cli/command-line.ts';
import { alter } from '../tampering.ts';
import { tokenOf } from './api-caller.ts';
import {
  copyReadyCases,
  createReadyCase,
  createSubject,
  handOver,
  makeMoves,
  makePack,
  OFFICER,
  PUBLIC_URL,
} from './hand-over-world.ts';
import { createVisitor, type OfficeWorld, type Page, signedIn, signedInAs, type Visitor } from './office-world.ts';

copyReadyCases();

const wrongFor = (code: string) => String((Number(code) + 1) % 10 ** 8).padStart(8, '0');
/** Everything that a caller can see in a response, except the time. */
const shape = ({ status, text, headers }: Page) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !/^(?:date|x-ratelimit-.*|keep-alive|connection)$/.test(name)),
});

describe('a handed-over pack', () => {
  it('opens with the code, shows its content, and is downloaded byte for byte, with an entry for each step', async () => {
    const { world, caseId, pack } = await createReadyCase();
    const { token, code, handOver: made } = await handOver(world, caseId);
    expect(code).toMatch(/^\d{8}$/);
    const ada = createSubject(world, token);
    const door = await ada.get(`/h/${token}`);
    expect(door.status).toBe(200);
    expect(door.text).toContain('<html lang="de-DE"');
    for (const secret of [caseId, pack.sha256, 'Lovelace', 'ada@example.org', code])
      expect(door.text).not.toContain(secret);
    const opened = await ada.enter(`${code.slice(0, 4)} ${code.slice(4)}`);
    expect([opened.status, opened.headers.get('location')]).toEqual([303, token]);
    const page = await ada.follow(opened);
    expect(page.status).toBe(200);
    for (const shown of [
      caseId,
      pack.sha256,
      'verlauf.html',
      'verify.html',
      `${PUBLIC_URL}/.well-known/consent-ledger/log.vkey`,
    ])
      expect(page.text).toContain(shown);
    expect(page.text).not.toContain('<script');
    const file = await ada.get(`/h/${token}/pack`);
    expect(file.bytes.equals(await readFile(pack.path))).toBe(true);
    expect(sha256Hex(file.bytes)).toBe(pack.sha256);
    expect(file.headers.get('content-disposition')).toContain(`filename="dsar-pack_${caseId}.zip"`);
    const subject = { actor: `data subject (hand-over ${made.hand_over_id})`, object: made.hand_over_id };
    expect(await world.actions('hand-over.created')).toEqual([{ actor: OFFICER, object: made.hand_over_id }]);
    expect(await world.actions('hand-over.opened')).toEqual([subject]);
    expect(await world.actions('hand-over.downloaded')).toEqual([subject]);
    const { downloads } = await world.context.store.read
      .selectFrom('documents')
      .select('downloads')
      .where('document_id', '=', pack.documentId)
      .executeTakeFirstOrThrow();
    expect(downloads).toBe(1);
    expect((await world.context.verify()).faults).toEqual([]);
  });

  it('is protected from caches, frames, referrers, search engines and scripts', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code } = await handOver(world, caseId);
    const ada = createSubject(world, token);
    const opened = await ada.enter(code);
    const cookie = opened.headers.getSetCookie().find((line) => line.startsWith('consent_ledger_hand_over_'));
    expect(cookie).toMatch(new RegExp(`; Path=/h/${token}; HttpOnly; Secure; SameSite=Strict$`));
    for (const path of [`/h/${token}`, `/h/${token}/pack`, '/h/nothing']) {
      const { headers } = await ada.get(path);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-robots-tag')).toBe('noindex, nofollow, noarchive');
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none';style-src 'sha256-/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('script-src');
    }
    const webhooks = await fetch(`${world.url}/healthz`);
    expect(webhooks.headers.get('content-security-policy')).toBeNull();
  });

  it('leaves neither token nor code in the database or the ledger', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code } = await handOver(world, caseId);
    const tables = await Promise.all([
      world.context.store.read.selectFrom('hand_overs').selectAll().execute(),
      world.context.store.read.selectFrom('entries').select(['meta', 'body']).execute(),
    ]);
    const kept = JSON.stringify(tables, (_key, value: unknown) =>
      value !== null && typeof value === 'object' && (value as { type?: unknown }).type === 'Buffer'
        ? Buffer.from((value as unknown as { data: number[] }).data).toString('latin1')
        : value,
    );
    expect(kept).toContain(caseId);
    expect([kept.includes(token), kept.includes(code)]).toEqual([false, false]);
  });

  it('is neither opened nor downloaded by HEAD, and shows no page without the code', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code } = await handOver(world, caseId);
    const ada = createSubject(world, token);
    await ada.enter(code);
    const cookie = [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    for (const path of [`/h/${token}`, `/h/${token}/pack`])
      expect((await fetch(world.url + path, { method: 'HEAD', headers: { cookie } })).status).toBe(404);
    const stranger = createSubject(world, token);
    expect((await stranger.get(`/h/${token}/pack`)).headers.get('location')).toBe(`../${token}`);
    expect((await stranger.get(`/h/${token}`)).text).not.toContain(caseId);
    expect(await world.actions('hand-over.downloaded')).toEqual([]);
    expect(await world.actions('hand-over.opened')).toHaveLength(1);
  });

  it('is closed by the visitor, and by time', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code } = await handOver(world, caseId);
    const ada = createSubject(world, token);
    const page = await ada.follow(await ada.enter(code));
    expect(page.text).toContain(caseId);
    const left = await ada.post(`/h/${token}`, { do: 'leave' });
    expect(left.status).toBe(303);
    expect((await ada.get(`/h/${token}`)).text).not.toContain(caseId);
    expect((await ada.follow(await ada.enter(code))).text).toContain(caseId);
    world.setNow(new Date(world.context.clock().getTime() + 31 * 60_000).toISOString());
    expect((await ada.get(`/h/${token}`)).text).not.toContain(caseId);
  });

  it('requires its form’s token for every change', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code } = await handOver(world, caseId);
    const ada = createSubject(world, token);
    await ada.get(`/h/${token}`);
    for (const csrf of [null, 'forged']) {
      const refused = await ada.post(`/h/${token}`, { do: 'code', code }, { csrf });
      expect(refused.status).toBe(403);
    }
    await ada.enter(code);
    expect(
      (await ada.post(`/h/${token}`, { do: 'message', about: 'question', text: 'x' }, { csrf: null })).status,
    ).toBe(403);
    expect(await world.actions('hand-over.code-refused')).toEqual([]);
    expect(await world.actions('case.moved')).toHaveLength(4);
  });
});

describe('files handed over with the pack', () => {
  const attach = async (visitor: Visitor, caseId: string, name: string, content: string) => {
    const multipart = new FormData();
    multipart.set('file', new Blob([content]), name);
    expect((await visitor.post(`/cases/${caseId}/attachments`, {}, { multipart })).status).toBe(303);
  };
  const filesOf = ({ context }: OfficeWorld, caseId: string) =>
    context.store.read
      .selectFrom('documents')
      .selectAll()
      .where('case_id', '=', caseId)
      .where('name', '=', 'attachment')
      .orderBy('seq')
      .execute();

  it('are listed with size and hash and downloaded byte for byte, each download an entry; others are not offered', async () => {
    const { world, caseId, pack } = await createReadyCase();
    const olga = await signedInAs(world, 'officer');
    await olga.get(`/cases/${caseId}`);
    await attach(olga, caseId, 'Umsätze "2025" <b>.csv', 'a,b');
    await attach(olga, caseId, 'internal.txt', 'not for Ada');
    const [given, kept] = await filesOf(world, caseId);
    if (given === undefined || kept === undefined) throw new Error('not filed');
    const form = (await olga.get(`/cases/${caseId}`)).text.split('/hand-overs#hand-over')[1] ?? '';
    expect(form).toContain(`name="file-${given.document_id}"`);
    const chosen = { days: '3', [`file-${given.document_id}`]: 'yes' };
    const wrong = await olga.post(`/cases/${caseId}/hand-overs`, { ...chosen, days: '91' });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('value="91"');
    expect(wrong.text).toMatch(new RegExp(`name="file-${given.document_id}" value="yes" checked`));
    const made = await olga.post(`/cases/${caseId}/hand-overs`, chosen);
    const link = /\/h\/([A-Za-z0-9_-]{43})/.exec(made.text)?.[1] ?? '';
    const code = /<strong class="mono">([\d ]+)/.exec(made.text)?.[1] ?? '';
    expect((await olga.get(`/cases/${caseId}`)).text).toContain('· with Umsätze');
    const ada = createSubject(world, link);
    const address = `/h/${link}/files/${given.document_id}`;
    expect((await ada.get(address)).headers.get('location')).toBe(`../../${link}`);
    const page = await ada.follow(await ada.enter(code));
    expect(page.text).toContain('Weitere Dateien');
    for (const shown of [given.sha256, '3 Byte', `${link}/files/${given.document_id}`])
      expect(page.text).toContain(shown);
    expect(page.text).not.toContain('<b>.csv');
    for (const hidden of [kept.sha256, 'internal.txt']) expect(page.text).not.toContain(hidden);
    const file = await ada.get(address);
    expect([file.status, file.text, file.headers.get('content-type')]).toEqual([
      200,
      'a,b',
      'application/octet-stream',
    ]);
    expect(file.headers.get('content-disposition')).toContain('attachment');
    for (const id of [kept.document_id, pack.documentId, 'none', '..%2fpack'])
      expect([id, (await ada.get(`/h/${link}/files/${id}`)).status]).toEqual([id, 404]);
    await world.context.projector.catchUp();
    const entries = await world.context.store.read
      .selectFrom('action_history')
      .select(['action', 'details'])
      .where('action', 'in', ['hand-over.created', 'hand-over.downloaded'])
      .orderBy('seq')
      .execute();
    const { document_id: documentId, sha256 } = given;
    expect(entries.map(({ action, details }) => ({ action, ...(JSON.parse(details) as object) }))).toMatchObject([
      { action: 'hand-over.created', documentId: pack.documentId, attachments: [{ documentId, sha256, bytes: 3 }] },
      { action: 'hand-over.downloaded', documentId, sha256 },
    ]);
    expect(JSON.stringify(entries)).not.toContain('Umsätze');
    expect((await filesOf(world, caseId)).map(({ downloads }) => downloads)).toEqual([1, 0]);
    // The answer is recorded with what was handed over.
    expect((await olga.get(`/cases/${caseId}`)).text).toMatch(
      new RegExp(`name="attachments.${sha256}" value="yes" checked`),
    );
    expect((await world.context.verify()).faults).toEqual([]);
  });

  it('are covered by the code: a row that names another file opens nothing', async () => {
    const { world, caseId } = await createReadyCase();
    const olga = await signedInAs(world, 'officer');
    await attach(olga, caseId, 'given.csv', 'given');
    await attach(olga, caseId, 'secret.csv', 'secret');
    const [given, secret] = await filesOf(world, caseId);
    if (given === undefined || secret === undefined) throw new Error('not filed');
    const { context } = world;
    const input = { caseId, actor: OFFICER, publicUrl: PUBLIC_URL, attachments: [given.document_id] };
    const created = await createHandOver(context, input);
    if (created.outcome !== 'created') throw new Error(JSON.stringify(created));
    const id = created.handOver.hand_over_id;
    const point = (contents: string) =>
      context.store.transaction(({ query }) =>
        query.updateTable('hand_overs').set({ contents }).where('hand_over_id', '=', id).execute(),
      );
    const altered = created.handOver.contents
      .replace(given.document_id, secret.document_id)
      .replace(given.sha256, secret.sha256);
    const ada = createSubject(world, created.link.slice(`${PUBLIC_URL}/h/`.length));
    await point(altered);
    expect((await ada.enter(created.code)).status).toBe(403);
    await point(created.handOver.contents);
    const opened = await ada.enter(created.code);
    expect((await ada.follow(opened)).text).toContain('given.csv');
    await point(altered);
    expect((await ada.follow(opened)).text).not.toContain('secret.csv');
  });

  it('must be files of the request, and of its answer once that is recorded; over API and command line too', async () => {
    const { world, caseId, pack } = await createReadyCase();
    const olga = await signedInAs(world, 'officer');
    await attach(olga, caseId, 'sent.csv', 'sent');
    await attach(olga, caseId, 'kept.csv', 'kept');
    const [sent, kept] = await filesOf(world, caseId);
    const worker = await tokenOf(world, 'officer', { scope: 'work' });
    const path = `/api/v1/cases/${caseId}/hand-overs`;
    const foreign = await worker.post(path, { attachments: [pack.documentId] });
    expect([foreign.status, foreign.text]).toEqual([422, expect.stringContaining('not a file of this request')]);
    const made = await worker.post(path, { attachments: [sent?.document_id, kept?.document_id] });
    expect([made.status, made.json['attachments']]).toEqual([201, [sent?.document_id, kept?.document_id]]);
    await makeMoves(world, caseId, [
      [
        'answer',
        { channel: 'hand-over', disclosure: 'full', documentSha256: pack.sha256, attachments: [sent?.sha256] },
      ],
    ]);
    const late = await worker.post(path, { attachments: [kept?.document_id] });
    expect([late.status, late.text]).toEqual([422, expect.stringContaining('does not name the file kept.csv')]);
    expect((await worker.post(path, { attachments: [sent?.document_id] })).status).toBe(201);
    const command = ['dsar', 'hand-over', 'create', caseId, '--attach', sent?.document_id ?? '', '--json'];
    const ran = await runCli(world.folder, command, { PUBLIC_URL });
    expect((JSON.parse(ran.stdout) as { attachments: string[] }).attachments).toEqual([sent?.document_id]);
  });
});

describe('a hand-over link', () => {
  it('gives the same answer if it is unknown, expired, revoked, locked or withheld, or if its pack was erased', async () => {
    const { world, caseId, pack } = await createReadyCase();
    const { context } = world;
    const unknown = shape(await createVisitor(world.url).get(`/h/${'A'.repeat(43)}`));
    expect(unknown.status).toBe(404);
    const same = async (what: string, token: string) => {
      const visitor = createVisitor(world.url);
      expect([what, shape(await visitor.get(`/h/${token}`))]).toEqual([what, unknown]);
      expect([what, (await visitor.get(`/h/${token}/pack`)).status]).toEqual([what, 404]);
    };
    for (const token of ['x', 'A'.repeat(99), 'A'.repeat(42) + '='])
      expect([token, shape(await createVisitor(world.url).get(`/h/${token}`))]).toEqual([token, unknown]);

    const revoked = await handOver(world, caseId);
    const ada = createSubject(world, revoked.token);
    await ada.enter(revoked.code);
    expect(await revokeHandOver(context, revoked.handOver.hand_over_id, OFFICER)).toBe(true);
    await same('revoked', revoked.token);
    // This includes a browser that had opened it before.
    expect((await ada.get(`/h/${revoked.token}`)).status).toBe(404);
    expect((await ada.get(`/h/${revoked.token}/pack`)).status).toBe(404);
    expect(await revokeHandOver(context, revoked.handOver.hand_over_id, OFFICER)).toBe(false);
    expect(await revokeHandOver(context, 'h-00000000', OFFICER)).toBe(false);

    const locked = await handOver(world, caseId);
    const mallory = createSubject(world, locked.token);
    const answers = [];
    for (let attempt = 0; attempt < CODE_ATTEMPTS; attempt += 1)
      answers.push((await mallory.enter(wrongFor(locked.code))).status);
    expect(answers).toEqual([403, 403, 403, 403, 404]);
    await same('locked', locked.token);
    expect((await mallory.post(`/h/${locked.token}`, { do: 'code', code: locked.code })).status).toBe(404);
    expect(await world.actions('hand-over.code-refused')).toHaveLength(CODE_ATTEMPTS);

    const expired = await handOver(world, caseId, 1);
    world.setNow(new Date(context.clock().getTime() + 86_400_000).toISOString());
    await same('expired', expired.token);
    // The revoked one is not reported again, and the locked one has days left.
    expect([await noteExpired(context), await noteExpired(context)]).toEqual([1, 0]);
    expect(await world.actions('hand-over.expired')).toEqual([
      { actor: 'program', object: expired.handOver.hand_over_id },
    ]);

    const withheld = await handOver(world, caseId);
    await makeMoves(world, caseId, [['rework', { reason: 'the wrong person' }]]);
    await same('withheld', withheld.token);
    await makeMoves(world, caseId, [['mark-ready', {}]]);
    expect((await createVisitor(world.url).get(`/h/${withheld.token}`)).status).toBe(200);
    await context.store.foldTransaction(({ query }) =>
      query
        .updateTable('documents')
        .set({ erased_at: context.clock().toISOString(), erased_seq: 1 })
        .where('document_id', '=', pack.documentId)
        .execute(),
    );
    await same('erased', withheld.token);
    const states = (await listHandOvers(context, { caseId })).map(({ state }) => state);
    expect(states.sort()).toEqual(['expired', 'locked', 'revoked', 'withheld']);
  });

  it('is locked by concurrent attempts just as by consecutive ones', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code } = await handOver(world, caseId);
    const mallory = createSubject(world, token);
    await mallory.get(`/h/${token}`);
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => mallory.post(`/h/${token}`, { do: 'code', code: wrongFor(code) })),
    );
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(CODE_ATTEMPTS - 1);
    expect(await world.actions('hand-over.code-refused')).toHaveLength(CODE_ATTEMPTS);
  });

  it('refuses its code if its row was redirected to someone else’s pack', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code, handOver: made } = await handOver(world, caseId);
    const newer = await makePack(world, caseId);
    const point = (changes: object) =>
      world.context.store.transaction(({ query }) =>
        query.updateTable('hand_overs').set(changes).where('hand_over_id', '=', made.hand_over_id).execute(),
      );
    await point({ document_id: newer.documentId, sha256: newer.sha256 });
    const mallory = createSubject(world, token);
    expect((await mallory.enter(code)).status).toBe(403);
    await point({ document_id: made.document_id, sha256: made.sha256 });
    expect((await mallory.enter(code)).status).toBe(303);
    // The change ends a visit that began before it.
    await point({ document_id: newer.documentId, sha256: newer.sha256 });
    const page = await mallory.get(`/h/${token}`);
    expect(page.text).not.toContain(newer.sha256);
  });

  it('does not count the right code as a failure', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code } = await handOver(world, caseId);
    const ada = createSubject(world, token);
    expect((await ada.enter(wrongFor(code))).text).toContain('Verbleibende Versuche: 4.');
    for (let visit = 0; visit < CODE_ATTEMPTS; visit += 1) expect((await ada.enter(code)).status).toBe(303);
    expect((await ada.enter(wrongFor(code))).text).toContain('Verbleibende Versuche: 3.');
  });

  it('is answered in the browser’s language, or in one selected on the page', async () => {
    const { world, caseId } = await createReadyCase();
    const { token } = await handOver(world, caseId);
    for (const [language, { handOver: texts }] of Object.entries(letterLanguages)) {
      const headers = { 'accept-language': `xx, ${language}-XX;q=0.9, en;q=0.1` };
      const answer = await (await fetch(`${world.url}/h/unknown`, { headers })).text();
      expect(answer).toContain(`<h1>${texts.invalidTitle}</h1>`);
      const page = await createVisitor(world.url).get(`/h/${token}?language=${language}`);
      expect(page.text).toContain(texts.enterCode);
    }
  });

  it('limits requests per address', async () => {
    const { world, caseId } = await createReadyCase();
    const { token } = await handOver(world, caseId);
    const statuses = new Set<number>();
    for (let asked = 0; asked < 60; asked += 1) statuses.add((await createVisitor(world.url).get('/h/unknown')).status);
    expect([...statuses]).toEqual([404]);
    expect((await createVisitor(world.url).get(`/h/${token}`)).status).toBe(429);
    expect((await fetch(`${world.url}/healthz`)).status).toBe(200);
  });
});

describe('a hand-over is refused', () => {
  it('for a case that is not ready, has changed since its pack, or was answered with another document', async () => {
    const { world, caseId, pack } = await createReadyCase();
    const { context } = world;
    const problems = async (of = caseId, more = {}) => {
      const created = await createHandOver(context, { caseId: of, actor: OFFICER, publicUrl: PUBLIC_URL, ...more });
      return created.outcome === 'refused' ? created.problems.join(' ') : created.outcome;
    };
    expect(await problems('default-999')).toBe('unknown-case');
    expect(await problems(caseId, { days: 0 })).toContain('use 1 to 90');
    expect(await problems(caseId, { publicUrl: 'http://privacy.acme.example' })).toContain('not https');
    expect(await problems(caseId, { documentId: 'nothing' })).toContain('no response pack nothing');
    await makeMoves(world, caseId, [['rework', { reason: 'one more look' }]]);
    expect(await problems()).toContain('not possible while the case is in progress');
    await makeMoves(world, caseId, [
      ['mark-system', { system: 'crm', result: 'attached' }],
      ['mark-ready', {}],
    ]);
    expect(await problems()).toContain('has changed since its response pack was made');
    const newer = await makePack(world, caseId);
    expect(await problems(caseId, { documentId: pack.documentId })).toContain('has changed since');
    await makeMoves(world, caseId, [['note', { text: 'called' }]]);
    expect(await problems()).toBe('created');
    await makeMoves(world, caseId, [
      ['answer', { channel: 'portal', disclosure: 'full', documentSha256: newer.sha256 }],
    ]);
    expect(await problems()).toBe('created');
    expect(await problems(caseId, { documentId: pack.documentId })).toContain('names another document');
  });

  it('if somebody assigned another person’s file to the case in the database', async () => {
    const { world, caseId } = await createReadyCase();
    const { context } = world;
    const seq = await world.event('dsar.submitted', {
      request_id: 'r-other',
      type: 'access',
      email: 'other@example.net',
    });
    await context.projector.projected(seq);
    const file = { actor: OFFICER, fileName: 'salary.txt', bytes: Buffer.from('of another person') };
    const added = await addAttachment(context.documents, { caseId: `default-${seq}`, ...file });
    if (added.outcome !== 'added') throw new Error(added.outcome);
    await context.projector.projected(added.seq);
    await alter(
      context.config.dataDir,
      `update documents set case_id = '${caseId}' where document_id = '${added.documentId}'`,
    );
    const wish = { caseId, actor: OFFICER, publicUrl: PUBLIC_URL, attachments: [added.documentId] };
    expect(await createHandOver(context, wish)).toEqual({
      outcome: 'refused',
      problems: [expect.stringContaining('does not register the file salary.txt for this request')],
    });
  });

  it('if the letter in its pack is a draft', async () => {
    const { world, caseId } = await createReadyCase();
    const { context } = world;
    await makeMoves(world, caseId, [
      ['rework', { reason: 'She wrote again' }],
      ['amend', { kind: 'erasure', reason: 'She wants it erased' }],
      ['mark-ready', {}],
    ]);
    await makePack(world, caseId);
    const created = await createHandOver(context, { caseId, actor: OFFICER, publicUrl: PUBLIC_URL });
    expect(created).toMatchObject({ outcome: 'refused', problems: [expect.stringContaining('is a draft')] });
    const letter = await produceLetter(
      { ...context.documents, cases: context.cases },
      { caseId, step: 'answer', text: 'Your account is erased.', format: 'pdf', actor: OFFICER },
    );
    if (letter.outcome !== 'produced') throw new Error(JSON.stringify(letter));
    await context.projector.projected(letter.seq);
    await makePack(world, caseId);
    expect((await createHandOver(context, { caseId, actor: OFFICER, publicUrl: PUBLIC_URL })).outcome).toBe('created');
  });

  it('after an answer letter newer than its pack, until the request is answered', async () => {
    const { world, caseId, pack } = await createReadyCase();
    const { context } = world;
    const create = () => createHandOver(context, { caseId, actor: OFFICER, publicUrl: PUBLIC_URL });
    const letter = async (step: 'answer' | 'acknowledgement') => {
      const made = await produceLetter(
        { ...context.documents, cases: context.cases },
        { caseId, step, text: null, format: 'pdf', actor: OFFICER },
      );
      if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
      await context.projector.projected(made.seq);
    };
    await letter('acknowledgement');
    expect((await create()).outcome).toBe('created');
    await letter('answer');
    expect(await create()).toMatchObject({
      outcome: 'refused',
      problems: [expect.stringContaining('create the response pack again')],
    });
    const { sha256 } = pack;
    await makeMoves(world, caseId, [['answer', { channel: 'portal', disclosure: 'full', documentSha256: sha256 }]]);
    expect((await create()).outcome).toBe('created');
  });

  it('when identity is in doubt again, although it was not when the pack was made', async () => {
    const { world, caseId } = await createReadyCase();
    await makeMoves(world, caseId, [
      ['rework', { reason: 'a doubt' }],
      ['ask-identity', { doubt: 'Another address', asked: 'The customer number' }],
    ]);
    const created = await createHandOver(world.context, { caseId, actor: OFFICER, publicUrl: PUBLIC_URL });
    expect(created.outcome).toBe('refused');
  });
});

it('sending the form again, as a reload does, creates no second link and does not show the first one again', async () => {
  const { world, caseId } = await createReadyCase();
  const officer = await signedInAs(world, 'officer');
  const path = `/cases/${caseId}/hand-overs`;
  const referenceOn = (text: string) => /name="reference" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const form = { days: '14', reference: referenceOn((await officer.get(`/cases/${caseId}`)).text) };
  const both = await Promise.all([officer.post(path, form), officer.post(path, form)]);
  const [made, ...others] = both.filter(({ status }) => status === 200);
  expect(others).toEqual([]);
  const [, link = ''] = /Link: <span class="mono">([^<]+)/.exec(made?.text ?? '') ?? [];
  const [, code = ''] = /Code: <strong class="mono">([^<]+)/.exec(made?.text ?? '') ?? [];
  expect([link, code]).toEqual([expect.stringContaining(`${PUBLIC_URL}/h/`), expect.stringMatching(/^\d{4} \d{4}$/)]);

  const again = await officer.post(path, form);
  expect([again.status, again.headers.get('location')]).toEqual([303, `/cases/${caseId}?done=handed-over#hand-over`]);
  const { text } = await officer.get(`/cases/${caseId}?done=handed-over`);
  expect(text).toContain('link and code are shown only once');
  expect([text.includes(link), text.includes(code)]).toEqual([false, false]);
  expect((await listHandOvers(world.context, { caseId })).length).toBe(1);
  expect((await world.actions('hand-over.created')).length).toBe(1);

  // The form of the new page creates another one.
  expect((await officer.post(path, { ...form, reference: referenceOn(text) })).status).toBe(200);
  expect((await listHandOvers(world.context, { caseId })).length).toBe(2);
});

it('a hand-over is created, listed and ended over the API as well', async () => {
  const { world, caseId, pack } = await createReadyCase();
  const caller = await tokenOf(world, 'officer', { scope: 'work' });
  const path = `/api/v1/cases/${caseId}/hand-overs`;
  expect((await caller.post(path, { days: 91 })).status).toBe(400);
  expect((await caller.post('/api/v1/cases/default-999/hand-overs', {})).status).toBe(404);
  const made = await caller.post(path, { days: 3 });
  expect(made.status).toBe(201);
  const { handOverId, link, code } = made.json as Record<string, string>;
  const ada = createSubject(world, String(link).slice(`${PUBLIC_URL}/h/`.length));
  expect((await ada.enter(String(code))).status).toBe(303);
  const listed = await caller.get(path);
  expect(listed.json).toMatchObject({
    data: [{ handOverId, state: 'open', documentId: pack.documentId, downloads: 0 }],
  });
  expect(listed.text).not.toContain(String(code));
  expect(listed.text).not.toContain(String(link));
  expect((await caller.post(`${path}/h-00000000/revoke`, {})).status).toBe(404);
  expect((await caller.post(`${path}/${handOverId}/revoke`, {})).json).toMatchObject({ state: 'revoked' });
  await makeMoves(world, caseId, [['rework', { reason: 'a doubt' }]]);
  expect(await caller.post(path, {})).toMatchObject({ status: 422 });
});

describe('a message of the data subject', () => {
  it('becomes a move of the case, and is shown escaped to the officer', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code, handOver: made } = await handOver(world, caseId);
    const ada = createSubject(world, token);
    await ada.enter(code);
    await ada.get(`/h/${token}`);
    const naughty = [
      '</textarea><script>alert(1)</script>',
      '"><img src=x onerror=alert(2)>',
      "'; drop table cases; --",
      '{{7*7}} ${7*7} %s %n',
      'a\0b \u202Egnp.exe ١٢٣ 🦊\u0007',
    ].join('\n');
    const sent = await ada.post(`/h/${token}`, { do: 'message', about: 'objection', text: naughty });
    expect([sent.status, sent.headers.get('location')]).toEqual([303, `${token}#write`]);
    expect((await ada.follow(sent)).text).toContain('Ihre Nachricht ist am ');
    const moved = await world.context.store.read
      .selectFrom('case_history')
      .select(['actor', 'details', 'to_state'])
      .where('move', '=', 'requester-message')
      .executeTakeFirstOrThrow();
    expect(moved).toMatchObject({ actor: `data subject (hand-over ${made.hand_over_id})`, to_state: 'ready' });
    expect(JSON.parse(moved.details)).toMatchObject({ about: 'objection', text: naughty.replace('\0', '\uFFFD') });
    const page = (await (await signedIn(world)).get(`/cases/${caseId}`)).text;
    expect(page).toContain('Objects to the answer');
    expect(page).toContain('&lt;script>alert(1)');
    expect(page).not.toContain('<script>alert(1)');
    expect(page).not.toContain('<img src=x');
  });

  it('appears on Today and as a notice, even once the request is answered, until an officer replies', async () => {
    const { world, caseId, pack } = await createReadyCase();
    await makeMoves(world, caseId, [
      ['answer', { channel: 'portal', disclosure: 'full', documentSha256: pack.sha256 }],
    ]);
    const { token, code } = await handOver(world, caseId);
    const ada = createSubject(world, token);
    await ada.enter(code);
    await ada.get(`/h/${token}`);
    await ada.post(`/h/${token}`, { do: 'message', about: 'objection', text: 'This is not all.' });
    const officer = await signedIn(world);
    const today = (await officer.get('/')).text;
    expect(today).toContain('1 request with an open message');
    expect(today).toContain(`(${caseId}), open since `);
    expect((await officer.get(`/cases/${caseId}`)).text).toContain('The requester wrote');
    const { context } = world;
    const told = async () =>
      (await findNotices({ ...context, pulled: [], warnings: [] })).filter(({ kind }) => kind === 'requester-message');
    expect(await told()).toMatchObject([{ source: 'default' }]);
    await makeMoves(world, caseId, [['note', { text: 'Called her: it was about the newsletter' }]]);
    expect((await officer.get('/')).text).toContain('1 request with an open message');
    await makeMoves(world, caseId, [['no-reply', { reason: 'Called her' }]]);
    expect((await officer.get('/')).text).not.toContain('open message');
    expect(await told()).toEqual([]);
  });

  it('is refused if empty or too long, kept in the form, and limited in number', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code } = await handOver(world, caseId);
    const ada = createSubject(world, token);
    await ada.enter(code);
    await ada.get(`/h/${token}`);
    const send = (text: string) => ada.post(`/h/${token}`, { do: 'message', about: 'question', text });
    expect((await send('  ')).status).toBe(422);
    const long = await send(`<b>${'x'.repeat(4000)}`);
    expect([long.status, long.text.includes('&lt;b>xxx')]).toEqual([422, true]);
    for (let sent = 0; sent < 20; sent += 1) expect((await send(`message ${sent}`)).status).toBe(303);
    expect((await send('one more')).status).toBe(429);
    expect(await world.actions('case.moved')).toHaveLength(24);
  });

  it('is kept or refused with a sentence, never lost, if 26 arrive at once', async () => {
    const { world, caseId } = await createReadyCase();
    const { token, code, handOver: made } = await handOver(world, caseId);
    const ada = createSubject(world, token);
    await ada.enter(code);
    await ada.get(`/h/${token}`);
    const answers = await Promise.all(
      Array.from({ length: 26 }, (_, n) =>
        ada.post(`/h/${token}`, { do: 'message', about: 'question', text: `message ${n}` }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(20).fill(303), ...Array<number>(6).fill(429)]);
    expect(await messagesOf(world.context, made)).toHaveLength(20);
    const row = await world.context.store.read
      .selectFrom('hand_overs')
      .select('messages')
      .where('hand_over_id', '=', made.hand_over_id)
      .executeTakeFirstOrThrow();
    expect(row.messages).toBe(20);
  });

  it('does not count if it could not be kept', async () => {
    const { world, caseId } = await createReadyCase();
    const { handOver: made } = await handOver(world, caseId);
    const { store } = world.context;
    const failing = {
      ...world.context,
      catchUp: async () => undefined,
      cases: { ...world.context.cases, store: null },
    };
    await expect(sendMessage(failing as never, made, 'question', 'a message')).rejects.toThrow();
    const row = await store.read.selectFrom('hand_overs').select('messages').executeTakeFirstOrThrow();
    expect(row.messages).toBe(0);
  });
});
