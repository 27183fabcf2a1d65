import type { Source } from '../core/source.ts';
import { requestKinds } from '../core/vocabulary.ts';
import { Csrf, Page, type PageFrame } from './layout.tsx';
import { placeChoices } from './move-fields.ts';
import { Field, Panel, Problems, Select } from './parts.tsx';
import { kindText } from './words.ts';

export interface NewRequestProps {
  readonly frame: PageFrame;
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  /** Sent twice, it opens one case. */
  readonly reference: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly problems?: readonly string[];
}

/** The form for a request that came by letter, mail, telephone or in person. */
export function NewRequestPage({ frame, sources, reference, form = {}, problems = [] }: NewRequestProps) {
  const value = (name: string) => form[name] ?? '';
  return (
    <Page title="Record a request" frame={frame} current="new-request">
      <h1>Record a request</h1>
      <p class="lead">
        For a request received by letter, e-mail, telephone or in person. Requests reported by the service are recorded
        automatically.
      </p>
      <Problems title="This was not recorded:" problems={problems} />
      <Panel id="request" title="The request">
        {sources.length === 0 ? (
          <p>No sources yet.</p>
        ) : (
          <form method="post" action="/cases">
            <Csrf token={frame.csrf} />
            <input type="hidden" name="reference" value={reference} />
            <div class="pair">
              <Field id="source" label="Source">
                <Select
                  id="source"
                  name="source"
                  value={value('source')}
                  options={sources.map(({ slug, name }) => [slug, name])}
                />
              </Field>
              <Field id="kind" label="Kind of request">
                <Select
                  id="kind"
                  name="kind"
                  value={value('kind')}
                  options={requestKinds.map((kind) => [kind, kindText(kind)])}
                />
              </Field>
              <Field
                id="receivedAt"
                label="Received"
                hint={`When it arrived through any channel of the controller, in ${frame.timeZone}.`}
              >
                <input
                  id="receivedAt"
                  name="receivedAt"
                  type="datetime-local"
                  value={value('receivedAt')}
                  aria-describedby="receivedAt-hint"
                  required
                />
              </Field>
              <Field id="channel" label="Channel" hint="For example letter, e-mail, telephone.">
                <input
                  id="channel"
                  name="channel"
                  type="text"
                  maxLength={200}
                  value={value('channel')}
                  aria-describedby="channel-hint"
                  required
                />
              </Field>
              <Field id="requesterName" label="Name of the requester" optional>
                <input
                  id="requesterName"
                  name="requesterName"
                  type="text"
                  maxLength={300}
                  value={value('requesterName')}
                  autocomplete="off"
                />
              </Field>
              <Field id="requesterEmail" label="E-mail of the requester" optional>
                <input
                  id="requesterEmail"
                  name="requesterEmail"
                  type="email"
                  maxLength={300}
                  value={value('requesterEmail')}
                  autocomplete="off"
                />
              </Field>
              <Field id="jurisdiction" label="Where the requester is" optional>
                <Select
                  id="jurisdiction"
                  name="jurisdiction"
                  value={value('jurisdiction')}
                  options={[['', 'unknown: only the controller’s law applies'], ...placeChoices(value('jurisdiction'))]}
                />
              </Field>
              <Field id="subject" label="Id from the requester’s device" optional>
                <input
                  id="subject"
                  name="subject"
                  type="text"
                  maxLength={300}
                  value={value('subject')}
                  autocomplete="off"
                />
              </Field>
            </div>
            <Field id="message" label="What was requested" optional>
              <textarea id="message" name="message" maxLength={4000} rows={4}>
                {value('message')}
              </textarea>
            </Field>
            <button type="submit">Record the request</button>
          </form>
        )}
      </Panel>
    </Page>
  );
}
