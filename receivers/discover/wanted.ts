import type { ScanItem } from '../../src/core/site-inventory.ts';
import type { FieldName, FieldOf } from '../field-names.ts';
import type { Fact } from '../index.ts';
import type { ValueKind } from './kinds.ts';

/** A field of a fact to which a mapping may lead, and the heuristics for guessing its place in a payload. */
export interface Wanted {
  readonly field: FieldName;
  /** Its description for people. */
  readonly word: string;
  readonly isFound: (fact: Fact) => boolean;
  /** Kinds of values that it may have, typical ones first. */
  readonly kinds: readonly ValueKind[];
  /** Parts of names that count for and against it. */
  readonly names: RegExp;
  readonly not?: RegExp;
  /** Its name must match, because values of its kind have many meanings. */
  readonly named?: true;
  /** `many`: a different value in nearly every payload; `few`: the same few again and again. */
  readonly values?: 'many' | 'few';
}

type Of<T extends Fact['type']> = Extract<Fact, { type: T }>;

function wanted<T extends Fact['type']>(
  type: T,
  field: FieldOf<T | 'every' | (T extends 'scan' ? 'scanItem' : never)>,
  word: string,
  isFound: (fact: Of<T>) => boolean,
  rest: Omit<Wanted, 'field' | 'word' | 'isFound'>,
): Wanted {
  return { field, word, isFound: (fact) => fact.type !== type || isFound(fact as Of<T>), ...rest };
}

const hasTime = (fact: Fact) => fact.occurred.basis !== 'received';
const TIME = /(?:time|when|stamp|date|moment|instant|epoch|clock|_at$|At$|^at$|^ts$|recorded|made|on$)/;
const NOT_NOW = /expir|until|valid|ttl|delet|birth|due/i;

/** Fields by type of fact, in the order in which they claim a path. Patterns are matched against the last two names of a path. */
export const wantedFields: Readonly<Partial<Record<Fact['type'], readonly Wanted[]>>> = {
  decision: [
    wanted('decision', 'purposes', 'choice by purpose', (fact) => Object.keys(fact.purposes).length > 0, {
      kinds: ['purposes'],
      names: /purpose|categor|choice|prefer|consent|selection|permission|toggle|switch|opt/i,
    }),
    wanted('decision', 'grantedPurposes', 'accepted purposes', (fact) => Object.keys(fact.purposes).length > 0, {
      kinds: ['names-list'],
      named: true,
      names: /grant|accept|allow|agreed|yes|approv|permitted|opted.?in|\bon\b/i,
      not: /den|reject|refus|declin|\bnot?\b|off/i,
    }),
    wanted(
      'decision',
      'deniedPurposes',
      'refused purposes',
      (fact) => Object.values(fact.purposes).includes('denied'),
      {
        kinds: ['names-list'],
        names: /den|reject|refus|declin|\bno\b|off|opted.?out|forbid/i,
      },
    ),
    wanted('decision', 'subject', 'hashed visitor', (fact) => fact.subject !== null, {
      kinds: ['hash', 'uuid', 'id'],
      names:
        /visit|user|subject|person|principal|device|anon|pseud|hash|digest|finger|who|holder|client|browser|individual/i,
      not: /banner|policy|record|version|sign/i,
    }),
    wanted('decision', 'consentExpiresAt', 'expiry', (fact) => fact.expiresAt !== null, {
      kinds: ['time'],
      named: true,
      names: /expir|until|valid|ttl|lapse|end/i,
    }),
    wanted('decision', 'consentedAt', 'time of the choice', hasTime, { kinds: ['time'], names: TIME, not: NOT_NOW }),
    wanted('decision', 'recordId', 'id of the record', (fact) => fact.recordId !== null, {
      kinds: ['uuid', 'id', 'integer'],
      names: /record|entry|receipt|consent|log|ref|serial|number|\bno\b|nr|uid|key|id$/i,
      not: /banner|widget|policy|doc|visit|user|site|delivery|event|request|message/i,
      values: 'many',
    }),
    wanted('decision', 'bannerId', 'banner', (fact) => fact.bannerId !== null, {
      kinds: ['id', 'uuid', 'integer', 'word'],
      names: /banner|widget|form|dialog|popup|pop_up|cmp|placement|prompt|screen/i,
      values: 'few',
    }),
    wanted('decision', 'consentState', 'choice', (fact) => fact.state !== 'unknown', {
      kinds: ['choice'],
      names: /state|status|decision|choice|action|consent|verdict|outcome|answer|result|reply|response/i,
    }),
    wanted('decision', 'shownPolicyVersion', 'version of the policy', (fact) => fact.policyVersion !== null, {
      kinds: ['version'],
      named: true,
      names: /version|revision|\brev\b|edition|ver$/i,
      not: /api|schema|sdk|app/i,
      values: 'few',
    }),
    wanted('decision', 'shownPolicyId', 'policy', (fact) => fact.policyId !== null, {
      kinds: ['id', 'uuid', 'integer'],
      named: true,
      names: /policy|notice|document|\bdoc\b|text|terms/i,
      values: 'few',
    }),
    wanted('decision', 'consentRegion', 'region', (fact) => fact.region !== null, {
      kinds: ['region'],
      names: /region|country|geo|land|nation|territor|jurisdiction|location|place|area/i,
    }),
    wanted('decision', 'language', 'language', (fact) => fact.language !== null, {
      kinds: ['language'],
      named: true,
      names: /lang|locale|tongue|speech/i,
    }),
  ],
  request: [
    wanted('request', 'requesterEmail', 'e-mail of the requester', (fact) => fact.requesterEmail !== null, {
      kinds: ['email'],
      names: /mail|contact|reply|address|from|sender|who|applicant|person/i,
    }),
    wanted('request', 'requestKind', 'what is asked for', (fact) => fact.kind !== 'unknown', {
      kinds: ['request-kind'],
      names: /kind|type|right|ask|want|demand|action|subject|category|purpose|about/i,
      not: /message|text|comment|note|event/i,
    }),
    wanted('request', 'requestSubject', 'hashed visitor', (fact) => fact.subject !== null, {
      kinds: ['hash'],
      names: /visit|device|hash|digest|finger|browser|anon|pseud/i,
    }),
    wanted('request', 'requestedAt', 'time of the request', hasTime, { kinds: ['time'], names: TIME, not: NOT_NOW }),
    wanted('request', 'requestId', 'id of the request', (fact) => fact.requestId !== null, {
      kinds: ['uuid', 'id', 'integer'],
      names: /request|ticket|case|ref|dsar|number|\bno\b|nr|uid|key|id$/i,
      not: /visit|user|site|delivery|event/i,
      values: 'many',
    }),
    wanted('request', 'requesterName', 'name of the requester', (fact) => fact.requesterName !== null, {
      kinds: ['words', 'word'],
      named: true,
      names: /name|person|who|applicant|requester|sender|customer|individual/i,
      not: /brand|company|event|file|message|text|domain/i,
    }),
    wanted('request', 'requestJurisdiction', 'jurisdiction', (fact) => fact.jurisdiction !== null, {
      kinds: ['region'],
      names: /region|country|geo|land|nation|territor|jurisdiction|location|residen|place|law/i,
    }),
    wanted('request', 'requestMessage', 'message', (fact) => fact.message !== null, {
      kinds: ['words'],
      names: /message|text|comment|note|detail|descri|body|words|story|wish/i,
    }),
    wanted('request', 'language', 'language', (fact) => fact.language !== null, {
      kinds: ['language'],
      named: true,
      names: /lang|locale|tongue|speech/i,
    }),
  ],
  policy: [
    wanted('policy', 'policyType', 'type of the policy', (fact) => fact.policyType !== null, {
      kinds: ['policy-type'],
      names: /type|kind|slug|policy|doc|category/i,
      not: /title|event|id$/i,
    }),
    wanted('policy', 'policyVersion', 'version', (fact) => fact.version !== null, {
      kinds: ['version'],
      named: true,
      names: /version|revision|\brev\b|edition|ver$/i,
      not: /api|schema|sdk/i,
    }),
    wanted('policy', 'hostedUrl', 'address', (fact) => fact.hostedUrl !== null, {
      kinds: ['url'],
      names: /url|link|address|href|hosted|public|live/i,
    }),
    wanted('policy', 'occurredAt', 'time of the change', hasTime, { kinds: ['time'], names: TIME, not: NOT_NOW }),
    wanted('policy', 'policyJurisdiction', 'jurisdiction', (fact) => fact.jurisdiction !== null, {
      kinds: ['region'],
      names: /region|country|jurisdiction|territor|law|land/i,
    }),
    wanted('policy', 'language', 'language', (fact) => fact.language !== null, {
      kinds: ['language'],
      named: true,
      names: /lang|locale|tongue/i,
    }),
    wanted('policy', 'policyId', 'id of the policy', (fact) => fact.policyId !== '', {
      kinds: ['uuid', 'id', 'integer'],
      names: /policy|doc|uid|key|ref|id$/i,
      not: /user|owner|account|event|delivery|brand/i,
    }),
  ],
  scan: [
    wanted('scan', 'scanTrackers', 'list of trackers', (fact) => hasItem(fact, ({ kind }) => kind === 'tracker'), {
      kinds: ['items', 'names-list'],
      named: true,
      names: /track|beacon|pixel|script|\btags?\b|third/i,
    }),
    wanted('scan', 'scanCookies', 'list of cookies', (fact) => hasItem(fact, ({ kind }) => kind === 'cookie'), {
      kinds: ['items', 'names-list'],
      named: true,
      names: /cookie|\bjar\b|storage|inventory|finding|found|item|result/i,
    }),
    wanted('scan', 'scanDomain', 'domain', (fact) => fact.domain !== null, {
      kinds: ['domain', 'url'],
      names: /domain|site|host|url|address|target|page/i,
    }),
    wanted('scan', 'scannedAt', 'time of the scan', hasTime, { kinds: ['time'], names: TIME, not: NOT_NOW }),
    wanted('scan', 'uncategorised', 'cookies without a category', (fact) => fact.uncategorised !== null, {
      kinds: ['integer'],
      named: true,
      names: /uncat|unclass|unknown|unsorted|unlabel/i,
    }),
    wanted('scan', 'trackersFound', 'trackers', (fact) => fact.trackersFound !== null, {
      kinds: ['integer'],
      named: true,
      names: /track|third/i,
    }),
    wanted('scan', 'cookiesFound', 'cookies', (fact) => fact.cookiesFound !== null, {
      kinds: ['integer'],
      named: true,
      names: /cookie|found|total|count/i,
    }),
    wanted('scan', 'score', 'score', (fact) => fact.score !== null, {
      kinds: ['number', 'integer'],
      named: true,
      names: /score|rating|grade|points|percent/i,
    }),
    wanted('scan', 'scanId', 'id of the scan', (fact) => fact.scanId !== null, {
      kinds: ['uuid', 'id', 'integer'],
      names: /scan|run|report|ref|uid|key|id$/i,
      not: /event|delivery|site/i,
      values: 'many',
    }),
  ],
  integration: [
    wanted('integration', 'integrationSite', 'site', (fact) => fact.site !== null, {
      kinds: ['domain', 'url'],
      names: /site|shop|domain|host|store|url|address/i,
    }),
    wanted('integration', 'integrationName', 'name', (fact) => fact.name !== null, {
      kinds: ['word', 'words'],
      named: true,
      names: /name|app|provider|platform|service|vendor|plugin|integration/i,
      not: /event|brand|user/i,
    }),
    wanted('integration', 'occurredAt', 'time of the change', hasTime, { kinds: ['time'], names: TIME, not: NOT_NOW }),
    wanted('integration', 'integrationId', 'id', (fact) => fact.integrationId !== null, {
      kinds: ['uuid', 'id', 'integer'],
      names: /integration|connection|install|link|ref|uid|key|id$/i,
      not: /event|delivery|user/i,
    }),
  ],
};

function hasItem({ items }: Of<'scan'>, is: (item: ScanItem) => boolean): boolean {
  return items?.some(is) === true;
}

/** Fields of the items in a scan's lists. */
export const wantedOfItems: readonly Wanted[] = [
  wanted(
    'scan',
    'itemBeforeConsent',
    'set before consent',
    (fact) => hasItem(fact, (one) => one.beforeConsent !== null),
    {
      kinds: ['flag', 'text'],
      named: true,
      names: /before|pre|prior|without|early/i,
    },
  ),
  wanted('scan', 'itemParty', 'party', (fact) => hasItem(fact, (one) => one.thirdParty !== null), {
    kinds: ['text', 'flag'],
    named: true,
    names: /party/i,
  }),
  wanted('scan', 'itemDomain', 'domain of a cookie or tracker', (fact) => hasItem(fact, (one) => one.domain !== null), {
    kinds: ['domain', 'url', 'text'],
    named: true,
    names: /domain|host|origin|set.?by|site/i,
  }),
  wanted('scan', 'itemCategory', 'category', (fact) => hasItem(fact, (one) => one.category !== null), {
    kinds: ['text'],
    named: true,
    names: /categor|group|grp|class|purpose|bucket/i,
  }),
  wanted('scan', 'itemProvider', 'provider', (fact) => hasItem(fact, (one) => one.provider !== null), {
    kinds: ['text'],
    named: true,
    names: /provider|vendor|company|owner|operator|service/i,
  }),
  wanted('scan', 'itemName', 'name of a cookie or tracker', (fact) => fact.items !== null && fact.unreadItems === 0, {
    kinds: ['text'],
    named: true,
    names: /name|label|title|ident|key|cookie|tracker|what/i,
    not: /domain|host|provider|vendor|categor|party|path/i,
  }),
];
