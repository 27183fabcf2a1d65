import { type Source, secretEncodings } from '../../../core/source.ts';
import type { PageFrame } from '../parts/layout.tsx';
import { AskAdmin, Choice, Input, Notice, PresentPassword } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

/** Hours until existing secrets expire, with their wording. */
export const retireHours = [
  ['24', 'after 24 hours'],
  ['168', 'after 7 days'],
  ['', 'not by themselves'],
] as const;

interface FormProps {
  readonly frame: PageFrame;
  readonly source: Source;
  /** The page to return to. */
  readonly back: 'source' | 'set-up';
}

/** Stores a signing secret of the service, or generates one. */
export function SecretForms({ frame, source, back }: FormProps) {
  const action = `/sources/${source.slug}/secrets`;
  const rotates = source.webhookSecrets.length > 0;
  return (
    <div class="columns halves">
      <PostForm frame={frame} action={action}>
        <input type="hidden" name="back" value={back} />
        <h3>The service shows a secret</h3>
        <Input
          id="secret"
          label="Signing secret"
          type="password"
          autocomplete="off"
          maxLength={1000}
          hint="As shown in the service’s dashboard for this webhook."
        />
        <Choice id="encoding" label="Written as" options={secretEncodings.map((one) => [one, one])} />
        {rotates ? <Choice id="retire" label="The old ones expire" options={retireHours} /> : null}
        <button type="submit">Save the secret</button>
      </PostForm>
      <PostForm frame={frame} action={action}>
        <input type="hidden" name="back" value={back} />
        <input type="hidden" name="way" value="make" />
        <h3>The service asks for one</h3>
        <p>A secret of 64 characters is generated here, and shown once for you to copy into the service’s dashboard.</p>
        {rotates ? <Choice id="retire-made" name="retire" label="The old ones expire" options={retireHours} /> : null}
        <button type="submit" class="quiet">
          Generate a secret
        </button>
      </PostForm>
    </div>
  );
}

/** A newly generated secret. */
export function NewSecret({ secret }: { secret: string }) {
  return (
    <Notice tone="good">
      <p>
        Copy this signing secret into the service’s dashboard now. It is shown only once; here it is stored encrypted.
      </p>
      <p class="mono">{secret}</p>
    </Notice>
  );
}

/** A link to mail the admins about a step that only the server’s operator can take; nothing if there is none. */
export function AskAboutSource(props: {
  readonly source: Source;
  readonly admins: readonly string[];
  readonly text: string | undefined;
}) {
  const { source, admins, text } = props;
  if (text === undefined) return null;
  return (
    <AskAdmin
      admins={admins}
      subject={`Source ${source.name}: the service cannot be reached`}
      text={`Setting up the source “${source.name}” (${source.slug}) failed:\n\n${text}\n\nPlease look at it on the server.`}
    />
  );
}

/** Address of the service and key for it. `form`: the refused input, without keys. */
export function AccessForm({
  frame,
  source,
  back,
  form,
}: FormProps & { readonly form: Readonly<Record<string, string>> }) {
  return (
    <PostForm frame={frame} action={`/sources/${source.slug}/access`}>
      <input type="hidden" name="back" value={back} />
      <div class="pair">
        <Input
          id="baseUrl"
          label="API address"
          optional
          maxLength={500}
          value={form['baseUrl'] ?? source.baseUrl ?? ''}
          autocomplete="off"
          spellcheck={false}
          hint="Ends in /api/v1. Without it nothing is pulled."
        />
        <Input
          id="apiKey"
          label="API key"
          optional={source.apiKey !== null}
          required={false}
          type="password"
          maxLength={1000}
          autocomplete="off"
          hint={source.apiKey === null ? 'Begins with pak_live_.' : 'One is set. Leave empty to keep it.'}
        />
        <Input
          id="siteUrl"
          label="Public address of the service"
          optional
          maxLength={500}
          value={form['siteUrl'] ?? source.siteUrl ?? ''}
          autocomplete="off"
          spellcheck={false}
          hint="For example https://service.example. Published policy texts are fetched from there."
        />
        <Input
          id="siteKey"
          label="Site key"
          optional
          type="password"
          maxLength={1000}
          autocomplete="off"
          hint={source.siteKey === null ? 'Begins with pk_.' : 'One is set. Leave empty to keep it.'}
        />
      </div>
      {frame.personId === null ? null : <PresentPassword id="present-access" hint="Needed to change an address." />}
      <label class="box">
        <input type="checkbox" name="unchecked" value="yes" checked={form['unchecked'] === 'yes'} /> Save without
        testing the key
      </label>
      <div class="buttons">
        <button type="submit">Test and save</button>
      </div>
      <p class="hint">The key is tested with one read call before it is saved, and stored encrypted.</p>
    </PostForm>
  );
}

/** The settings that allow an address without https or in a private network: only the server’s operator can change it. */
export const ALLOWED_HOSTS = /(?:HTTP|PRIVATE)_ALLOWED_HOSTS/;

/** The labels of fields, by their names in problems. */
const labels: Readonly<Record<string, string>> = {
  slug: 'Short name',
  name: 'Name',
  baseUrl: 'API address',
  apiKey: 'API key',
  siteUrl: 'Public address of the service',
  siteKey: 'Site key',
};

/** A problem with the label of its field, and without a setting that the reader cannot change. */
export function inWords(problem: string): string {
  return problem
    .replace(/^(\w+): /, (all, field: string) => (Object.hasOwn(labels, field) ? `${labels[field]} ` : all))
    .replace(/add (?:it|\S+) to (?:HTTP|PRIVATE)_ALLOWED_HOSTS/, 'the server’s operator can allow it.');
}
