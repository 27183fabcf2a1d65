import { writeFile } from 'node:fs/promises';
import { Secret, TOTP } from 'otpauth';
import { expect, it } from 'vitest';
import { parseFolded } from '../../src/cases/folded.ts';
import { webhookSecretOf } from '../../src/crypto/keys.ts';
import { createHandOver } from '../../src/hand-over/hand-over.ts';
import { messagesOf, openWithCode } from '../../src/hand-over/visit.ts';
import { createSetUpLink, openSession } from '../../src/people/links.ts';
import { listPasskeys, PASSKEYS_PER_PERSON } from '../../src/people/passkeys.ts';
import {
  findPerson,
  invitePerson,
  listPeople,
  type PersonOutcome,
  setDisabled,
  setUpOwner,
} from '../../src/people/people.ts';
import { countRecoveryCodes, proposeSecondFactor, setSecondFactor, takeCode } from '../../src/people/second-factor.ts';
import {
  codeOfRequest,
  confirmAddress,
  REQUESTS_PER_HOUR,
  submitRequest,
} from '../../src/request-form/request-form.ts';
import { ONLY_SECRET } from '../../src/sources/changes.ts';
import { addSoftPasskey } from '../people/soft-passkey.ts';
import { tokenOf } from './api-caller.ts';
import { createSubject, handOver, makeMoves, makeReadyCaseIn, OFFICER, PUBLIC_URL } from './hand-over-world.ts';
import { createOfficeWorld, createVisitor, type OfficeWorld, PASSWORD, type Page, signedInAs } from './office-world.ts';
import { seedRequests } from './pages/seed.ts';

/*
 * Limits on what is stored or tried, each tried twenty times at once in the way its users have. Files, schedules, tokens,
 * saved views, mails of the request form and erasures are in at-once.test.ts, the last signing secret for several
 * processes in test/sources, streams in api-work.test.ts, calls of the service in test/policies/limits.test.ts, jobs in
 * test/jobs, refused deliveries in test/rejected, holds placed during an erasure in test/erasure.
 */

const TRIES = 20;
const CLI = { officer: 'test', personId: null, role: 'owner' } as const;

/** What one try says: null if it was let through, otherwise the sentence that refused it. */
type Said = string | null;

interface Limit {
  /** How many of the twenty are let through. */
  readonly free: number;
  /** How many there are afterwards. */
  readonly most: number;
  readonly refusal: RegExp;
  arrange(world: OfficeWorld): Promise<{
    readonly attempt: (nth: number) => Promise<Said>;
    readonly count: () => Promise<number>;
  }>;
}

/** An answer over HTTP: refused only by a status of the client's and a sentence. */
function saidBy({ status, text }: Pick<Page, 'status' | 'text'>, sentence: RegExp): Said {
  if (status < 400) return null;
  if (status >= 500) throw new Error(`${status}: ${text}`);
  const plain = text.replaceAll(/<[^>]*>/g, '').replaceAll('&#39;', '’');
  return sentence.exec(plain)?.[0] ?? `${status} without the sentence: ${plain.slice(0, 500)}`;
}

/** Repeats an attempt that lost only against another one (409), as its user would. */
async function untilSettled<A extends { readonly status: number }>(send: () => Promise<A>): Promise<A> {
  for (let nth = 0; nth < 200; nth += 1) {
    const answer = await send();
    if (answer.status !== 409) return answer;
  }
  throw new Error('a conflict did not end');
}

type Move = readonly [string, Record<string, unknown>];

async function officerIn(world: OfficeWorld) {
  const { personId } = await signedInAs(world, 'officer');
  const person = await findPerson(world.context, personId);
  if (person === null) throw new Error('no officer');
  return person;
}

const problemOf = (outcome: PersonOutcome): Said =>
  outcome.outcome === 'refused' ? outcome.problems.join() : outcome.outcome === 'done' ? null : outcome.outcome;

const rowOf = ({ context }: OfficeWorld, caseId: string) =>
  context.store.read.selectFrom('cases').selectAll().where('case_id', '=', caseId).executeTakeFirstOrThrow();

function submitForm({ context }: OfficeWorld, form: string) {
  const deps = { ...context, catchUp: () => context.projector.catchUp() };
  const about = { kind: 'access', name: 'Ada Lovelace', email: 'ada@example.org', place: 'DE' } as const;
  return submitRequest(
    deps,
    { ...about, message: null, subject: null },
    { source: 'default', form, language: 'en', mails: false },
  );
}

const limits: Readonly<Record<string, Limit>> = {
  'passkeys of an account': {
    free: 3,
    most: PASSKEYS_PER_PERSON,
    refusal: /^An account has at most 20 passkeys: remove one first\.$/,
    async arrange(world) {
      const person = await officerIn(world);
      for (let nth = 0; nth < PASSKEYS_PER_PERSON - 3; nth += 1) await addSoftPasskey(world.context, person);
      return {
        attempt: (nth) => addSoftPasskey(world.context, person, { handle: `session ${nth}` }),
        count: async () => (await listPasskeys(world.context, person.personId)).length,
      };
    },
  },
  'tasks of a request': {
    free: 2,
    most: 100,
    refusal: /a case can have at most 100 tasks/,
    async arrange(world) {
      const caseId = `default-${(await seedRequests(world)).access}`;
      const caller = await tokenOf(world, 'officer', { scope: 'work' });
      const task = { what: 'Look in the archive', due: '2030-05-01' };
      await makeMoves(world, caseId, [['start', {}], ...Array<Move>(98).fill(['add-task', task])]);
      const address = `/api/v1/cases/${caseId}`;
      return {
        attempt: async (nth) =>
          saidBy(
            await untilSettled(async () => {
              // The same move of the same officer, sent twice, is one.
              const details = { ...task, what: `Look in archive ${nth}` };
              const basedOn = (await caller.get(address)).json['version'];
              return caller.post(`${address}/moves`, { move: 'add-task', basedOn, details });
            }),
            /a case can have at most 100 tasks/,
          ),
        count: async () => {
          const { tasks } = parseFolded((await rowOf(world, caseId)).folded);
          return tasks?.length ?? 0;
        },
      };
    },
  },
  'messages sent through a link': {
    free: 12,
    most: 20,
    refusal: /^Hier können keine weiteren Nachrichten gesendet werden/,
    async arrange(world) {
      const { caseId } = await makeReadyCaseIn(world);
      const { token, code, handOver: made } = await handOver(world, caseId);
      const ada = createSubject(world, token);
      await ada.enter(code);
      await ada.get(`/h/${token}`);
      const send = (text: string) => ada.post(`/h/${token}`, { do: 'message', about: 'question', text });
      for (let nth = 0; nth < 8; nth += 1) await send(`before ${nth}`);
      return {
        attempt: async (nth) =>
          saidBy(await send(`message ${nth}`), /Hier können keine weiteren Nachrichten gesendet werden/),
        count: async () => (await messagesOf(world.context, made)).length,
      };
    },
  },
  'wrong codes of a link': {
    free: 4,
    most: 5,
    refusal: /^gone$/,
    async arrange(world) {
      const { caseId } = await makeReadyCaseIn(world);
      const { token, code, handOver: made } = await handOver(world, caseId);
      const row = async () => {
        const found = await world.context.store.read
          .selectFrom('hand_overs')
          .selectAll()
          .where('hand_over_id', '=', made.hand_over_id)
          .executeTakeFirstOrThrow();
        return found;
      };
      return {
        attempt: async (nth) => {
          const { outcome } = await openWithCode(world.context, made, String((Number(code) + 1 + nth) % 10 ** 8));
          return outcome === 'refused' ? null : outcome;
        },
        count: async () => {
          expect(await openWithCode(world.context, await row(), code)).toEqual({ outcome: 'gone' });
          expect((await createSubject(world, token).get(`/h/${token}`)).status).toBe(404);
          return (await row()).failures;
        },
      };
    },
  },
  'wrong codes of the request form': {
    free: 4,
    most: 5,
    refusal: /^gone$/,
    async arrange(world) {
      const sent = await submitForm(world, 'form');
      if (sent.outcome !== 'recorded') throw new Error(sent.outcome);
      await world.context.projector.catchUp();
      const row = await rowOf(world, sent.caseId);
      const deps = { ...world.context, catchUp: () => world.context.projector.catchUp() };
      const right = codeOfRequest(world.context, row);
      let checked = 0;
      return {
        attempt: async (nth) => {
          const { outcome } = await confirmAddress(deps, row, String((Number(right) + 1 + nth) % 10 ** 8));
          if (outcome === 'wrong') checked += 1;
          return outcome === 'wrong' ? null : outcome;
        },
        count: async () => {
          expect(await confirmAddress(deps, row, right)).toEqual({ outcome: 'gone' });
          return checked + 1;
        },
      };
    },
  },
  'requests of the form in an hour': {
    free: 7,
    most: REQUESTS_PER_HOUR,
    refusal: /^Too many requests are arriving at the moment\. Please try again in an hour/,
    async arrange(world) {
      const profile = 'name: Acme GmbH\ncountry: DE\nregion: BE\nemail: privacy@acme.example\nrequestForm: true\n';
      await writeFile(world.context.config.controllerFile ?? '', profile);
      await Promise.all(Array.from({ length: REQUESTS_PER_HOUR - 7 }, (_, nth) => submitForm(world, `before ${nth}`)));
      const visitors = await Promise.all(
        Array.from({ length: TRIES }, async () => {
          const visitor = createVisitor(world.url);
          const { text } = await visitor.get('/r/default');
          return { visitor, form: /name="form" value="([^"]+)"/.exec(text)?.[1] ?? '' };
        }),
      );
      world.setNow(new Date(world.context.clock().getTime() + 5000).toISOString());
      return {
        attempt: async (nth) => {
          const { visitor, form = '' } = visitors[nth] ?? {};
          if (visitor === undefined) throw new Error('no visitor');
          const said = { kind: 'access', name: 'Ada Lovelace', email: 'ada@example.org', place: 'DE', form };
          return saidBy(await visitor.post('/r/default', said), /Too many requests are arriving[^.]+\.[^.]+\./);
        },
        count: async () => {
          await world.context.projector.catchUp();
          return (await world.context.store.read.selectFrom('cases').select('case_id').execute()).length;
        },
      };
    },
  },
  'passwords tried for an account': {
    free: 5,
    most: 5,
    refusal: /^Too many attempts\. Try again in a minute\.$/,
    async arrange(world) {
      const { email } = await officerIn(world);
      let checked = 0;
      const visitors = await Promise.all(
        Array.from({ length: TRIES }, async () => {
          const visitor = createVisitor(world.adminUrl);
          await visitor.get('/');
          return visitor;
        }),
      );
      return {
        attempt: async (nth) => {
          const answer = await visitors[nth]?.post('/sign-in', { email, password: `wrong ${nth}`, code: '' });
          if (answer === undefined) throw new Error('no visitor');
          if (answer.status !== 401) return saidBy(answer, /Too many attempts\. Try again in a minute\./);
          checked += 1;
          return null;
        },
        count: async () => checked,
      };
    },
  },
  'owners who can be disabled: all but one': {
    free: 19,
    most: 1,
    refusal: /^This is the last owner: make someone else an owner first\.$/,
    async arrange(world) {
      const owners: string[] = [];
      for (let nth = 0; nth < TRIES; nth += 1) owners.push((await signedInAs(world, 'owner')).personId);
      return {
        attempt: async (nth) => problemOf(await setDisabled(world.context, owners[nth] ?? '', true, CLI)),
        count: async () => (await listPeople(world.context)).filter(({ disabledAt }) => disabledAt === null).length,
      };
    },
  },
  'first accounts': {
    free: 1,
    most: 1,
    refusal: /^gone$/,
    async arrange(world) {
      const links: string[] = [];
      for (let nth = 0; nth < TRIES; nth += 1) links.push((await createSetUpLink(world.context, 'test')).token);
      return {
        attempt: async (nth) => {
          const given = { name: 'Olga Owner', email: `olga${nth}@acme.example`, password: PASSWORD };
          const set = await setUpOwner(world.context, links[nth] ?? '', given, 'a test');
          return set.outcome === 'joined' ? null : set.outcome;
        },
        count: async () => (await listPeople(world.context)).length,
      };
    },
  },
  'accounts of an address': {
    free: 1,
    most: 1,
    refusal: /^An account with this e-mail address already exists\.$/,
    async arrange({ context }) {
      const invited = { name: 'Olga', email: 'olga@acme.example', role: 'officer', sources: null } as const;
      return {
        attempt: async () => problemOf(await invitePerson(context, invited, CLI)),
        count: async () => (await listPeople(context)).length,
      };
    },
  },
  'sessions that a link opens': {
    free: 1,
    most: 1,
    refusal: /^gone$/,
    async arrange(world) {
      const token = await world.link();
      return {
        attempt: async () => ((await openSession(world.context, token, 'a test')) === null ? 'gone' : null),
        count: async () => (await world.context.store.read.selectFrom('sessions').select('id_hash').execute()).length,
      };
    },
  },
  'links made by one form': {
    free: 1,
    most: 1,
    refusal: /^repeated$/,
    async arrange(world) {
      const { caseId } = await makeReadyCaseIn(world);
      const input = { caseId, actor: OFFICER, publicUrl: PUBLIC_URL, reference: 'a form' };
      return {
        attempt: async () => {
          const { outcome } = await createHandOver(world.context, input);
          return outcome === 'created' ? null : outcome;
        },
        count: async () => {
          const rows = await world.context.store.read.selectFrom('hand_overs').select('case_id').execute();
          return rows.length;
        },
      };
    },
  },
  'signing secrets that can be retired: all but one': {
    free: 4,
    most: 1,
    refusal: /^This is the only signing secret: add another one first, or every delivery would be refused\.$/,
    async arrange(world) {
      const values = Array.from({ length: 5 }, (_, nth) => `signing-secret-number-${nth}`);
      await world.context.sources.add({ slug: 'acme', name: 'Acme', webhookSecrets: values }, 'test');
      const caller = await tokenOf(world, 'admin', { scope: 'administer' });
      const gone = /^404/;
      return {
        // Four try to retire each secret: those that find it gone have been answered as well.
        attempt: async (nth) => {
          const { id } = webhookSecretOf(values[nth % values.length] ?? '');
          const answer = await untilSettled(() => caller.post(`/api/v1/sources/acme/secrets/${id}/retire`, {}));
          const said = saidBy(answer, /This is the only signing secret: [^.]+\./);
          return said !== null && gone.test(said) ? ONLY_SECRET : said;
        },
        count: async () => world.context.sources.find('acme')?.webhookSecrets.length ?? 0,
      };
    },
  },
  'sources of one name': {
    free: 1,
    most: 2,
    refusal: /^exists$/,
    async arrange({ context }) {
      return {
        attempt: async () => {
          const { outcome } = await context.sources.add({ slug: 'acme', webhookSecrets: [] }, 'test');
          return outcome === 'done' ? null : outcome;
        },
        count: async () => context.sources.list().length,
      };
    },
  },
  'lifts of a hold': {
    free: 1,
    most: 1,
    refusal: /^(404|409) without|The hold was lifted at the same time\./,
    async arrange(world) {
      const caller = await tokenOf(world, 'admin', { scope: 'administer' });
      const placed = await caller.post('/api/v1/holds', { reason: 'A claim' });
      const { holdId } = placed.json;
      return {
        attempt: async (nth) =>
          saidBy(
            await caller.post(`/api/v1/holds/${String(holdId)}/lift`, { reason: `Settled ${nth}` }),
            /The hold was lifted at the same time\./,
          ),
        count: async () => (await world.actions('hold.lifted')).length,
      };
    },
  },
  'requests recorded under one Idempotency-Key': {
    free: 1,
    most: 1,
    refusal: /^A request with this Idempotency-Key is still being processed: try again later\.$/,
    async arrange(world) {
      const caller = await tokenOf(world, 'officer', { scope: 'work' });
      const request = { source: 'default', kind: 'access', receivedAt: '2026-01-01T00:00:00.000Z', channel: 'letter' };
      return {
        attempt: async () => {
          const answer = await caller.post('/api/v1/cases', request, { 'idempotency-key': 'a-key' });
          const sentence = 'A request with this Idempotency-Key is still being processed: try again later.';
          // A repeated answer recorded nothing.
          return answer.headers.get('idempotency-replayed') === 'true'
            ? sentence
            : saidBy(answer, new RegExp(sentence));
        },
        count: async () => (await world.actions('case.opened')).length,
      };
    },
  },
  'uses of a recovery code': {
    free: 1,
    most: 1,
    refusal: /^refused$/,
    async arrange(world) {
      const person = await officerIn(world);
      const { secret } = proposeSecondFactor(person.email, 'test') ?? { secret: '' };
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({
        timestamp: world.context.clock().getTime(),
      });
      const set = await setSecondFactor(world.context, person, secret, code);
      if (set.outcome !== 'set') throw new Error(set.problem);
      const [recovery = ''] = set.recoveryCodes;
      const used = async () => set.recoveryCodes.length - (await countRecoveryCodes(world.context, person.personId));
      return {
        attempt: async () => {
          const now = world.context.clock().toISOString();
          const taken = await world.context.store.transaction((tx) =>
            takeCode(world.context, tx, { personId: person.personId, given: recovery }, now),
          );
          return taken ? null : 'refused';
        },
        count: used,
      };
    },
  },
};

it.each(Object.entries(limits))('%s: no more than allowed, though twenty are tried at once', async (_, limit) => {
  const world = await createOfficeWorld({ PUBLIC_URL }, { worker: false });
  const { attempt, count } = await limit.arrange(world);
  const said = await Promise.all(Array.from({ length: TRIES }, (_unused, nth) => attempt(nth)));
  expect({ let: said.filter((one) => one === null).length, count: await count() }).toEqual({
    let: limit.free,
    count: limit.most,
  });
  for (const one of said) if (one !== null) expect(one).toMatch(limit.refusal);
});
