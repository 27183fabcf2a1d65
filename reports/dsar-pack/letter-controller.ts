import type { ControllerProfile } from '../../src/core/profile.ts';
import type { Block } from '../render/blocks.ts';

const NOT_STATED = 'The controller has not stated this yet.';

/** What the controller says about itself: GDPR Art. 15(1)(a)–(h) and (2); 11 CCR 7024; LGPD Art. 19 II. What is missing is named. */
export function* controllerBlocks(profile: ControllerProfile | null): Generator<Block> {
  yield { block: 'heading', level: 2, text: 'Purposes, legal bases and storage periods' };
  const purposes = profile?.purposes ?? [];
  if (purposes.length === 0) yield missing();
  else {
    yield {
      block: 'table',
      caption: 'What the data is processed for',
      columns: [
        { title: 'Purpose', share: 4 },
        { title: 'Legal basis', share: 4 },
        { title: 'Kept', share: 3 },
      ],
      rows: purposes.map(({ purpose, lawfulBasis, retention }) => [purpose, lawfulBasis, retention]),
      empty: NOT_STATED,
    };
  }
  yield* listed('Categories of data', profile?.dataCategories ?? []);
  yield* listed(
    'Recipients',
    (profile?.recipients ?? []).map(
      ({ name, purpose, country }) => `${name}${country === null ? '' : ` (${country})`}: ${purpose}`,
    ),
  );
  yield* listed('Where the data comes from', profile?.dataSources ?? []);
  yield { block: 'heading', level: 2, text: 'Transfers to other countries' };
  const transfers = profile?.transfers ?? [];
  if (transfers.length > 0)
    yield {
      block: 'list',
      items: transfers.map(({ recipient, country, safeguard }) => `${recipient} (${country}): ${safeguard}`),
    };
  else if (profile?.noTransfers === true)
    yield { block: 'paragraph', text: 'There are no transfers to third countries or international organisations.' };
  else yield missing();
  yield* said('Automated decisions', profile?.automatedDecisions ?? null);
  yield* said('How to withdraw consent', profile?.withdrawalMethod ?? null);
}

function* listed(title: string, items: readonly string[]): Generator<Block> {
  yield { block: 'heading', level: 2, text: title };
  yield items.length === 0 ? missing() : { block: 'list', items };
}

function* said(title: string, text: string | null): Generator<Block> {
  yield { block: 'heading', level: 2, text: title };
  yield text === null
    ? missing()
    : { block: 'paragraph', text: /[.!?]$/.test(text) ? text : `${text[0]?.toUpperCase()}${text.slice(1)}.` };
}

function missing(): Block {
  return { block: 'notice', tone: 'warning', title: NOT_STATED, text: '' };
}
