import { renderJson } from '../render/json.ts';
import type { PackPart } from './context.ts';

/** The policies that the decisions name, by the times in which they were in force. */
export const policies: PackPart = (context) =>
  context.disclosure === 'full'
    ? {
        name: 'policies.json',
        what: 'the policies that were in force at the time of the decisions',
        content: renderJson({
          note: 'As the service reported them. The texts are not part of its reports; bodySha256 is the hash of the report (the delivery), not of the text.',
          bannerAsShown: 'not evidenced',
          policies: context.policies,
        }),
      }
    : null;
