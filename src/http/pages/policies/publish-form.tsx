import type { PageFrame } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';

/** Makes a policy public. */
export function PublishForm({
  frame,
  source,
  policyId,
  again = false,
}: {
  readonly frame: PageFrame;
  readonly source: string;
  readonly policyId: string;
  /** Whether it is already public. */
  readonly again?: boolean;
}) {
  return (
    <PostForm frame={frame} action="/policies/publish">
      <input type="hidden" name="source" value={source} />
      <input type="hidden" name="policy" value={policyId} />
      <button class="quiet" type="submit" aria-label={`${again ? 'Publish again' : 'Publish'}: ${policyId}`}>
        {again ? 'Publish again' : 'Publish'}
      </button>
    </PostForm>
  );
}
