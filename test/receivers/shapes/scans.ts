/** A scan as a tool reports it, with values of our own, and what is read from it. docs/assumptions.md has the sources. */
export interface ScanShape {
  readonly tool: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly expected: Readonly<Record<string, unknown>>;
}

export const SCANNED = '2026-06-20T09:30:00.000Z';

export const scanShapes: readonly ScanShape[] = [
  {
    tool: 'OneTrust scan results',
    payload: {
      scanId: 's-1',
      domain: 'shop.example.com',
      status: 'COMPLETED',
      completedDate: SCANNED,
      cookies: [
        {
          cookieName: '_ga',
          host: 'shop.example.com',
          categoryId: 'C0002',
          categoryName: 'Performance Cookies',
          isThirdParty: false,
        },
        {
          cookieName: 'sid',
          host: 'shop.example.com',
          categoryName: 'Strictly Necessary Cookies',
          isThirdParty: false,
        },
        { cookieName: 'IDE', host: 'ads.example.net', categoryName: 'Unknown', isThirdParty: true },
      ],
    },
    expected: {
      scanId: 's-1',
      domain: 'shop.example.com',
      cookiesFound: 3,
      trackersFound: null,
      uncategorised: 1,
      beforeConsent: null,
      isInventory: true,
      items: [
        { name: 'IDE', category: null, thirdParty: true },
        { name: '_ga', category: 'Performance Cookies', domain: 'shop.example.com', thirdParty: false },
        { name: 'sid', category: 'Strictly Necessary Cookies' },
      ],
      occurred: { at: SCANNED, basis: 'payload' },
    },
  },
  {
    tool: 'OneTrust with the id of the category alone',
    payload: { cookies: [{ cookieName: '_ga', categoryId: 'C0002' }] },
    expected: { uncategorised: 0, items: [{ name: '_ga', category: 'C0002' }] },
  },
  {
    tool: 'trackers alone',
    payload: { domain: 'shop.example.com', trackers: [{ name: 'pixel', vendor: 'Ads' }] },
    expected: { cookiesFound: null, trackersFound: 1, uncategorised: null, beforeConsent: null, isInventory: true },
  },
  {
    tool: 'names alone',
    payload: { cookies: ['_ga', 'sid'] },
    expected: { cookiesFound: 2, trackersFound: null, uncategorised: null, isInventory: true },
  },
  {
    tool: 'cookies before consent as a number',
    payload: { totalCookies: 9, cookiesBeforeConsent: 4, trackersBeforeConsent: 0 },
    expected: { cookiesFound: 9, trackersFound: null, beforeConsent: 4, items: null, isInventory: false },
  },
  {
    tool: 'cookies before consent as a list',
    payload: {
      cookiesBeforeConsent: [
        { name: '_ga', category: 'analytics' },
        { name: 'sid', category: 'necessary' },
      ],
    },
    expected: { cookiesFound: null, trackersFound: null, beforeConsent: 1, isInventory: false },
  },
  {
    tool: 'nothing before consent',
    payload: { cookies: ['sid'], cookies_before_consent: [] },
    expected: { cookiesFound: 1, beforeConsent: 0, isInventory: true },
  },
  {
    tool: 'a report by category',
    payload: {
      categories: [
        { name: 'Strictly Necessary Cookies', cookies: [{ name: 'sid' }] },
        { name: 'Nicht klassifiziert', cookies: [{ name: 'x1' }, { name: 'x2' }] },
      ],
    },
    expected: {
      cookiesFound: 3,
      uncategorised: 2,
      items: [{ name: 'sid', category: 'Strictly Necessary Cookies' }, { name: 'x1', category: null }, { name: 'x2' }],
    },
  },
  {
    tool: 'the names of categories, which are no cookies',
    payload: { cookie_count: 3, categories: ['necessary', 'marketing'] },
    expected: { cookiesFound: 3, items: null, uncategorised: null },
  },
  {
    tool: 'categories in other languages',
    payload: {
      cookies: [
        { name: 'a', type: 'Notwendig' },
        { name: 'b', type: 'Publicité' },
        { name: 'c', category: 'Non classés' },
        { name: 'd', category: 'Não classificado' },
        { name: 'e', category: 'Niesklasyfikowane' },
      ],
    },
    expected: {
      cookiesFound: 5,
      uncategorised: 3,
      items: [{ category: 'Notwendig' }, { category: 'Publicité' }, {}, {}, {}],
    },
  },
  {
    tool: 'trackers with the cookies that each of them sets',
    payload: { trackers: [{ name: 'Ads', cookies: ['_fbp'] }] },
    expected: { trackersFound: 1, cookiesFound: null, items: [{ kind: 'tracker', name: 'Ads' }] },
  },
];

/** Statuses of scans without a complete result. */
export const unfinished: readonly string[] = [
  ...[
    'partial',
    'PARTIALLY_COMPLETED',
    'running',
    'queued',
    'pending',
    'in_progress',
    'In Progress',
    'scheduled',
    'started',
    'new',
  ],
  ...[
    'failed',
    'error',
    'aborted',
    'timed out',
    'skipped',
    'unreachable',
    'läuft',
    'fehlgeschlagen',
    'en cours',
    'échec',
    'en curso',
  ],
  ...['in corso', 'mislukt', 'em andamento', 'w trakcie', 'pågår'],
];
