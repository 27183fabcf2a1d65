import type { Capture, CapturedPackage } from './fixtures.ts';

/**
 * The consent packages that are captured: a page for each, what a visitor clicks, and what is then taken from it. Pages and
 * what is taken are code for the browser, and therefore text.
 */

/** The site of the pages; no request for it leaves the browser. */
export const SITE = 'https://shop.example.com/';
/** The visitor's first visit, and the second, the next morning. */
export const FIRST = '2026-11-26T15:00:00.000Z';
export const LATER = '2026-11-27T09:30:00.000Z';

/** A selector to click, or `later`: the visitor opens the page again the next morning. */
type Step = string;

interface Scenario {
  readonly means: string;
  readonly steps: readonly Step[];
  /** The purposes to which the visitor consented at the last step; all others were refused or never answered. */
  readonly granted: readonly string[];
  /** Appended to the address of the page. */
  readonly query?: string;
}

/** One form in which a package gives the choice: a cookie's text, an event, the body of a request. */
interface Form {
  /** The payload, with `cookie(name)`, `last(note)`, `sent` and the page's own variables; null or undefined: this form says nothing. */
  readonly take: string;
  /** It states when the choice was made. */
  readonly timed?: boolean;
  /** Its own names of a purpose. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  /** Names that may count as granted together with a purpose, such as its services. */
  readonly with?: Readonly<Record<string, readonly string[]>>;
  /** Further names that need no consent. */
  readonly necessary?: readonly string[];
}

export interface Platform extends Omit<CapturedPackage, 'captures'> {
  /** Other packages that the page needs. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Versions to install instead of those that a package asks for. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** The content of the page; PACKAGE is the address of the package's files. */
  readonly page: string;
  /** A module, bundled into the page; PACKAGE is the package's name. */
  readonly module?: string;
  /** Part of the address of the requests that are recorded in `sent`. */
  readonly sends?: string;
  /** What the page's servers answer, by the beginning of the path. */
  readonly replies?: Readonly<Record<string, unknown>>;
  readonly purposes: readonly string[];
  /** Purposes that are always on. */
  readonly necessary: readonly string[];
  readonly scenarios: Readonly<Record<string, Scenario>>;
  readonly forms: Readonly<Record<string, Form>>;
}

/** Where the captures of a package are: `@scope/name` becomes `scope-name`. */
export function folderOf({ package: name, version }: Pick<Platform, 'package' | 'version'>): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}`;
}

/** The content of a package's file. */
export function fileOf(platform: Platform, captures: readonly Capture[]): CapturedPackage {
  const { package: name, version, necessaryUnsaid } = platform;
  return { package: name, version, ...(necessaryUnsaid && { necessaryUnsaid }), captures };
}

/** What may be read from a form of a scenario. */
export function expectationOf(platform: Platform, { granted, steps }: Scenario, form: string): Capture['expect'] {
  const { names = {}, with: beside = {}, necessary = [], timed = false } = platform.forms[form] ?? {};
  const namesOf = (purposes: readonly string[]): string[] => purposes.flatMap((purpose) => names[purpose] ?? [purpose]);
  const denied = platform.purposes.filter((purpose) => !granted.includes(purpose));
  return {
    granted: namesOf(granted),
    denied: namesOf(denied),
    either: [...platform.necessary, ...necessary, ...granted.flatMap((purpose) => beside[purpose] ?? [])],
    time: timed ? (steps.includes('later') ? LATER : FIRST) : null,
  };
}

const shown: Scenario = { means: 'The banner was shown; nothing was clicked.', steps: [], granted: [] };
const all = (granted: readonly string[], ...steps: Step[]): Scenario => ({ means: 'Accepted all.', steps, granted });
const none = (...steps: Step[]): Scenario => ({ means: 'Rejected all.', steps, granted: [] });
const only = (granted: string, ...steps: Step[]): Scenario => ({
  means: `Chose by purpose and accepted only ${granted}.`,
  steps,
  granted: [granted],
});
const withdrawn = (...steps: Step[]): Scenario => ({
  means: 'Accepted all, and withdrew all the next morning.',
  steps,
  granted: [],
});

/** The last entry of the data layer for Google's consent mode, as its text. */
const gtag = 'dataLayer.map((one) => ({ ...one })).findLast((one) => one[0] === "consent" && one[1] === "update")';

const vanilla3: Platform = {
  package: 'vanilla-cookieconsent',
  version: '3.1.0',
  page: `<link rel="stylesheet" href="PACKAGE/dist/cookieconsent.css"><script src="PACKAGE/dist/cookieconsent.umd.js"></script>
    <button id="reopen" onclick="CookieConsent.showPreferences()">Cookie settings</button>
    <script>
      // As the package's documentation says to log consent on one's own server.
      const log = () => {
        const { acceptType, acceptedCategories, rejectedCategories } = CookieConsent.getUserPreferences();
        note('logged', { consentId: CookieConsent.getCookie().consentId, acceptType, acceptedCategories, rejectedCategories });
      };
      CookieConsent.run({
        categories: {
          necessary: { enabled: true, readOnly: true },
          analytics: { services: { ga: { label: 'Google Analytics' }, hotjar: { label: 'Hotjar' } } },
          marketing: {},
        },
        language: { default: 'en', translations: { en: {
          consentModal: { title: 'Cookies', description: 'We use cookies.', acceptAllBtn: 'Accept all', acceptNecessaryBtn: 'Reject all', showPreferencesBtn: 'Settings' },
          preferencesModal: { title: 'Settings', acceptAllBtn: 'Accept all', acceptNecessaryBtn: 'Reject all', savePreferencesBtn: 'Save', closeIconLabel: 'Close',
            sections: ['necessary', 'analytics', 'marketing'].map((name) => ({ title: name, linkedCategory: name })) },
        } } },
        onFirstConsent: (given) => { log(); note('event', given); },
        onChange: (given) => { log(); note('event', given); },
      });
    </script>`,
  purposes: ['analytics', 'marketing'],
  necessary: ['necessary'],
  scenarios: {
    'accept-all': all(['analytics', 'marketing'], '#cc-main [data-role=all]'),
    'reject-all': none('#cc-main [data-role=necessary]'),
    'analytics-only': only(
      'analytics',
      '#cc-main [data-role=show]',
      '#cc-main label:has([value=analytics])',
      '#cc-main .pm [data-role=save]',
    ),
    'withdraw-later': withdrawn('#cc-main [data-role=all]', 'later', '#reopen', '#cc-main .pm [data-role=necessary]'),
  },
  forms: {
    cookie: { take: '({ cc_cookie: cookie("cc_cookie") })', timed: true },
    'cookie-decoded': {
      take: 'JSON.parse(decodeURIComponent(cookie("cc_cookie")))',
      timed: true,
      with: { analytics: ['ga', 'hotjar'] },
    },
    event: { take: 'last("event")', timed: true, with: { analytics: ['ga', 'hotjar'] } },
    logged: { take: 'last("logged")' },
  },
};

const vanilla2: Platform = {
  package: 'vanilla-cookieconsent',
  version: '2.9.2',
  page: `<link rel="stylesheet" href="PACKAGE/dist/cookieconsent.css"><script src="PACKAGE/dist/cookieconsent.js"></script>
    <button id="reopen" onclick="cc.showSettings()">Cookie settings</button>
    <script>
      const cc = initCookieConsent();
      const block = (value, fixed) => ({ title: value, description: '', toggle: { value, enabled: fixed, readonly: fixed } });
      cc.run({
        current_lang: 'en',
        languages: { en: {
          consent_modal: { title: 'Cookies', description: 'We use cookies.', primary_btn: { text: 'Accept all', role: 'accept_all' }, secondary_btn: { text: 'Settings', role: 'settings' } },
          settings_modal: { title: 'Settings', save_settings_btn: 'Save', accept_all_btn: 'Accept all', reject_all_btn: 'Reject all', close_btn_label: 'Close',
            blocks: [block('necessary', true), block('analytics', false), block('ads', false)] },
        } },
        onFirstAction: (preferences) => note('preferences', preferences),
        onChange: () => note('preferences', cc.getUserPreferences()),
      });
    </script>`,
  purposes: ['analytics', 'ads'],
  necessary: ['necessary'],
  scenarios: {
    'accept-all': all(['analytics', 'ads'], '#c-p-bn'),
    'reject-all': none('#c-s-bn', '#s-rall-bn'),
    'analytics-only': only('analytics', '#c-s-bn', '.b-tg:has([value=analytics])', '#s-sv-bn'),
    'withdraw-later': withdrawn('#c-p-bn', 'later', '#reopen', '#s-rall-bn'),
  },
  forms: {
    cookie: { take: '({ cc_cookie: cookie("cc_cookie") })', timed: true },
    'cookie-decoded': { take: 'JSON.parse(cookie("cc_cookie"))', timed: true },
    preferences: { take: 'last("preferences")' },
  },
};

const lmc: Platform = {
  package: '@lmc-eu/cookie-consent-manager',
  version: '2.6.0',
  // The version it asks for is not in npm's registry; only its style sheets would need it.
  overrides: { '@lmc-eu/spirit-design-tokens': '3.0.2' },
  sends: '/consents',
  page: `<link rel="stylesheet" href="PACKAGE/LmcCookieConsentManager.min.css"><script src="PACKAGE/init.js"></script>
    <button id="reopen" data-cc="c-settings">Cookie settings</button>
    <script>
      initLmcCookieConsentManager('shop.example.com', { defaultLang: 'en', autodetectLang: false, consentCollectorApiUrl: '/consents',
        onChange: (_, categories) => note('changed', categories) });
    </script>`,
  purposes: ['ad', 'analytics', 'functionality', 'personalization'],
  necessary: ['necessary'],
  scenarios: {
    'accept-all': all(['ad', 'analytics', 'functionality', 'personalization'], '#c-p-bn'),
    'reject-all': none('#c-s-bn'),
    'analytics-only': only('analytics', '#c-txt [data-cc=c-settings]', '.b-tg:has([value=analytics])', '#s-sv-bn'),
    'withdraw-later': withdrawn('#c-p-bn', 'later', '#reopen', '#s-rall-bn'),
  },
  forms: {
    sent: { take: 'sent.at(-1)' },
    'data-layer': { take: 'dataLayer.at(-1)' },
    changed: { take: 'last("changed")' },
    cookie: { take: '({ lmc_ccm: cookie("lmc_ccm") })' },
    'cookie-decoded': { take: 'JSON.parse(decodeURIComponent(cookie("lmc_ccm")))' },
  },
};

const klaro: Platform = {
  package: 'klaro',
  version: '0.7.22',
  sends: '/submit',
  replies: {
    '/v1/privacy-managers/a0/config.json': {
      id: 'shop',
      name: 'default',
      version: 1,
      elementID: 'klaro',
      acceptAll: true,
      lang: 'en',
      default: false,
      services: [
        { name: 'session', title: 'Session', purposes: ['functional'], required: true },
        { name: 'matomo', title: 'Matomo', purposes: ['analytics'] },
        { name: 'youtube', title: 'YouTube', purposes: ['marketing'] },
      ],
    },
  },
  page: `<script src="PACKAGE/dist/klaro.js" data-klaro-id="a0" data-klaro-api-url="https://klaro.example.com"></script>
    <button id="reopen" onclick="klaro.show(undefined, true)">Cookie settings</button>
    <script>
      const watcher = { update: (_, name, data) => { if (name === 'saveConsents') note('saved', data); } };
      klaro.addEventListener('apiConfigsLoaded', ([config]) => { klaro.getManager(config).watch(watcher); });
    </script>`,
  purposes: ['matomo', 'youtube'],
  necessary: ['session'],
  necessaryUnsaid: true,
  scenarios: {
    shown,
    'accept-all': all(['matomo', 'youtube'], '.cm-btn-success'),
    'reject-all': none('.cn-decline'),
    'matomo-only': only(
      'matomo',
      '.cn-learn-more, .cm-link',
      '.cm-purpose .cm-caret a >> nth=1',
      'label[for=service-item-matomo]',
      '.cm-btn-accept',
    ),
    'withdraw-later': withdrawn(
      '.cm-btn-success',
      'later',
      '#reopen',
      'label[for=purpose-item-analytics]',
      'label[for=purpose-item-marketing]',
      '.cm-btn-accept',
    ),
  },
  forms: {
    sent: { take: 'sent.at(-1)' },
    event: { take: 'last("saved")' },
    cookie: { take: 'cookie("klaro") && { klaro: cookie("klaro") }' },
    'cookie-decoded': { take: 'cookie("klaro") && JSON.parse(decodeURIComponent(cookie("klaro")))' },
  },
};

const orejime: Platform = {
  package: 'orejime',
  version: '3.2.1',
  page: `<link rel="stylesheet" href="PACKAGE/dist/orejime-standard.css">
    <script>
      window.orejimeConfig = { privacyPolicyUrl: '/privacy', purposes: [
        { id: 'session', title: 'Session', isMandatory: true, cookies: [] },
        { id: 'analytics', title: 'Analytics', cookies: ['_ga'] },
        { id: 'ads', title: 'Advertising', purposes: [{ id: 'retargeting', title: 'Retargeting', cookies: [] }, { id: 'video', title: 'Video', cookies: [] }] },
      ] };
    </script>
    <script src="PACKAGE/dist/orejime-standard-en.js"></script>
    <button id="reopen" onclick="orejime.prompt()">Cookie settings</button>
    <script>
      addEventListener('DOMContentLoaded', () => orejime.manager.on('update', (updated, all) => { note('updated', updated); note('all', all); }));
    </script>`,
  purposes: ['analytics', 'retargeting', 'video'],
  necessary: ['session'],
  necessaryUnsaid: true,
  scenarios: {
    'accept-all': all(['analytics', 'retargeting', 'video'], '.orejime-Button--save'),
    'reject-all': none('.orejime-Button--decline'),
    'analytics-only': only('analytics', '.orejime-Button--info', '[for*=analytics]', '.orejime-Modal-saveButton'),
    'withdraw-later': withdrawn(
      '.orejime-Button--save',
      'later',
      '#reopen',
      '.orejime-PurposeToggles-disableAll',
      '.orejime-Modal-saveButton',
    ),
  },
  forms: {
    cookie: { take: '({ "eu-consent": cookie("eu-consent") })' },
    'cookie-decoded': { take: 'JSON.parse(decodeURIComponent(cookie("eu-consent")))' },
    // Only what differs from before: nothing, if all that was off is rejected.
    updated: { take: 'Object.keys(last("updated")).length > 0 ? last("updated") : null' },
  },
};

const osano: Platform = {
  package: 'cookieconsent',
  version: '3.1.1',
  page: `<link rel="stylesheet" href="PACKAGE/build/cookieconsent.min.css"><script src="PACKAGE/build/cookieconsent.min.js"></script>
    <script>
      cookieconsent.initialise({ type: new URLSearchParams(location.search).get('type') ?? 'opt-in', palette: { popup: { background: '#000' }, button: { background: '#fff' } }, revokable: true, animateRevokable: false, law: { regionalLaw: false },
        // As in the package's documentation.
        onStatusChange: function (status, chosenBefore) { note('status', { status, chosenBefore, type: this.options.type, didConsent: this.hasConsented() }); } });
    </script>`,
  purposes: ['*'],
  necessary: [],
  scenarios: {
    accept: all(['*'], '.cc-allow'),
    refuse: none('.cc-deny'),
    'withdraw-later': withdrawn('.cc-allow', 'later', '.cc-revoke', '.cc-deny'),
    'opt-out': {
      ...none('.cc-deny'),
      means: 'Declined on a banner that only offers to opt out.',
      query: '?type=opt-out',
    },
    'got-it': { ...none('.cc-dismiss'), means: 'Dismissed a notice that offers no choice.', query: '?type=info' },
  },
  forms: {
    cookie: { take: '({ cookieconsent_status: cookie("cookieconsent_status") })' },
    event: { take: 'last("status")' },
  },
};

const tarteaucitron: Platform = {
  package: 'tarteaucitronjs',
  version: '1.34.0',
  page: `<script src="PACKAGE/tarteaucitron.js"></script>
    <script>
      window.dataLayer = [];
      tarteaucitron.init({ privacyUrl: '', hashtag: '#tarteaucitron', cookieName: 'tarteaucitron', orientation: 'bottom', showAlertSmall: false, cookieslist: false, DenyAllCta: true, AcceptAllCta: true, highPrivacy: true, removeCredit: true, mandatory: true, googleConsentMode: true, bingConsentMode: true, dataLayer: true, serverSide: false });
      tarteaucitron.user.gtagUa = 'G-EXAMPLE';
      tarteaucitron.job = ['gtag', 'youtube'];
    </script>
    <div class="youtube_player" videoID="x" width="1" height="1"></div>`,
  purposes: ['gtag', 'youtube'],
  necessary: [],
  scenarios: {
    shown,
    'accept-all': all(['gtag', 'youtube'], '#tarteaucitronPersonalize2'),
    'reject-all': none('#tarteaucitronAllDenied2'),
    'gtag-only': only('gtag', '#tarteaucitronCloseAlert', '#gtagAllowed', '#youtubeDenied', '#tarteaucitronClosePanel'),
    'withdraw-later': withdrawn(
      '#tarteaucitronPersonalize2',
      'later',
      '#tarteaucitronIcon',
      '#gtagDenied',
      '#youtubeDenied',
      '#tarteaucitronClosePanel',
    ),
    'withdraw-gtag-later': {
      means: 'Accepted all, and withdrew gtag the next morning.',
      steps: ['#tarteaucitronPersonalize2', 'later', '#tarteaucitronIcon', '#gtagDenied'],
      granted: ['youtube'],
    },
  },
  forms: {
    cookie: { take: '({ tarteaucitron: cookie("tarteaucitron") })' },
    'cookie-decoded': {
      take: 'Object.fromEntries(cookie("tarteaucitron").split("!").slice(1).map((one) => one.split("=")))',
    },
    // Pushed only when something is allowed.
    'data-layer': { take: 'dataLayer.findLast(({ event }) => event === "tac_consent_update")' },
    gtag: { take: gtag, names: { gtag: ['analytics_storage'], youtube: [] } },
  },
};

const c15t: Platform = {
  package: 'c15t',
  version: '2.2.1',
  sends: '/subjects',
  replies: {
    '/c15t/init': {
      jurisdiction: 'GDPR',
      location: { countryCode: 'DE', regionCode: 'BE' },
      translations: { language: 'en', translations: {} },
      branding: 'none',
    },
    '/c15t/subjects': {},
  },
  page: '<button id="accept">Accept all</button><button id="reject">Reject</button><input type="checkbox" id="measurement"><button id="save">Save</button>',
  module: `import { getOrCreateConsentRuntime } from 'PACKAGE';
    const { consentStore } = getOrCreateConsentRuntime({ mode: 'hosted', backendURL: '/c15t', consentCategories: ['necessary', 'measurement', 'marketing'],
      callbacks: { onConsentChanged: (changed) => note('changed', changed) } });
    const { saveConsents, setSelectedConsent } = consentStore.getState();
    document.querySelector('#accept').onclick = () => saveConsents('all');
    document.querySelector('#reject').onclick = () => saveConsents('necessary');
    document.querySelector('#measurement').onchange = ({ target }) => setSelectedConsent('measurement', target.checked);
    document.querySelector('#save').onclick = () => saveConsents('custom');`,
  purposes: ['measurement', 'marketing', 'functionality', 'experience'],
  necessary: ['necessary'],
  scenarios: {
    'accept-all': all(['measurement', 'marketing'], '#accept'),
    'reject-all': none('#reject'),
    'measurement-only': only('measurement', '#measurement', '#save'),
    'withdraw-later': withdrawn('#accept', 'later', '#reject'),
    'accept-later': {
      means: 'Rejected all, and accepted all the next morning.',
      steps: ['#reject', 'later', '#accept'],
      granted: ['measurement', 'marketing'],
    },
  },
  forms: {
    sent: { take: 'sent.at(-1)', timed: true },
    // Not called if nothing changed.
    event: { take: 'last("changed")' },
    cookie: { take: '({ c15t: cookie("c15t") })', timed: true },
    stored: { take: '({ c15t: localStorage.getItem("c15t") })', timed: true },
    'stored-decoded': { take: 'JSON.parse(localStorage.getItem("c15t"))', timed: true },
  },
};

const iabPurposes = Array.from({ length: 11 }, (_, at) => String(at + 1));
const tcf: Platform = {
  package: '@iabtcf/cmpapi',
  version: '1.5.6',
  beside: { '@iabtcf/core': '1.5.6', '@iabtcf/stub': '1.5.6' },
  page: '<button id="accept">Accept all</button><button id="reject">Reject all</button><button id="object">Reject all and object to legitimate interests</button><button id="storage">Only purpose 1 and vendor 1</button>',
  module: `import '@iabtcf/stub';
    import { CmpApi } from 'PACKAGE';
    import { GVL, TCModel, TCString } from '@iabtcf/core';
    const named = (id) => ({ id, name: 'Name ' + id, description: '', illustrations: [] });
    const vendor = (id) => ({ id, name: 'Vendor ' + id, purposes: [1, 3, 4], legIntPurposes: [2, 7], flexiblePurposes: [], specialPurposes: [], features: [], specialFeatures: [1], policyUrl: '' });
    const all = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    const gvl = new GVL({ gvlSpecificationVersion: 3, vendorListVersion: 48, tcfPolicyVersion: 5, lastUpdated: '2026-11-19T16:00:00Z', purposes: Object.fromEntries(all.map((id) => [id, named(id)])), specialPurposes: {}, features: {}, specialFeatures: { 1: named(1) }, stacks: {}, dataCategories: {}, vendors: { 1: vendor(1), 2: vendor(2) } });
    const api = new CmpApi(999, 1, true);
    const saved = cookie('euconsent-v2');
    api.update(saved ?? '', saved === undefined);
    __tcfapi('addEventListener', 2, (data) => note('data', data));
    const save = (consents, vendors, interests) => {
      const model = saved === undefined ? new TCModel(gvl) : Object.assign(TCString.decode(saved), { gvl });
      Object.assign(model, { cmpId: 999, cmpVersion: 1, isServiceSpecific: true, consentScreen: 1, consentLanguage: 'EN', publisherCountryCode: 'DE' });
      model.unsetAll();
      model.purposeConsents.set(consents);
      model.vendorConsents.set(vendors);
      model.purposeLegitimateInterests.set(interests);
      model.vendorLegitimateInterests.set(interests.length > 0 ? [1, 2] : []);
      model.vendorsDisclosed.set([1, 2]);
      model.updated();
      const text = TCString.encode(model);
      document.cookie = 'euconsent-v2=' + text + ';path=/';
      api.update(text, false);
    };
    const interests = [2, 7, 8, 9, 10, 11];
    document.querySelector('#accept').onclick = () => save(all, [1, 2], interests);
    document.querySelector('#reject').onclick = () => save([], [], interests);
    document.querySelector('#object').onclick = () => save([], [], []);
    document.querySelector('#storage').onclick = () => save([1], [1], []);`,
  purposes: iabPurposes,
  necessary: [],
  scenarios: {
    shown,
    'accept-all': all(iabPurposes, '#accept'),
    'reject-all': { ...none('#reject'), means: 'Rejected all; legitimate interests remain.' },
    'object-to-all': { ...none('#object'), means: 'Rejected all and objected to legitimate interests.' },
    'storage-only': { ...only('1', '#storage'), means: 'Consented to purpose 1 and vendor 1 only.' },
    'withdraw-later': withdrawn('#accept', 'later', '#object'),
  },
  forms: {
    data: { take: 'last("data")' },
    cookie: { take: 'cookie("euconsent-v2") && { "euconsent-v2": cookie("euconsent-v2") }' },
  },
};

const gpp: Platform = {
  package: '@iabgpp/cmpapi',
  version: '3.2.0',
  page: '<button id="opt-out">Do not sell or share my personal information</button><button id="no-opt-out">Close</button>',
  module: `import { CmpApi } from 'PACKAGE';
    const api = new CmpApi(999, 1);
    api.setApplicableSections([7]);
    const save = (optOut) => {
      const notices = { SharingNotice: 1, SaleOptOutNotice: 1, SharingOptOutNotice: 1, TargetedAdvertisingOptOutNotice: 1 };
      const choices = { SaleOptOut: optOut, SharingOptOut: optOut, TargetedAdvertisingOptOut: optOut, MspaCoveredTransaction: 2, Gpc: false };
      for (const [field, value] of Object.entries({ ...notices, ...choices })) api.setFieldValue('usnat', field, value);
      for (const [field, value] of Object.entries({ Version: 1, Notice: 'Y', OptOutSale: optOut === 1 ? 'Y' : 'N', LspaCovered: 'N' })) api.setFieldValue('uspv1', field, value);
      api.setSignalStatus('ready');
      api.fireSectionChange('usnat');
    };
    document.querySelector('#opt-out').onclick = () => save(1);
    document.querySelector('#no-opt-out').onclick = () => save(2);
    window.ask = (command, about) => { let answer; __gpp(command, (data) => { answer = data; }, about); return answer; };`,
  // Not having opted out is not consent.
  purposes: ['SaleOptOut', 'SharingOptOut', 'TargetedAdvertisingOptOut', 'OptOutSale'],
  necessary: [],
  scenarios: {
    shown,
    'opt-out': { ...none('#opt-out'), means: 'Opted out of sale, sharing and targeted advertising.' },
    'no-opt-out': { ...none('#no-opt-out'), means: 'Saw the notices and did not opt out.' },
    'opt-out-later': { ...none('#no-opt-out', 'later', '#opt-out'), means: 'Opted out the next morning.' },
  },
  forms: {
    ping: { take: 'ask("ping")' },
    section: { take: 'ask("getSection", "usnat")' },
    'section-usp': { take: 'ask("getSection", "uspv1")' },
  },
};

const segmentNames = {
  marketingAndAnalytics: ['Amplitude'],
  advertising: ['Facebook Pixel'],
  functional: ['Zendesk'],
};
const segment: Platform = {
  package: '@segment/consent-manager',
  version: '5.8.1',
  replies: {
    '/v1/projects/': [
      { name: 'Amplitude', creationName: 'Amplitude', description: '', website: '', category: 'Analytics' },
      { name: 'Facebook Pixel', creationName: 'Facebook Pixel', description: '', website: '', category: 'Advertising' },
      { name: 'Zendesk', creationName: 'Zendesk', description: '', website: '', category: 'Livechat' },
    ],
  },
  page: `<div id="target"></div><button id="reopen" onclick="consentManager.openConsentManager()">Settings</button>
    <script>
      const order = { type: 'track', event: 'Order Completed', context: {}, integrations: {}, timestamp: '2026-11-28T08:00:00.000Z' };
      window.track = () => null;
      window.analytics = Object.assign([], { methods: [], page: () => {}, track: () => {}, identify: (traits) => note('traits', traits), load: () => { analytics.initialized = true; },
        addSourceMiddleware: (run) => { window.track = () => { let tracked; run({ payload: { obj: order }, next: ({ obj }) => { tracked = obj; } }); return tracked; }; } });
      window.consentManagerConfig = () => ({ container: '#target', writeKey: 'example', bannerContent: 'We use cookies.', bannerActionsBlock: true, preferencesDialogTitle: 'Settings', preferencesDialogContent: 'Choose.', cancelDialogTitle: 'Sure?', cancelDialogContent: 'Lost.', shouldRequireConsent: () => true });
    </script>
    <script src="PACKAGE/standalone/consent-manager.js"></script>
    <script>consentManager.preferences.onPreferencesSaved((saved) => note('saved', saved));</script>`,
  purposes: ['marketingAndAnalytics', 'advertising', 'functional'],
  necessary: [],
  scenarios: {
    'accept-all': all(['marketingAndAnalytics', 'advertising', 'functional'], 'text="Allow all"'),
    'reject-all': none('text="Deny all"'),
    'functional-only': only(
      'functional',
      '#reopen',
      '[name=functional][value=true]',
      '[name=marketingAndAnalytics][value=false]',
      '[name=advertising][value=false]',
      'text="Save"',
    ),
    'withdraw-later': withdrawn(
      'text="Allow all"',
      'later',
      '#reopen',
      '[name=functional][value=false]',
      '[name=marketingAndAnalytics][value=false]',
      '[name=advertising][value=false]',
      'text="Save"',
    ),
  },
  forms: {
    cookie: { take: '({ "tracking-preferences": cookie("tracking-preferences") })', with: segmentNames },
    'cookie-decoded': {
      take: 'JSON.parse(decodeURIComponent(cookie("tracking-preferences")))',
      with: segmentNames,
    },
    event: { take: 'last("saved")', with: segmentNames },
    traits: { take: 'last("traits")', with: segmentNames },
    // A later order of the visitor, with the consent in its context; none is sent after a refusal.
    tracked: { take: 'track()', with: segmentNames },
  },
};

const porsche: Platform = {
  package: '@porscheofficial/cookie-consent-banner',
  version: '4.1.0',
  page: `<script type="module" src="PACKAGE/dist/cookie-consent-banner/cookie-consent-banner.esm.js"></script>
    <cookie-consent-banner headline="Cookies" btn-label-accept-and-continue="Agree" btn-label-select-all-and-continue="Agree to all" btn-label-only-essential-and-continue="Only essential" btn-label-persist-selection-and-continue="Save" content-settings-description="Choose.">We use cookies.</cookie-consent-banner>
    <button id="reopen" onclick="document.dispatchEvent(new Event('cookie_consent_details_show'))">Settings</button>
    <script>
      document.querySelector('cookie-consent-banner').availableCategories = [{ label: 'Essential', description: '', key: 'essential', isMandatory: true }, { label: 'Analytics', description: '', key: 'analytics' }, { label: 'Marketing', description: '', key: 'marketing' }];
      document.addEventListener('cookie_consent_preferences_updated', ({ detail }) => note('updated', detail));
    </script>`,
  purposes: ['analytics', 'marketing'],
  necessary: ['essential'],
  scenarios: {
    'accept-all': all(['analytics', 'marketing'], 'text="Agree"'),
    'reject-all': none('text="Only essential"'),
    'analytics-only': only('analytics', '#reopen', '#check-category-Analytics', 'text="Save"'),
    'withdraw-later': withdrawn(
      'text="Agree"',
      'later',
      '#reopen',
      '#check-category-Analytics',
      '#check-category-Marketing',
      'text="Save"',
    ),
  },
  forms: {
    cookie: { take: '({ cookies_accepted_categories: cookie("cookies_accepted_categories") })' },
    'cookie-decoded': {
      take: '({ cookies_accepted_categories: decodeURIComponent(cookie("cookies_accepted_categories")) })',
    },
    event: { take: 'last("updated")' },
  },
};

const cookiesEu: Platform = {
  package: 'cookies-eu-banner',
  version: '3.0.0',
  page: `<template id="cookies-eu-banner-template"><div id="cookies-eu-banner">We use cookies.<button id="cookies-eu-reject">Reject</button><button id="cookies-eu-accept">Accept</button></div></template>
    <button id="reopen" onclick="banner.showBanner()">Settings</button>
    <script src="PACKAGE/dist/cookies-eu-banner.global.js"></script>
    <script>const banner = CookiesEuBanner.createCookiesBanner({ onAccept: () => {} });</script>`,
  purposes: ['*'],
  necessary: [],
  scenarios: {
    accept: all(['*'], '#cookies-eu-accept'),
    refuse: none('#cookies-eu-reject'),
    'withdraw-later': withdrawn('#cookies-eu-accept', 'later', '#reopen', '#cookies-eu-reject'),
  },
  forms: { cookie: { take: '({ hasConsent: cookie("hasConsent") })' } },
};

const hmcts: Platform = {
  package: '@hmcts/cookie-manager',
  version: '1.1.0',
  page: `<div class="cookie-banner" hidden><div class="cookie-banner-message"><button class="cookie-banner-accept-button">Accept additional cookies</button><button class="cookie-banner-reject-button">Reject additional cookies</button></div><div class="cookie-banner-accept-message" hidden>Accepted</div><div class="cookie-banner-reject-message" hidden>Rejected</div></div>
    <form class="cookie-preferences-form">${['analytics', 'apm'].map((name) => `<input type="radio" name="${name}" value="on"><input type="radio" name="${name}" value="off">`).join('')}<button id="save">Save</button></form>`,
  module: `import manager from 'PACKAGE';
    manager.on('UserPreferencesSet', (set) => note('set', set));
    manager.on('UserPreferencesSaved', (saved) => note('saved', saved));
    const action = (name, consent) => ({ name, buttonClass: 'cookie-banner-' + name + '-button', confirmationClass: 'cookie-banner-' + name + '-message', consent });
    manager.init({ userPreferences: { cookieName: 'cookie-preferences' },
      cookieBanner: { class: 'cookie-banner', showWithPreferencesForm: true, actions: [action('accept', true), action('reject', false)] },
      cookieManifest: [{ categoryName: 'essential', optional: false, cookies: ['session'] }, { categoryName: 'analytics', cookies: ['_ga'] }, { categoryName: 'apm', cookies: ['dt'] }] });`,
  purposes: ['analytics', 'apm'],
  necessary: [],
  scenarios: {
    'accept-all': all(['analytics', 'apm'], '.cookie-banner-accept-button'),
    'reject-all': none('.cookie-banner-reject-button'),
    'analytics-only': only('analytics', '[name=analytics][value=on]', '[name=apm][value=off]', '#save'),
    'withdraw-later': withdrawn(
      '.cookie-banner-accept-button',
      'later',
      '[name=analytics][value=off]',
      '[name=apm][value=off]',
      '#save',
    ),
  },
  forms: {
    cookie: { take: '({ "cookie-preferences": cookie("cookie-preferences") })' },
    saved: { take: 'last("saved")' },
    set: { take: 'last("set")' },
  },
};

const cookiecraft: Platform = {
  package: 'cookiecraft',
  version: '1.0.11',
  page: `<link rel="stylesheet" href="PACKAGE/dist/cookiecraft.css"><script src="PACKAGE/dist/cookiecraft.min.js"></script>
    <script>
      window.dataLayer = [];
      const category = (label, fixed) => ({ enabled: fixed, readOnly: fixed, label, description: '' });
      new CookieCraft.CookieConsent({ gtmConsentMode: true, animationStyle: 'minimal', categories: { necessary: category('Necessary', true), analytics: category('Analytics', false), marketing: category('Marketing', false), preferences: category('Preferences', false) } }).init();
    </script>`,
  purposes: ['analytics', 'marketing', 'preferences'],
  necessary: ['necessary'],
  scenarios: {
    'accept-all': all(['analytics', 'marketing', 'preferences'], '.cc-banner [data-action=accept]'),
    'reject-all': none('.cc-banner [data-action=reject]'),
    'analytics-only': only(
      'analytics',
      '.cc-banner [data-action=customize]',
      // Analytics and marketing are on, although the page says they are off.
      '.cc-toggle:has([data-category=marketing])',
      '.cc-modal [data-action=save]',
    ),
    'withdraw-later': withdrawn(
      '.cc-banner [data-action=accept]',
      'later',
      '.cc-widget',
      '.cc-modal [data-action=reject]',
    ),
  },
  forms: {
    stored: { take: '({ cookiecraft_consent: localStorage.getItem("cookiecraft_consent") })', timed: true },
    'stored-decoded': { take: 'JSON.parse(localStorage.getItem("cookiecraft_consent"))', timed: true },
    gtag: {
      take: gtag,
      names: {
        analytics: ['analytics_storage'],
        marketing: ['ad_storage', 'ad_user_data', 'ad_personalization'],
        preferences: ['functionality_storage', 'personalization_storage'],
      },
      necessary: ['security_storage'],
    },
  },
};

const stormid: Platform = {
  package: '@stormid/cookie-banner',
  version: '1.0.3',
  page: '<div class="privacy-banner__form-container"></div><div class="privacy-banner__form-announcement" role="alert"></div>',
  module: `import banner from 'PACKAGE';
    window.dataLayer = [];
    const type = (title) => ({ title, description: '', labels: { yes: 'Yes', no: 'No' }, fns: [] });
    const radio = (names, name, value) => '<input class="' + names.field + '" type="radio" name="privacy-' + name + '" value="' + value + '">';
    banner({ hideBannerOnFormPage: false, types: { performance: type('Performance'), thirdParty: type('Third party') },
      euConsentTypes: { ad_storage: 'thirdParty', ad_user_data: 'thirdParty', ad_personalization: 'thirdParty', analytics_storage: 'performance' },
      bannerTemplate: ({ classNames: names }) => '<section class="' + names.banner + '"><button class="' + names.acceptBtn + '">Accept all</button><button class="' + names.rejectBtn + '">Reject all</button></section>',
      formTemplate: ({ settings: { classNames: names, types } }) => '<form class="' + names.form + '" novalidate>' + Object.keys(types).map((name) => '<fieldset class="' + names.fieldset + '">' + radio(names, name, 1) + radio(names, name, 0) + '</fieldset>').join('') + '<button class="' + names.submitBtn + '">Save</button></form>' });`,
  purposes: ['performance', 'thirdParty'],
  necessary: [],
  scenarios: {
    'accept-all': all(['performance', 'thirdParty'], '.privacy-banner__accept'),
    'reject-all': none('.privacy-banner__reject'),
    'performance-only': only(
      'performance',
      '[name=privacy-performance][value="1"]',
      '[name=privacy-thirdParty][value="0"]',
      '.privacy-banner__submit',
    ),
    'withdraw-later': withdrawn(
      '.privacy-banner__accept',
      'later',
      '[name=privacy-performance][value="0"]',
      '[name=privacy-thirdParty][value="0"]',
      '.privacy-banner__submit',
    ),
  },
  forms: {
    cookie: { take: '({ ".CookiePreferences": cookie(".CookiePreferences") })' },
    'cookie-decoded': { take: 'JSON.parse(atob(cookie(".CookiePreferences")))' },
    'data-layer': {
      take: 'dataLayer.findLast(({ event }) => event?.startsWith("stormcb_"))',
      names: {
        performance: ['stormcb_performance|performance'],
        thirdParty: ['stormcb_thirdParty|thirdParty'],
      },
    },
    gtag: {
      take: gtag,
      names: { performance: ['analytics_storage'], thirdParty: ['ad_storage', 'ad_user_data', 'ad_personalization'] },
    },
  },
};

const publishers: Platform = {
  package: '@68publishers/cookie-consent',
  version: '1.4.1',
  sends: '/api/v1/consent/',
  replies: { '/cmp/api/': { status: 'success', data: {} } },
  page: `<button id="reopen" onclick="CookieConsentWrapper.unwrap().showSettings()">Settings</button>
    <script>
      const storage = (name, extra) => ({ name, display_in_widget: true, enabled_by_default: false, readonly: false, ...extra });
      window.dataLayer = [];
      window.cc_wrapper_config = { locales: ['en'], plugin_options: { current_lang: 'en' }, consent_modal_options: { secondary_button_role: 'accept_necessary' }, user_options: { identity: 'visitor-1', attributes: { plan: 'free' } },
        storage_pool: [storage('functionality_storage', { enabled_by_default: true, readonly: true }), storage('security_storage', { display_in_widget: false, sync_consent_with: 'functionality_storage' }), storage('analytics_storage'), storage('ad_storage'), storage('ad_user_data', { display_in_widget: false, sync_consent_with: 'ad_storage' })],
        cmp_api_options: { url: 'https://shop.example.com/cmp', project: 'shop', consent_api_enabled: true } };
    </script>
    <script src="PACKAGE/dist/cookie-consent.min.js"></script>
    <script>CookieConsentWrapper.on('init', () => CookieConsentWrapper.unwrap().show());</script>`,
  purposes: ['analytics_storage', 'ad_storage', 'ad_user_data'],
  necessary: ['functionality_storage', 'security_storage'],
  scenarios: {
    'accept-all': all(['analytics_storage', 'ad_storage', 'ad_user_data'], '#c-p-bn'),
    'reject-all': none('#c-s-bn'),
    'analytics-only': only('analytics_storage', '#reopen', '.b-tg:has([value=analytics_storage])', '#s-sv-bn'),
    'withdraw-later': withdrawn('#c-p-bn', 'later', '#reopen', '#s-rall-bn'),
  },
  forms: {
    sent: { take: 'sent.at(-1)' },
    gtag: { take: gtag },
    cookie: { take: '({ "cc-settings": cookie("cc-settings") })', timed: true, names: { ad_user_data: [] } },
    'cookie-decoded': { take: 'JSON.parse(cookie("cc-settings"))', timed: true, names: { ad_user_data: [] } },
  },
};

const cookieThough: Platform = {
  package: 'cookie-though',
  version: '1.7.3',
  page: '<button id="reopen">Settings</button>',
  module: `import { init, onPreferencesChanged, show } from 'PACKAGE';
    const policies = ['essential', 'functional', 'statistics', 'social'].map((id) => ({ id, label: id, description: '', category: id }));
    init({ policies, essentialLabel: 'Always on', permissionLabels: { accept: 'Accept', acceptAll: 'Accept all', decline: 'Decline' }, header: { title: 'Cookies', subTitle: '', description: 'We use cookies.' }, cookiePreferenceKey: 'cookie-preferences', customizeLabel: 'Customize' });
    onPreferencesChanged((changed) => note('changed', changed));
    document.querySelector('#reopen').onclick = show;`,
  purposes: ['functional', 'statistics', 'social'],
  necessary: ['essential'],
  scenarios: {
    'accept-all': all(['functional', 'statistics', 'social'], 'text="Accept all"'),
    'reject-all': none('text="Decline"'),
    'statistics-only': only('statistics', 'text="Customize"', 'label[for=statistics]', 'text="Accept"'),
    'withdraw-later': withdrawn('text="Accept all"', 'later', '#reopen', 'text="Decline"'),
  },
  forms: {
    cookie: { take: '({ "cookie-preferences": cookie("cookie-preferences") })' },
    event: { take: 'last("changed")' },
  },
};

const reactManager: Platform = {
  package: 'react-cookie-manager',
  version: '5.4.1',
  beside: { react: '19.2.0', 'react-dom': '19.2.0' },
  page: '<div id="root"></div>',
  module: `import React from 'react';
    import { createRoot } from 'react-dom/client';
    import { CookieManager, useCookieConsent } from 'PACKAGE';
    window.dataLayer = [];
    const Settings = () => { const { openPreferencesModal } = useCookieConsent(); return <button id="reopen" onClick={openPreferencesModal}>Settings</button>; };
    createRoot(document.querySelector('#root')).render(<CookieManager googleConsentMode enableFloatingButton={false} showManageButton onManage={(preferences) => note('managed', preferences)}><Settings /></CookieManager>);`,
  purposes: ['Analytics', 'Social', 'Advertising'],
  necessary: [],
  scenarios: {
    'accept-all': all(['Analytics', 'Social', 'Advertising'], 'text=/^accept/i'),
    'reject-all': none('text=/^decline/i'),
    'analytics-only': only('Analytics', 'text=/^manage cookies/i', '.rcm-toggle >> nth=0', 'text="Save Preferences"'),
    'withdraw-later': withdrawn(
      'text=/^accept/i',
      'later',
      '#reopen',
      '.rcm-toggle >> nth=0',
      '.rcm-toggle >> nth=1',
      '.rcm-toggle >> nth=2',
      'text="Save Preferences"',
    ),
  },
  forms: {
    cookie: { take: '({ "cookie-consent": cookie("cookie-consent") })', timed: true },
    'cookie-decoded': { take: 'JSON.parse(cookie("cookie-consent"))', timed: true },
    managed: { take: 'last("managed")' },
    gtag: {
      take: gtag,
      names: {
        Analytics: ['analytics_storage'],
        Social: ['personalization_storage'],
        Advertising: ['ad_storage', 'ad_user_data', 'ad_personalization'],
      },
      necessary: ['functionality_storage', 'security_storage'],
    },
  },
};

export const platforms: readonly Platform[] = [
  vanilla3,
  vanilla2,
  lmc,
  publishers,
  klaro,
  orejime,
  osano,
  tarteaucitron,
  c15t,
  tcf,
  gpp,
  segment,
  porsche,
  cookiesEu,
  hmcts,
  cookiecraft,
  stormid,
  cookieThough,
  reactManager,
];
