/** The steps of setting up a source; each page marks its own. */
export function SetUpSteps({ at, done }: { readonly at: number; readonly done: readonly boolean[] }) {
  return (
    <ol class="steps">
      {['Name', 'Address and secret', 'First delivery', 'API key'].map((step, place) => (
        <li
          key={step}
          {...(place === at
            ? { class: 'current', 'aria-current': 'step' as const }
            : done[place]
              ? { class: 'done' }
              : {})}
        >
          {step}
          {done[place] && place !== at ? <span class="unseen"> (done)</span> : null}
        </li>
      ))}
    </ol>
  );
}
