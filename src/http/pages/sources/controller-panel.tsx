import { can } from '../../../core/roles.ts';
import type { DoubtfulController } from '../../../sources/controller.ts';
import type { PageFrame } from '../parts/layout.tsx';
import { AskAdmin, Notice } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

interface ControllerProps extends DoubtfulController {
  readonly frame: PageFrame;
  readonly admins: readonly string[];
}

/** Asks whose controller profile a source has that shares one: its own client's, or another one's. */
export function ControllerNotice({ frame, controller, source, admins }: ControllerProps) {
  const question = `Is ${controller} the controller of ${source.name}?`;
  return (
    <Notice tone="warn" id="controller">
      <p>
        Letters and packs of <bdi>{source.name}</bdi> name <bdi>{controller}</bdi> as the controller, because it shares
        that profile with other sources. If it belongs to another client, they would name the wrong one.
      </p>
      {can(frame.role, 'administer') ? (
        <div class="buttons">
          <PostForm frame={frame} action={`/sources/${source.slug}/controller`}>
            <input type="hidden" name="controller" value={controller} />
            <button type="submit">
              <bdi>{controller}</bdi> is the controller of <bdi>{source.name}</bdi>
            </button>
          </PostForm>
          <PostForm frame={frame} action="/settings/profile/own">
            <input type="hidden" name="source" value={source.slug} />
            <button type="submit" class="quiet">
              Give it a profile of its own
            </button>
          </PostForm>
        </div>
      ) : (
        <AskAdmin
          admins={admins}
          subject={question}
          text={`${question} Letters and packs of ${source.name} name ${controller}, because it shares that profile. Please confirm it on the page of the source, or give it a profile of its own there.`}
        />
      )}
    </Notice>
  );
}
