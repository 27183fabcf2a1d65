import type { FastifyInstance } from 'fastify';
import { type NoticeGroup, noticeGroups } from '../../../attention/find-notices.ts';
import {
  groupsOff,
  loadPreferences,
  type Preferences,
  savePreferences,
  usualPreferences,
} from '../../../attention/preferences.ts';
import type { Context } from '../../../context.ts';
import { can, type Role } from '../../../core/roles.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import { officerOf } from '../../auth/sessions.ts';
import { formOf, html, pageFrame } from '../parts/page-frame.ts';
import { Csrf, Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { NoMail, Notice, Panel } from '../parts/parts.tsx';

/** Which notices a person receives by mail. */
export async function notificationRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/settings/notifications', async (request, reply) => {
    const { done = '' } = formOf(request.query);
    const { personId } = officerOf(request);
    const wanted =
      personId === null ? null : ((await loadPreferences(context.store.read)).get(personId) ?? usualPreferences);
    const page = (
      <NotificationsPage
        frame={pageFrame(context, request, reply)}
        wanted={wanted}
        isMailed={context.config.mail !== null}
        admins={await listAdminAddresses(context)}
        isDone={done === 'saved'}
      />
    );
    return html(reply, renderPage(page));
  });

  app.post('/settings/notifications', async (request, reply) => {
    const { personId, role } = officerOf(request);
    const form = formOf(request.body);
    const { groups } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    const wanted = [groups].flat().filter((group): group is string => typeof group === 'string');
    if (personId !== null) {
      const before = (await loadPreferences(context.store.read)).get(personId) ?? usualPreferences;
      await savePreferences(context.store, personId, {
        atOnce: form['atOnce'] === 'yes',
        digest: form['digest'] === 'yes',
        off: groupsOff(before, groupsFor(role), wanted),
      });
    }
    return reply.redirect('/settings/notifications?done=saved', 303);
  });
}

const groupTexts: readonly (readonly [NoticeGroup, string])[] = [
  [
    'requests',
    'Requests that are new, due or overdue, messages of requesters, erasures to approve, gaps in a consent log',
  ],
  ['sources', 'Sources that are silent or refused, syncs and calls that failed, deliveries that could not be read'],
  ['installation', 'The ledger, its checkpoints and witnesses, backups, the disk'],
];

/** The groups of notices available to a role. */
function groupsFor(role: Role): readonly NoticeGroup[] {
  return noticeGroups.filter((group) => group === 'requests' || can(role, 'administer'));
}

interface NotificationsProps {
  readonly frame: PageFrame;
  /** Null: the signed-in person has no account. */
  readonly wanted: Preferences | null;
  /** Whether mail can be sent. */
  readonly isMailed: boolean;
  readonly admins: readonly string[];
  readonly isDone: boolean;
}

function NotificationsPage({ frame, wanted, isMailed, admins, isDone }: NotificationsProps) {
  const offered = groupsFor(frame.role);
  const groups = groupTexts.filter(([group]) => offered.includes(group));
  return (
    <Page title="Notifications" frame={frame} current="notifications">
      <h1>Notifications</h1>
      <p class="lead">
        The notices that you receive by mail. Mails never name a person: they only give numbers and link to these pages.
      </p>
      {isDone ? (
        <Notice tone="good">
          <p>Saved.</p>
        </Notice>
      ) : null}
      {isMailed ? null : (
        <Notice tone="warn">
          <p>
            No mail is sent from here yet. Everything that needs attention is on the <a href="/">Today</a> page.
          </p>
          <NoMail frame={frame} admins={admins} />
        </Notice>
      )}
      <Panel id="choices" title="Your choice">
        {wanted === null ? (
          <p>You are signed in by a one-time link, without an account that mail could be sent to.</p>
        ) : !can(frame.role, 'work') ? (
          <p>Auditors get no notices.</p>
        ) : (
          <form method="post" action="/settings/notifications">
            <Csrf token={frame.csrf} />
            <fieldset>
              <legend>When</legend>
              <label class="box">
                <input type="checkbox" name="atOnce" value="yes" checked={wanted.atOnce} /> As soon as something new
                needs attention
              </label>
              <label class="box">
                <input type="checkbox" name="digest" value="yes" checked={wanted.digest} /> A summary each day
              </label>
            </fieldset>
            <fieldset>
              <legend>What</legend>
              {groups.map(([group, text]) => (
                <label class="box" key={group}>
                  <input type="checkbox" name="groups" value={group} checked={!wanted.off.includes(group)} /> {text}
                </label>
              ))}
            </fieldset>
            <div class="buttons">
              <button type="submit">Save</button>
            </div>
          </form>
        )}
      </Panel>
    </Page>
  );
}
