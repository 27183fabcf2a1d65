import type { DoubtfulController } from '../../../request-form/offered.ts';
import { Notice } from '../parts/parts.tsx';

/** Warns that what is sent would name a controller that may be another client. */
export function DoubtfulNotice({ controller, source, what }: DoubtfulController & { readonly what: string }) {
  return (
    <Notice tone="warn">
      <p>
        {what} <bdi>{controller}</bdi> as the controller: that profile is shared by several sources. If{' '}
        <bdi>{source.name}</bdi> belongs to another client, send nothing; ask an owner or admin to give the source its
        own profile (Settings, Controller profile). If it belongs to <bdi>{controller}</bdi>, an owner or admin can
        confirm that: enter <span class="mono">{source.slug}</span> in the{' '}
        <a href={`/settings/profile?source=${source.slug}`}>controller profile</a> under “Further sources whose web form
        names this organisation”.
      </p>
    </Notice>
  );
}
