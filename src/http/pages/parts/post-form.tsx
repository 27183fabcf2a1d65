import type { JSX } from 'preact';
import { Csrf, type PageFrame } from './layout.tsx';

type PostFormProps = {
  readonly frame: Pick<PageFrame, 'csrf'>;
  /** Absent: each of its buttons has its own. */
  readonly action?: string;
  /** Sends a file too. */
  readonly hasFile?: boolean;
} & Pick<JSX.IntrinsicElements['form'], 'children' | 'class' | 'hidden' | 'id' | 'target'>;

/** A form that changes something: always with the token without which it is refused. */
export function PostForm({ frame, hasFile = false, children, ...rest }: PostFormProps) {
  return (
    <form method="post" {...rest} {...(hasFile ? { enctype: 'multipart/form-data' } : {})}>
      <Csrf token={frame.csrf} />
      {children}
    </form>
  );
}
