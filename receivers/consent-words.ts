import type { ConsentState } from '../src/core/vocabulary.ts';

/**
 * The many spellings of a consent choice, without case and separators, and the state each means (ISO/IEC TS 27560).
 * `by-purpose`: something was chosen, and only the purposes tell what.
 */
const words: Readonly<Record<ConsentState | 'by-purpose', string>> = {
  given:
    'given give accept accepted acceptall acceptedall allaccepted accepts allow allowed allowall allowedall agree agreed agreetoall grant granted grantall grantedall ' +
    'consent consented consentgiven optin optedin yes y true 1 on enabled enable all',
  'renewed-given': 'renewedgiven renew renewed reconfirmed reconfirm regiven reconsented',
  refused:
    'refused refuse refuseall refusedall reject rejected rejectall rejectedall allrejected decline declined declineall declinedall deny denied denyall deniedall ' +
    'disagree disagreed disallow disallowed no n false 0 off disabled disable none optout optedout donotsell notgranted notgiven noconsent ' +
    'necessaryonly onlynecessary essentialonly onlyessential requiredonly strictlynecessary strictlynecessaryonly acceptnecessary acceptessential necessary essential rejectnonessential',
  withdrawn:
    'withdrawn withdraw withdrew withdrawal withdrawconsent consentwithdrawn revoke revoked revocation consentrevoked retracted retract',
  expired: 'expired expire lapsed',
  terminated: 'terminated terminate',
  invalidated: 'invalidated invalidate invalid',
  requested: 'requested request pending shown displayed prompted',
  'request-deferred': 'requestdeferred deferred dismiss dismissed closed close ignored later askmelater',
  unknown: '',
  'by-purpose':
    'partial partially partiallyaccepted partialconsent acceptpartial custom customize customized customise customised customchoice some selected selection acceptselected acceptselection ' +
    'allowselection allowselected mixed granular save saved savepreferences savedpreferences savechoices savesettings preferences update updated updatepreferences preferencesupdated changed modified',
};

const states = new Map<string, ConsentState | 'by-purpose'>();
for (const [state, spellings] of Object.entries(words)) {
  for (const word of spellings.split(' ')) if (word !== '') states.set(word, state as ConsentState);
}

/** What a word, flag or 0/1 says about consent; null when it is none of the known spellings. */
export function choiceOf(value: unknown): ConsentState | 'by-purpose' | null {
  if (value === true || value === 1) return 'given';
  if (value === false || value === 0) return 'refused';
  if (typeof value !== 'string' || value.length > 60) return null;
  return states.get(value.toLowerCase().replace(/[^a-z0-9]+/g, '')) ?? null;
}
