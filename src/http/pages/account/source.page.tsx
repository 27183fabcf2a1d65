import { z } from 'zod';
import { chooseCurrentSource } from '../../../people/current-source.ts';
import { localPath } from '../../auth/sign-in-routes.tsx';
import { pagesWith, text } from '../parts/define-page.ts';

const { form } = pagesWith<'store'>();

/** On which source the person works: the choice in the header of every page. */
const choose = form({
  path: '/account/source',
  rule: { who: 'self' },
  body: z.object({ current: text, back: text }),
  async act(visit) {
    const { context, fields, permitted, by } = visit;
    const source = permitted.find(fields.current);
    await chooseCurrentSource(context.store, by, source?.slug ?? null);
    return visit.goTo(localPath(fields.back));
  },
});

export const routes = [choose];
