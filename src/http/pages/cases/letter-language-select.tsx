import { languageText, NOT_KNOWN } from '../../../core/language.ts';
import { languageChoices } from '../parts/fields.tsx';
import type { PageFrame } from '../parts/layout.tsx';
import { Field, Select } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import type { CasePageData } from './load-case.ts';

/** Selects the language of a letter. `value`: the requester's, BCP 47; empty or one without letters: nothing is preselected. */
export function LetterLanguage({ id, value }: { readonly id: string; readonly value: string }) {
  const choices = languageChoices().filter(([code]) => code !== NOT_KNOWN);
  const [known] = value.split('-');
  const own = choices.some(([code]) => code === known) ? (known ?? '') : '';
  // The requester's language keeps its region.
  const options = choices.map(([code, text]) => [code === own ? value : code, text] as const);
  return (
    <Field id={id} label="Language">
      <Select
        id={id}
        name="language"
        value={own === '' ? '' : value}
        options={own === '' ? [['', 'Choose …'], ...options] : options}
        required
      />
    </Field>
  );
}

/** Makes the response pack: in the language of the answer letter if there is one, otherwise in the chosen one. */
export function PackForm(props: { readonly frame: PageFrame; readonly data: CasePageData; readonly isNext: boolean }) {
  const { frame, data, isNext } = props;
  const { row } = data.shown.view;
  return (
    <PostForm frame={frame} action={`/cases/${encodeURIComponent(row.case_id)}/pack`}>
      {data.answeredIn === null ? (
        <LetterLanguage id={isNext ? 'next-pack-language' : 'pack-language'} value={row.language ?? ''} />
      ) : (
        <p class="small">In {languageText(data.answeredIn.split('-')[0] ?? '')}, like the answer letter.</p>
      )}
      <button type="submit" class={isNext ? '' : 'quiet'}>
        {isNext ? 'Create the response pack' : 'Create the pack'}
      </button>
    </PostForm>
  );
}
