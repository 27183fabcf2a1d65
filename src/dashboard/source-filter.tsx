import type { Source } from '../core/source.ts';
import { Select } from './parts.tsx';

/** Narrows a page down to one source. */
export function SourceFilter({
  action,
  sources,
  source,
}: {
  action: string;
  sources: readonly Pick<Source, 'slug' | 'name'>[];
  source: string | null;
}) {
  const options = [['', 'All sources'] as const, ...sources.map(({ slug, name }) => [slug, name] as const)];
  return (
    <form class="filter" method="get" action={action}>
      <label for="source-filter">Show</label>
      <Select id="source-filter" name="source" value={source ?? ''} options={options} />
      <button class="quiet" type="submit">
        Apply
      </button>
    </form>
  );
}
