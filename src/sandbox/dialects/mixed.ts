import type { Dialect } from '../dialect.ts';
import type { DecisionHappening, Happening, PolicyHappening, RequestHappening, ScanHappening } from '../happenings.ts';
import { mulberry32, pick, seedOf } from '../prng.ts';
import {
  type Choices,
  choiceWords,
  type Field,
  fieldSpellings,
  nameCases,
  openChoices,
  purposeOrder,
  purposeWords,
  requestWords,
  timeForms,
} from './mixed-choices.ts';

type Fields = Record<string, unknown>;

/** Draws every open choice of a seed, each from a stream of its own: a choice that is added later changes none of the others. */
export function drawChoices(seed: number): Choices {
  const drawn = Object.entries(openChoices).map(([name, options]) => [
    name,
    pick<string | number>(mulberry32(seedOf(seed, 'mixed', name)), options),
  ]);
  return Object.fromEntries(drawn) as Choices;
}

/**
 * The dialect that a seed draws: names, shapes, words, times, order, ends, forms of ids, errors and lists, each by itself. So there are
 * thousands, among them combinations that nobody thought of. Same seed: same dialect.
 */
export function createMixed(seed: number): Dialect {
  const choices = drawChoices(seed);
  const toCase = nameCases[choices.names];
  const spell = (field: Field): string =>
    toCase(pick<string>(mulberry32(seedOf(seed, 'mixed', 'field', field)), fieldSpellings[field]));
  const rendering: Rendering = { choices, toCase, spell };
  return {
    name: 'mixed',
    summary: 'every open choice drawn from the seed, as listed below',
    rowOrder: choices.rowOrder,
    lastPage: choices.lastPage,
    createdStatus: choices.createdStatus,
    list: choices.list,
    embed: choices.embed,
    tellsRemaining: choices.remainingQuota === 'told',
    openapiNeedsKey: choices.openapi === 'with a key',
    publishBody: choices.publishBody,
    contentType: choices.contentType,
    limitHeaders: choices.limitHeaders,
    errors: choices.errors,
    deliveryIds: choices.deliveryIds,
    layout: choices.layout,
    drawn: [
      [
        'names',
        `${choices.names}, ${choices.shape}: ${spell('recordId')}, ${spell('visitorHash')}, ${spell('choice')}`,
      ],
      ['envelope', `${choices.envelope}; the event in ${toCase(choices.eventName)}`],
      ['times', `${choices.payloadTimes} in payloads, ${choices.rowTimes} in rows`],
      ['decisions', choiceWords[choices.choiceWords].accept],
      ['purposes', `${choices.purposes}: ${choices.purposeWords}`],
      ['region', choices.region],
      ['requests', `${choices.requestWords} by ${choices.requester}`],
      ['delivery ids', `${choices.deliveryIds}, in ${choices.deliveryIdIn}`],
      ['JSON', `${choices.layout}, ${choices.contentType}`],
    ],
    headers: (_event, deliveryId) => {
      const { deliveryIdIn } = choices;
      return deliveryIdIn === 'nowhere' || deliveryIdIn === 'payload' ? {} : { [deliveryIdIn]: deliveryId };
    },
    row: (decision) => ({
      ...decisionFields(rendering, decision),
      [spell('rowAt')]: timeForms[choices.rowTimes](decision.at),
    }),
    payload: (happening, deliveryId) => wrap(rendering, happening, deliveryId),
  };
}

interface Rendering {
  readonly choices: Choices;
  readonly toCase: (name: string) => string;
  readonly spell: (field: Field) => string;
}

function wrap({ choices, toCase, spell }: Rendering, happening: Happening, deliveryId: string): Fields {
  const about = fieldsOf({ choices, toCase, spell }, happening);
  // Among the fields of a policy that was updated, `created_at` would be another time than that of the event.
  const timeName =
    choices.envelope === 'none' && spell('payloadAt') === toCase('created_at')
      ? toCase('timestamp')
      : spell('payloadAt');
  const head = {
    ...(choices.deliveryIdIn === 'payload'
      ? // Beside an envelope `id` can only be the delivery's; among the fields of the thing it would be the thing's.
        { [toCase(choices.envelope === 'none' ? 'delivery_id' : 'id')]: deliveryId }
      : {}),
    [toCase(choices.eventName)]: happening.event,
    [timeName]: timeForms[choices.payloadTimes](happening.at),
  };
  switch (choices.envelope) {
    case 'none':
      return { ...head, ...about };
    case 'data':
    case 'payload':
      return { ...head, [toCase(choices.envelope)]: about };
    case 'data.object':
      return { ...head, [toCase('data')]: { [toCase('object')]: about } };
  }
}

function fieldsOf(rendering: Rendering, happening: Happening): Fields {
  switch (happening.event) {
    case 'consent.recorded':
      return decisionFields(rendering, happening);
    case 'dsar.submitted':
      return requestFields(rendering, happening);
    case 'cookie_scan.completed':
      return scanFields(rendering, happening);
    case 'integration.connected':
    case 'integration.disconnected': {
      const { spell } = rendering;
      return {
        [spell('integrationId')]: happening.integrationId,
        [spell('integrationName')]: happening.name,
        [spell('site')]: happening.site,
        ...(happening.reason === undefined ? {} : { [rendering.toCase('reason')]: happening.reason }),
      };
    }
    default:
      return policyFields(rendering, happening);
  }
}

function decisionFields(rendering: Rendering, decision: DecisionHappening): Fields {
  const { choices, toCase, spell } = rendering;
  const choice = { [spell('choice')]: choiceWords[choices.choiceWords][decision.choice] };
  const expiry = { [spell('expiresAt')]: timeForms[choices.rowTimes](decision.expiresAt) };
  const language = { [spell('language')]: decision.language };
  const purposes = purposeFields(rendering, decision);
  const policy = { id: decision.policyId, version: decision.policyVersion };
  if (choices.shape === 'flat') {
    return {
      [spell('recordId')]: decision.recordId,
      [spell('bannerId')]: decision.bannerId,
      [spell('visitorHash')]: decision.visitorHash,
      ...choice,
      ...purposes,
      ...regionFields(rendering, decision.region),
      ...language,
      [toCase('policy_id')]: policy.id,
      [toCase('policy_version')]: policy.version,
      [spell('domain')]: decision.domain,
      ...expiry,
    };
  }
  return {
    [toCase('consent')]: { [spell('recordId')]: decision.recordId, ...choice, ...purposes, ...expiry },
    [toCase('visitor')]: { [toCase('hash')]: decision.visitorHash, ...language },
    ...regionFields(rendering, decision.region),
    [toCase('banner')]: { [toCase('id')]: decision.bannerId, [spell('domain')]: decision.domain },
    [toCase('policy')]: { [toCase('id')]: policy.id, [toCase('version')]: policy.version },
  };
}

function purposeFields({ choices, toCase, spell }: Rendering, decision: DecisionHappening): Fields {
  const words = purposeWords[choices.purposeWords];
  const named = purposeOrder.map((purpose, index): [string, boolean] => [
    words[index] ?? purpose,
    decision.purposes[purpose],
  ]);
  const those = (wanted: boolean): string[] => named.flatMap(([name, granted]) => (granted === wanted ? [name] : []));
  const mapped = (value: (granted: boolean) => unknown): Fields =>
    Object.fromEntries(named.map(([name, granted]) => [name, value(granted)]));
  switch (choices.purposes) {
    case 'flags':
      return { [spell('purposes')]: mapped((granted) => granted) };
    case 'words':
      return { [spell('purposes')]: mapped((granted) => (granted ? 'granted' : 'denied')) };
    case 'numbers':
      return { [spell('purposes')]: mapped(Number) };
    case 'objects':
      return {
        [spell('purposes')]: named.map(([name, granted]) => ({ [toCase('name')]: name, [toCase('granted')]: granted })),
      };
    case 'two lists':
      return { [spell('granted')]: those(true), [spell('denied')]: those(false) };
    case 'list of granted':
      return { [spell('granted')]: those(true) };
    case 'fields of their own':
      return mapped((granted) => granted);
  }
}

function regionFields({ choices, toCase, spell }: Rendering, code: string): Fields {
  const [country = code, region = null] = code.split('-');
  switch (choices.region) {
    case 'code':
      return { [spell('region')]: code };
    case 'country and region':
      return { [toCase('country_code')]: country, [toCase('region_code')]: region };
    case 'geo':
      return { [toCase('geo')]: { [toCase('country')]: country, [toCase('region')]: region } };
  }
}

function requestFields(rendering: Rendering, request: RequestHappening): Fields {
  const { choices, toCase, spell } = rendering;
  const [first = request.name, ...others] = request.name.split(' ');
  const email = { [spell('requesterEmail')]: request.email };
  const fullName = { [spell('requesterName')]: request.name };
  const parts = { [toCase('first_name')]: first, [toCase('last_name')]: others.join(' ') };
  const hash = request.visitorHash === null ? {} : { [toCase('visitor_hash')]: request.visitorHash };
  const requester =
    choices.requester === 'object'
      ? { [spell('requester')]: { [toCase('name')]: request.name, [toCase('email')]: request.email } }
      : choices.requester === 'first and last name'
        ? { ...parts, ...email }
        : { ...fullName, ...email };
  return {
    [spell('requestId')]: request.requestId,
    [spell('requestKind')]: requestWords[choices.requestWords](request.kind),
    ...requester,
    ...hash,
    ...regionFields(rendering, request.jurisdiction),
    [spell('language')]: request.language,
    [spell('message')]: request.message,
  };
}

function scanFields({ choices, toCase, spell }: Rendering, scan: ScanHappening): Fields {
  return {
    [spell('scanId')]: scan.scanId,
    [spell('domain')]: scan.domain,
    [toCase('status')]: 'completed',
    [toCase('pages_scanned')]: scan.pages,
    [spell('cookiesFound')]: scan.cookiesFound,
    [spell('trackersFound')]: scan.trackersFound,
    [spell('uncategorised')]: scan.uncategorised,
    [spell('score')]: scan.score,
    ...(choices.shape === 'flat' && scan.found !== undefined
      ? {
          [toCase('cookie_list')]: scan.found.map((cookie) => ({
            [toCase('cookie_name')]: cookie.name,
            [toCase('category')]: cookie.category,
            [toCase('domain')]: cookie.domain,
            [toCase('before_consent')]: cookie.beforeConsent,
          })),
        }
      : {}),
  };
}

function policyFields({ choices, toCase, spell }: Rendering, policy: PolicyHappening): Fields {
  const fields = {
    [spell('policyId')]: policy.policyId,
    [spell('policyType')]: policy.policyType,
    [spell('title')]: policy.title,
    [spell('brandName')]: policy.brandName,
    [spell('policyJurisdiction')]: policy.jurisdiction,
    [spell('language')]: policy.language,
    [spell('userId')]: policy.userId,
    [spell('version')]: policy.version,
  };
  return choices.shape === 'flat' ? fields : { [toCase('policy')]: fields };
}
