import type { DoubtfulController } from '../../../sources/controller.ts';
import { Notice } from '../parts/parts.tsx';

/** Warns that what is sent would name a controller that may be another client. */
export function DoubtfulNotice({ controller, source, what }: DoubtfulController & { readonly what: string }) {
  return (
    <Notice tone="warn">
      <p>
        {what} <bdi>{controller}</bdi> as the controller: that profile is shared by several sources. If{' '}
        <bdi>{source.name}</bdi> belongs to another client, send nothing. An owner or admin{' '}
        <a href={`/sources/${source.slug}#controller`}>says whose profile it is</a>.
      </p>
    </Notice>
  );
}
