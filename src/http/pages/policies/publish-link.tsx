/** Where a person sees what would become public, before the button. */
export function publishAddress(source: string, policyId: string): string {
  return `/policies/publish?${new URLSearchParams({ source, id: policyId }).toString()}`;
}

/** The way to the page that makes a policy public. */
export function PublishLink({
  source,
  policyId,
  again = false,
}: {
  readonly source: string;
  readonly policyId: string;
  /** Whether it is already public. */
  readonly again?: boolean;
}) {
  const words = again ? 'Publish again' : 'Publish';
  return (
    <a class="button quiet" href={publishAddress(source, policyId)} aria-label={`${words}: ${policyId}`}>
      {words}
    </a>
  );
}
