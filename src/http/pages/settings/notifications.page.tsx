import { z } from 'zod';
import { type NoticeGroup, noticeGroups } from '../../../attention/find-notices.ts';
import {
  groupsOff,
  loadPreferences,
  type Preferences,
  savePreferences,
  usualPreferences,
} from '../../../attention/preferences.ts';
import type { Context } from '../../../context/context.ts';
import { can, type Role } from '../../../core/roles.ts';
import { listAdminAddresses } from '../../../people/people.ts';
import { pagesWith, several, ticked } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { Done, NoMail, Notice, Panel } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

const { page, form } = pagesWith<'store' | 'config'>();

/** Which notices a person receives by mail. */
const choices = page({
  path: '/settings/notifications',
  rule: { who: 'self' },
  done: { saved: 'Saved.' },
  async load({ context, by: { personId } }) {
    return {
      wanted: personId === null ? null : await preferencesOf(context, personId),
      isMailed: context.config.mail !== null,
      admins: await listAdminAddresses(context),
    };
  },
  show: (data, { frame, said }) => <NotificationsPage frame={frame} {...data} done={said.done} />,
});

const save = form({
  path: '/settings/notifications',
  rule: { who: 'self' },
  body: z.object({ atOnce: ticked, digest: ticked, groups: several }),
  async act({ context, by: { personId, role }, fields: { atOnce, digest, groups }, goTo }) {
    if (personId !== null) {
      const off = groupsOff(await preferencesOf(context, personId), groupsFor(role), groups);
      await savePreferences(context.store, personId, { atOnce, digest, off });
    }
    return goTo('/settings/notifications?done=saved');
  },
});

export const routes = [choices, save];

async function preferencesOf({ store }: Pick<Context, 'store'>, personId: string): Promise<Preferences> {
  return (await loadPreferences(store.read)).get(personId) ?? usualPreferences;
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
  readonly done: string | null;
}

function NotificationsPage({ frame, wanted, isMailed, admins, done }: NotificationsProps) {
  const offered = groupsFor(frame.role);
  const groups = groupTexts.filter(([group]) => offered.includes(group));
  return (
    <Page title="Notifications" frame={frame} current="notifications">
      <h1>Notifications</h1>
      <p class="lead">
        The notices that you receive by mail. Mails never name a person: they only give numbers and link to these pages.
      </p>
      <Done text={done} />
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
          <PostForm frame={frame} action="/settings/notifications">
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
          </PostForm>
        )}
      </Panel>
    </Page>
  );
}
