import { counted } from '../../../../reports/format.ts';
import type { CallRow } from '../../../policies/settle-calls.ts';
import type { Worded } from '../parts/words.ts';

/** The outcome of a call, for people. */
export function callStateText({ state }: Pick<CallRow, 'state'>, unknownItems: number): Worded {
  switch (state) {
    case 'sent':
      return { text: 'no response yet', tone: 'calm' };
    case 'done':
      return unknownItems === 0
        ? { text: 'done', tone: 'good' }
        : { text: `done, ${counted(unknownItems, 'item', 'items')} unknown`, tone: 'warn' };
    case 'refused':
      return { text: 'refused, nothing done', tone: 'bad' };
    case 'unknown':
      return { text: 'outcome unknown', tone: 'warn' };
    case 'happened':
      return { text: 'done, settled later', tone: 'good' };
    case 'not-happened':
      return { text: 'not done, settled later', tone: 'calm' };
    default:
      return state satisfies never;
  }
}
