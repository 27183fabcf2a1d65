import { formatCount } from '../../../../reports/format.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import type { Offboarding } from '../../../sources/offboarding.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { Facts, Moment, Panel } from '../parts/parts.tsx';

interface ClosedSourceProps {
  readonly frame: PageFrame;
  readonly source: Source;
  readonly offboarding: Offboarding | null;
  /** Whether the reader may see entries about the installation. */
  readonly seesAll: boolean;
}

/** An offboarded source: since when, by whom, and where its evidence is. */
export function ClosedSourcePage({ frame, source: { slug, name }, offboarding, seesAll }: ClosedSourceProps) {
  const query = `?source=${encodeURIComponent(slug)}`;
  return (
    <Page title={`${name} (offboarded)`} frame={frame} within="sources">
      <h1>
        <bdi>{name}</bdi>
      </h1>
      <p class="lead">
        Source <span class="mono">{slug}</span> · This source was offboarded: its credentials are destroyed, and nothing
        more is accepted or pulled.
      </p>
      <Panel id="offboarding" title="Offboarding">
        {offboarding === null ? (
          <p>No details of the offboarding are recorded.</p>
        ) : (
          <Facts
            rows={[
              ['When', <Moment iso={offboarding.at} timeZone={frame.timeZone} />],
              ['By', <bdi>{offboarding.actor}</bdi>],
              offboarding.reason === null ? null : ['Reason', <bdi class="outside">{offboarding.reason}</bdi>],
              offboarding.openCases === 0
                ? null
                : ['Requests that waited for an answer', formatCount(offboarding.openCases)],
              [
                'Recorded as',
                seesAll ? (
                  <a href={`/entries/${offboarding.seq}`}>entry {formatCount(offboarding.seq)}</a>
                ) : (
                  `entry ${formatCount(offboarding.seq)}`
                ),
              ],
            ]}
          />
        )}
        {can(frame.role, 'administer') ? (
          <p>
            <a href={`/sources/${slug}/offboard`}>What was kept</a>
          </p>
        ) : null}
      </Panel>
      <Panel id="evidence" title="Its evidence remains">
        <ul>
          <li>
            <a href={`/cases${query}`}>Requests</a>
          </li>
          <li>
            <a href={`/documents${query}`}>Reports, packs and letters</a>
          </li>
          <li>
            <a href={`/deliveries${query}`}>Deliveries</a>
          </li>
          <li>
            <a href="/consent">Consent look-up</a>
          </li>
        </ul>
        <p class="small">
          Its entries stay in the ledger, sealed, until their retention period ends or they are erased.
        </p>
      </Panel>
    </Page>
  );
}
