import { visibleText } from '../../../../reports/render/text.ts';
import type { Diagnosed } from '../../../attention/deliveries.ts';
import type { KeyCheck } from '../../../context/check-key.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { Done, Moment, Notice, Panel, Problems } from '../parts/parts.tsx';
import { remedyText } from '../parts/words.ts';
import { SetUpSteps } from './set-up-steps.tsx';
import { AccessForm, AskAboutSource, NewSecret, SecretForms } from './source-forms.tsx';
import type { SourceState } from './source-view.tsx';

interface SetUpProps {
  readonly frame: PageFrame;
  readonly state: SourceState;
  /** Diagnoses of the newest refused deliveries. */
  readonly reasons: readonly Diagnosed[];
  readonly problems?: readonly string[];
  readonly done?: string | null;
  readonly secret?: string;
  readonly check?: KeyCheck;
  readonly form?: Readonly<Record<string, string>>;
  /** What only the server’s operator can do, for a message to the admins. */
  readonly ask?: string;
}

/** Guides through setting up a source. The progress follows from the source itself, so anyone can continue at the same address. */
export function SetUpPage(props: SetUpProps) {
  const { frame, state, problems = [], done = null, secret, form = {}, ask } = props;
  const { source, webhookUrl, lastDelivery } = state;
  const steps = [true, source.webhookSecrets.length > 0, lastDelivery !== null, source.apiKey !== null];
  const at = steps.indexOf(false);
  return (
    <Page title={`Set up ${source.name}`} frame={frame} within="sources">
      <h1>
        Set up <bdi>{source.name}</bdi>
      </h1>
      <p class="lead">You can stop at any step and continue later, or pass the address of this page to a colleague.</p>
      <SetUpSteps at={at === -1 ? steps.length : at} done={steps} />
      <Done text={done} />
      {secret === undefined ? null : <NewSecret secret={secret} />}
      <Problems title="Nothing was saved:" problems={problems} />
      <AskAboutSource source={source} admins={state.admins} text={ask} />
      {at === -1 ? (
        <Notice tone="good">
          <p>
            Set-up is complete: deliveries arrive, and the consent log can be pulled.{' '}
            <a href={`/sources/${source.slug}#log`}>
              {state.runs.length === 0 ? 'Start the first sync' : 'See its syncs'}
            </a>
          </p>
        </Notice>
      ) : null}
      <Panel id="webhook" title="Address and secret">
        <p>Register this address with the service as a webhook, for all events:</p>
        <p class="mono">{webhookUrl}</p>
        {source.webhookSecrets.length === 0 ? (
          <SecretForms frame={frame} source={source} back="set-up" />
        ) : (
          <p>
            A signing secret is set. <a href={`/sources/${source.slug}#webhook`}>Change it</a>
          </p>
        )}
      </Panel>
      <Panel id="delivery" title="First delivery">
        {lastDelivery === null ? (
          <Waiting {...props} />
        ) : (
          <p>
            Deliveries arrive: the last one arrived{' '}
            <a href={`/deliveries?source=${source.slug}`}>
              <Moment iso={lastDelivery} timeZone={frame.timeZone} />
            </a>
            .
          </p>
        )}
      </Panel>
      <Panel id="key" title="API key">
        <p>With a key, the consent log is pulled as well, so that you do not depend on deliveries alone.</p>
        <AccessForm frame={frame} source={source} back="set-up" form={form} />
      </Panel>
      <p>
        <a href={`/sources/${source.slug}`}>Go to the source’s page</a>
      </p>
    </Page>
  );
}

function Waiting({ state: { source }, reasons }: SetUpProps) {
  return (
    <>
      {reasons.length === 0 ? (
        <p>
          Nothing has arrived from the service yet. (Your own <code>delivery test</code> does not count.) Send a test
          event from the service’s dashboard, or make a choice in the website’s banner.
        </p>
      ) : (
        <Notice tone="bad">
          <p>A delivery arrived and was refused:</p>
          <ul>
            {reasons.map(({ id, findings: [first], reason }) => (
              <li key={id}>
                <a href={`/deliveries/refused/${id}`}>{first === undefined ? reason : visibleText(first.sentence)}</a>
                {first === undefined ? null : ` ${remedyText(first)}`}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <p>
        <a class="button quiet" href={`/sources/${source.slug}/set-up`}>
          Look again
        </a>
      </p>
    </>
  );
}
