import { describe, expect, it } from 'vitest';
import { covers, listDocumentSchedules, periodBefore } from '../../src/documents/schedules.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { createOfficeWorld, signedInAs } from '../http/office-world.ts';
import { startMailServer } from '../outside/mail-server.ts';

describe('the period of a scheduled report', () => {
  it.each([
    [
      '2026-11-23',
      [
        '2026-11-22..2026-11-23',
        '2026-11-16..2026-11-23',
        '2026-10-01..2026-11-01',
        '2026-07-01..2026-10-01',
        '2025-01-01..2026-01-01',
      ],
    ],
    [
      '2026-01-01',
      [
        '2025-12-31..2026-01-01',
        '2025-12-22..2025-12-29',
        '2025-12-01..2026-01-01',
        '2025-10-01..2026-01-01',
        '2025-01-01..2026-01-01',
      ],
    ],
    [
      '2024-03-31',
      [
        '2024-03-30..2024-03-31',
        '2024-03-18..2024-03-25',
        '2024-02-01..2024-03-01',
        '2023-10-01..2024-01-01',
        '2023-01-01..2024-01-01',
      ],
    ],
  ])('made on %s is the last whole day, week, month, quarter and year', (today, expected) => {
    const found = covers.map((one) => periodBefore(one, today)).map(({ from, to }) => `${from}..${to}`);
    expect(found).toEqual(expected);
  });
});

const monthly = { name: 'consent-audit', source: 'default', format: 'pdf', when: '0 6 1 * *', period: 'month' };

describe('a scheduled report', () => {
  it('is made when it is due, filed, and mailed to the chosen recipients', async () => {
    const mail = await startMailServer();
    const world = await createOfficeWorld({
      SMTP_URL: mail.url,
      MAIL_FROM: 'ledger@example.org',
      ADMIN_URL: 'https://ledger.example.org',
      NOTIFY_SCHEDULE: 'off',
      DIGEST_SCHEDULE: 'off',
    });
    await world.event('consent.recorded', { consent_id: 'c-1' });
    const auditor = await signedInAs(world, 'auditor', { name: 'Ada Auditor' });
    const olga = await signedInAs(world, 'officer', { name: 'Olga Officer' });
    const added = await olga.post('/documents/schedules', {
      ...monthly,
      when: 'cron',
      cron: '0 6 * * *',
      recipients: auditor.personId,
    });
    expect([added.status, added.headers.get('location')]).toEqual([303, '/documents/schedules?done=added']);
    const { text } = await olga.get('/documents/schedules?done=added');
    expect(text).toContain('The report is scheduled.');
    expect(text).toMatch(/Consent audit[\s\S]*the last whole month[\s\S]*daily at 06:00[\s\S]*Ada Auditor/);
    expect((await auditor.get('/documents/schedules')).text).not.toContain('action="/documents/schedules/remove"');

    world.setNow(new Date(Date.now() + 26 * 3_600_000).toISOString());
    await expect.poll(() => mail.mails.length).toBe(1);
    expect(mail.mails[0]).toMatchObject({ to: [auditor.email], subject: expect.stringContaining('Consent audit of') });
    expect(mail.mails[0]?.text).toContain('It is attached, and also filed ');
    const [[fileName, content] = ['', '']] = Object.entries(mail.mails[0]?.attachments ?? {});
    expect(fileName).toMatch(/^consent-audit Default \d{4}-\d\d\.pdf$/);
    expect(content.slice(0, 5)).toBe('%PDF-');
    await world.context.projector.catchUp();
    const rows = await world.context.store.read.selectFrom('documents').selectAll().execute();
    expect(rows).toMatchObject([{ name: 'consent-audit', actor: expect.stringContaining('schedule of Olga Officer') }]);
    expect(await world.actions('document.mailed')).toMatchObject([{ object: rows[0]?.document_id }]);
  });

  it('is not mailed to an account that may no longer see its source', async () => {
    const mail = await startMailServer();
    const world = await createOfficeWorld({
      SMTP_URL: mail.url,
      MAIL_FROM: 'ledger@example.org',
      NOTIFY_SCHEDULE: 'off',
      DIGEST_SCHEDULE: 'off',
    });
    const { store, jobs } = world.context;
    const auditor = await signedInAs(world, 'auditor');
    const olga = await signedInAs(world, 'officer');
    await olga.post('/documents/schedules', { ...monthly, when: '0 6 * * *', recipients: auditor.personId });
    await store.transaction((tx) =>
      tx.query.updateTable('people').set({ sources: '["bolt"]' }).where('person_id', '=', auditor.personId).execute(),
    );
    world.setNow(new Date(Date.now() + 26 * 3_600_000).toISOString());
    await expect
      .poll(async () => (await jobs.list({ kind: 'document-mail' })).map(({ result }) => result))
      .toEqual([{ sent: false, reason: 'the account no longer has access to it' }]);
    expect(mail.mails).toEqual([]);
    expect(await world.actions('document.mailed')).toEqual([]);
  });

  it('can be made for every source at once, each mailed to the people of that source', async () => {
    const world = await createOfficeWorld(
      { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'ledger@example.org' },
      { worker: false },
    );
    const { context } = world;
    for (const slug of ['bolt', 'coil']) await context.sources.add({ slug, name: slug }, 'test');
    const nora = await signedInAs(world, 'auditor', { sources: ['bolt'], name: 'Nora of Bolt' });
    const both = await signedInAs(world, 'officer', { sources: ['bolt', 'coil'], name: 'Both' });
    const olga = await signedInAs(world, 'owner', { name: 'Olga Owner' });
    const every = { ...monthly, source: '*', limited: 'yes', recipients: olga.personId };
    const made = await olga.post('/documents/schedules', every);
    expect([made.status, made.text.includes('The report is scheduled for 3 sources.')]).toEqual([200, true]);
    const kept = async () =>
      (await listDocumentSchedules(context.store.read, null)).map(({ source, recipients }) => [
        source,
        recipients.toSorted(),
      ]);
    const expected = [
      ['bolt', [nora.personId, both.personId, olga.personId].toSorted()],
      ['coil', [both.personId, olga.personId].toSorted()],
      ['default', [olga.personId]],
    ];
    expect(await kept()).toEqual(expected);
    await context.sources.add({ slug: 'disc', name: 'Disc' }, 'test');
    const again = await olga.post('/documents/schedules', every);
    expect(again.text).toContain('The report is scheduled for 1 source. 3 sources had it already.');
    expect(await kept()).toEqual([...expected, ['disc', [olga.personId]]]);
    // Someone limited to some sources is not offered it.
    expect((await both.get('/documents/schedules')).text).not.toContain('value="*"');
    expect((await both.post('/documents/schedules', { ...every, source: '*' })).status).toBe(404);
  });

  it('is refused with every reason if invalid, and kept by a starting worker until it is removed', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    await world.context.sources.add({ slug: 'bolt' }, 'test');
    const stranger = await signedInAs(world, 'auditor', { sources: ['bolt'], name: 'Sam Stranger' });
    const olga = await signedInAs(world, 'officer', { sources: ['default'] });
    const wrong = await olga.post('/documents/schedules', {
      ...monthly,
      when: 'cron',
      cron: '*/5 * * * *',
      recipients: stranger.personId,
    });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('more often than once an hour');
    expect(wrong.text).toContain('may see this source');
    // Not whose id it is: it may be the officer of another client.
    expect(wrong.text).not.toContain('Sam Stranger');
    const nonsense = await olga.post('/documents/schedules', { ...monthly, when: 'cron', cron: 'tomorrow' });
    expect(nonsense.text).toContain('Invalid schedule &quot;tomorrow&quot;');
    const letters = await olga.post('/documents/schedules', { ...monthly, when: 'cron', cron: '0 7 * * x' });
    expect(letters.text).toContain('use minute hour day month weekday, for example 0 7 * * 1-5 (');
    expect(letters.text).not.toContain('..');
    for (const cron of ['0 0 7 * * 1', '0 7 * * 1 2027']) {
      const six = await olga.post('/documents/schedules', { ...monthly, when: 'cron', cron });
      expect([six.status, six.text.includes('it has 6 fields: use five, minute hour day month weekday')]).toEqual([
        422,
        true,
      ]);
      expect(six.text).toContain(`value="${cron}"`);
    }
    const unsaid = await olga.post('/documents/schedules', { ...monthly, cron: '0 7 * * 1' });
    expect([unsaid.status, unsaid.text.includes('Choose “as a cron expression”')]).toEqual([422, true]);

    await olga.post('/documents/schedules', monthly);
    const worker = await startWorker(world.context);
    await worker.stop();
    const page = await olga.get('/documents/schedules');
    const id = /name="schedule" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    expect(id).not.toBe('');
    expect((await stranger.get('/documents/schedules')).text).not.toContain('Consent audit <span');
    const removed = await olga.post('/documents/schedules/remove', { source: 'default', schedule: id });
    expect(removed.headers.get('location')).toBe('/documents/schedules?done=removed');
    expect((await olga.get('/documents/schedules')).text).toContain('None yet.');
    expect((await world.actions('document.schedule-removed')).map(({ object }) => object)).toEqual([id]);
  });
});
