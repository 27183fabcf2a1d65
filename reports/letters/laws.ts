import type { generalRights, LawFamily, RemedyKey } from './texts.ts';

/** What a law makes a letter say, as data: the letters do not branch on names of laws. */
export interface LetterLaw {
  /** Its official name; a language may have its own (LetterTexts.lawNames). */
  readonly name: string;
  readonly family: LawFamily;
  readonly remedies: RemedyKey;
  /**
   * Who takes complaints, with the official site but no postal address, since addresses change. No site if it is
   * uncertain; null: the supervisory authority of the profile, or none.
   */
  readonly authority: string | null;
  /**
   * The law provides an appeal to the controller against a refusal, to be answered within this many days; null: it
   * provides none.
   */
  readonly appealDays: number | null;
  /**
   * A notice of extension must mention the right to complain (PIPEDA s 8(4); Privacy Act 2020 (NZ) s 48; PIPA Alberta s
   * 31, British Columbia s 31).
   */
  readonly extensionComplaint?: true;
  /**
   * A refusal to delete must ask whether the person wants to opt out of sale and sharing, and carry the notice of that
   * right (11 CCR § 7022(g); read in its forerunner § 999.313(d)(7), the present number is unconfirmed).
   */
  readonly refusedErasureNamesOptOut?: true;
  /** A refusal to correct health data must offer to add a statement by the person (11 CCR § 7023(f)). */
  readonly refusedCorrectionTakesStatement?: true;
  /**
   * The provision that bars government ids, account numbers, passwords and biometric data from any answer, and requires
   * naming the kinds held.
   */
  readonly withholds?: string;
  /** An answer about the data must name what was sold, shared and disclosed (Cal. Civ. Code §§ 1798.110, 1798.115). */
  readonly namesSales?: true;
  /** An answer about the data must name the criteria of the processing (LGPD Art. 19 II). */
  readonly namesCriteria?: true;
  /** For access requests, the clock stops while a clarification is awaited. */
  readonly clarificationStopsClock?: true;
  /**
   * The time limit starts only when the information that confirms the identity was received (UK GDPR Art. 12A(2); its
   * wording was read in the twin provision, Data Protection Act 2018 s. 54).
   */
  readonly identityStartsClock?: true;
  /** Rights of {@link generalRights} that the law does not give, so that letters do not list them. */
  readonly lacks?: readonly (typeof generalRights)[number][];
}

const gdpr = {
  family: 'gdpr',
  remedies: 'eu',
  authority: null,
  appealDays: null,
} as const satisfies Partial<LetterLaw>;

/** A law of a US state with an appeal to the controller and then to the attorney general. */
const state = (name: string, authority: string, appealDays: number | null): LetterLaw => ({
  name,
  family: 'us',
  remedies: 'authority',
  authority,
  appealDays,
});

/** A law outside the EU that requires an answer like that of GDPR Art. 15 (FADP Art. 25(2)), and a way to the court. */
const likeGdpr = (name: string, authority: string): LetterLaw => ({
  name,
  family: 'similar',
  remedies: 'authorityAndCourt',
  authority,
  appealDays: null,
});

/** A law whose name and authority are known here. */
const other = (name: string, authority: string | null): LetterLaw => ({
  name,
  family: 'general',
  remedies: authority === null ? 'unnamed' : 'authority',
  authority,
  appealDays: null,
});

/**
 * By id of the law; for a law id shared by several states, also by place (`us-45` in `US-VA` is the row `us-va`).
 * Periods for deciding an appeal are those used to compute deadlines (src/law/regimes-us.ts); a test compares them.
 */
export const letterLaws: Readonly<Record<string, LetterLaw>> = {
  'eu-gdpr': { ...gdpr, name: 'Regulation (EU) 2016/679' },
  'uk-gdpr': {
    ...gdpr,
    name: 'UK GDPR',
    family: 'uk',
    remedies: 'uk',
    authority: 'Information Commissioner’s Office, https://ico.org.uk',
    clarificationStopsClock: true,
    identityStartsClock: true,
  },
  'us-ca': {
    name: 'California Consumer Privacy Act (CCPA)',
    family: 'california',
    remedies: 'california',
    authority:
      'California Privacy Protection Agency (https://cppa.ca.gov); Attorney General of California (https://oag.ca.gov)',
    appealDays: null,
    withholds: '11 CCR § 7024(d)',
    refusedErasureNamesOptOut: true,
    refusedCorrectionTakesStatement: true,
    namesSales: true,
  },
  'us-va': state(
    'Virginia Consumer Data Protection Act',
    'Attorney General of Virginia, https://www.oag.state.va.us',
    60,
  ),
  'us-co': state('Colorado Privacy Act', 'Attorney General of Colorado, https://coag.gov', 45),
  // Connecticut withholds since 1 July 2026 (S.B. 1295), Montana since 1 October 2025 (S.B. 297).
  'us-ct': {
    ...state('Connecticut Data Privacy Act', 'Attorney General of Connecticut, https://portal.ct.gov/ag', 60),
    withholds: 'Conn. Gen. Stat. § 42-518',
  },
  // Utah gives consumers no appeal (§ 13-61-203).
  'us-ut': state('Utah Consumer Privacy Act', 'Utah Division of Consumer Protection, https://dcp.utah.gov', null),
  'us-tx': state(
    'Texas Data Privacy and Security Act',
    'Attorney General of Texas, https://www.texasattorneygeneral.gov',
    60,
  ),
  'us-or': state('Oregon Consumer Privacy Act', 'Attorney General of Oregon, https://www.doj.state.or.us', 45),
  'us-mt': {
    ...state('Montana Consumer Data Privacy Act', 'Attorney General of Montana, https://dojmt.gov', 60),
    withholds: 'Mont. Code § 30-14-2808',
  },
  'us-ne': state('Nebraska Data Privacy Act', 'Attorney General of Nebraska, https://ago.nebraska.gov', 60),
  'us-de': state(
    'Delaware Personal Data Privacy Act',
    'Delaware Department of Justice, https://attorneygeneral.delaware.gov',
    60,
  ),
  'us-nh': state(
    'New Hampshire Privacy Act (RSA 507-H)',
    'Attorney General of New Hampshire, https://www.doj.nh.gov',
    60,
  ),
  'us-nj': state('New Jersey Data Privacy Act', 'Division of Consumer Affairs, https://www.njconsumeraffairs.gov', 45),
  'us-tn': state(
    'Tennessee Information Protection Act',
    'Attorney General of Tennessee, https://www.tn.gov/attorneygeneral',
    60,
  ),
  'us-mn': {
    ...state('Minnesota Consumer Data Privacy Act', 'Attorney General of Minnesota, https://www.ag.state.mn.us', 45),
    withholds: 'Minn. Stat. § 325M.14',
  },
  'us-md': state(
    'Maryland Online Data Privacy Act',
    'Attorney General of Maryland, https://www.marylandattorneygeneral.gov',
    60,
  ),
  'us-in': state(
    'Indiana Consumer Data Protection Act',
    'Attorney General of Indiana, https://www.in.gov/attorneygeneral',
    60,
  ),
  'us-ky': state('Kentucky Consumer Data Protection Act', 'Attorney General of Kentucky, https://www.ag.ky.gov', 60),
  'us-ri': state(
    'Rhode Island Data Transparency and Privacy Protection Act',
    'Attorney General of Rhode Island, https://riag.ri.gov',
    60,
  ),
  'us-ok': state(
    'Oklahoma Consumer Data Privacy Act',
    'Attorney General of Oklahoma, https://oklahoma.gov/oag.html',
    60,
  ),
  // Whether these acts provide an appeal was not read: letters promise none.
  'us-al': other('Alabama Personal Data Protection Act', 'Attorney General of Alabama, https://www.alabamaag.gov'),
  'us-vt': other('Vermont Data Privacy Act', 'Attorney General of Vermont, https://ago.vermont.gov'),
  'us-la': state('Louisiana Data Privacy Act', 'Attorney General of Louisiana, https://www.ag.state.la.us', 60),
  'us-fl': state(
    'Florida Digital Bill of Rights',
    'Florida Department of Legal Affairs, https://www.myfloridalegal.com',
    60,
  ),
  'us-ia': state(
    'Iowa Consumer Data Protection Act',
    'Attorney General of Iowa, https://www.iowaattorneygeneral.gov',
    60,
  ),
  // Narrower than the other states: neither has a right to correction, and Washington none to opt out of sale, so the
  // rights listed for the family `us` would be wrong.
  'us-nv': {
    ...other('Nevada Revised Statutes, chapter 603A', 'Attorney General of Nevada, https://ag.nv.gov'),
    lacks: ['rectification'],
  },
  'us-wa': {
    ...other('Washington My Health My Data Act', 'Attorney General of Washington, https://www.atg.wa.gov'),
    appealDays: 45,
    lacks: ['rectification'],
  },
  // Used if the state is unknown.
  'us-45': { ...state('privacy act of the state', '', null), remedies: 'unnamed', authority: null },
  'br-lgpd': {
    name: 'Lei Geral de Proteção de Dados Pessoais (LGPD)',
    family: 'brazil',
    remedies: 'authority',
    // An agency since Lei 15.352 of 25 February 2026 (read in reports of its publication).
    authority: 'Agência Nacional de Proteção de Dados (ANPD), https://www.gov.br/anpd',
    appealDays: null,
    namesCriteria: true,
  },
  'ca-pipeda': {
    ...other(
      'Personal Information Protection and Electronic Documents Act (PIPEDA)',
      'Office of the Privacy Commissioner of Canada, https://www.priv.gc.ca',
    ),
    extensionComplaint: true,
  },
  'ca-qc': {
    ...other(
      'Loi sur la protection des renseignements personnels dans le secteur privé (RLRQ, c. P-39.1)',
      'Commission d’accès à l’information du Québec, https://www.cai.gouv.qc.ca',
    ),
    remedies: 'quebec',
  },
  'ca-ab': {
    ...other(
      'Personal Information Protection Act (Alberta)',
      'Information and Privacy Commissioner of Alberta, https://oipc.ab.ca',
    ),
    extensionComplaint: true,
  },
  'ca-bc': {
    ...other(
      'Personal Information Protection Act (British Columbia)',
      'Information and Privacy Commissioner for British Columbia, https://www.oipc.bc.ca',
    ),
    extensionComplaint: true,
  },
  // Neither restriction nor objection as in the GDPR, but the right to forbid processing (FADP Art. 30(2)(b), 32(2)).
  ch: {
    ...likeGdpr(
      'Swiss Federal Act on Data Protection (FADP)',
      'Federal Data Protection and Information Commissioner (FDPIC), https://www.edoeb.admin.ch',
    ),
    family: 'swiss',
  },
  nz: {
    ...other('Privacy Act 2020 (New Zealand)', 'Privacy Commissioner, https://www.privacy.org.nz'),
    extensionComplaint: true,
    lacks: ['withdraw-consent'],
  },
  au: other(
    'Privacy Act 1988 (Australia)',
    'Office of the Australian Information Commissioner (OAIC), https://www.oaic.gov.au',
  ),
  kr: other(
    'Personal Information Protection Act (Republic of Korea)',
    'Personal Information Protection Commission (PIPC), https://www.pipc.go.kr',
  ),
  jp: other(
    'Act on the Protection of Personal Information (Japan)',
    'Personal Information Protection Commission (PPC), https://www.ppc.go.jp',
  ),
  sg: other(
    'Personal Data Protection Act 2012 (Singapore)',
    'Personal Data Protection Commission (PDPC), https://www.pdpc.gov.sg',
  ),
  za: other(
    'Protection of Personal Information Act (South Africa)',
    'Information Regulator (South Africa), https://inforegulator.org.za',
  ),
  th: other(
    'Personal Data Protection Act B.E. 2562 (Thailand)',
    'Personal Data Protection Committee (PDPC), https://www.pdpc.or.th',
  ),
  in: other('Digital Personal Data Protection Act, 2023 (India)', 'Data Protection Board of India'),
  cn: other('Personal Information Protection Law (China)', null),
  tr: other('Kişisel Verilerin Korunması Kanunu (KVKK)', 'Kişisel Verileri Koruma Kurumu, https://www.kvkk.gov.tr'),
  il: {
    ...other('Protection of Privacy Law (Israel)', 'Privacy Protection Authority (Israel)'),
    lacks: ['withdraw-consent'],
  },
  hk: other(
    'Personal Data (Privacy) Ordinance (Hong Kong)',
    'Privacy Commissioner for Personal Data, https://www.pcpd.org.hk',
  ),
  tw: other('Personal Data Protection Act (Taiwan)', null),
  ph: other('Data Privacy Act of 2012 (Philippines)', 'National Privacy Commission, https://privacy.gov.ph'),
  // In place of the INAI since 21 March 2025 (DOF 20 March 2025); its site was not read.
  mx: other(
    'Ley Federal de Protección de Datos Personales en Posesión de los Particulares (México)',
    'Secretaría Anticorrupción y Buen Gobierno',
  ),
  ar: other(
    'Ley 25.326 de Protección de los Datos Personales (Argentina)',
    'Agencia de Acceso a la Información Pública (AAIP)',
  ),
  co: other('Ley 1581 de 2012 (Colombia)', 'Superintendencia de Industria y Comercio, https://www.sic.gov.co'),
  ke: other('Data Protection Act, 2019 (Kenya)', 'Office of the Data Protection Commissioner, https://www.odpc.go.ke'),
  ng: other('Nigeria Data Protection Act, 2023', 'Nigeria Data Protection Commission, https://ndpc.gov.ng'),
  gg: likeGdpr(
    'Data Protection (Bailiwick of Guernsey) Law, 2017',
    'Office of the Data Protection Authority, https://www.odpa.gg',
  ),
  je: likeGdpr(
    'Data Protection (Jersey) Law 2018',
    'Jersey Office of the Information Commissioner, https://jerseyoic.org',
  ),
  im: likeGdpr(
    'Data Protection Act 2018 (Isle of Man)',
    'Isle of Man Information Commissioner, https://www.inforights.im',
  ),
};

/** Used for a law without a row here: letters say nothing specific. */
const unknownLaw: LetterLaw = other('', null);

/** The row of a law; for an id shared by several states, the row of the place (`US-VA`). */
export function letterLawOf(law: string, place: string | null): LetterLaw {
  const own = law === 'us-45' ? letterLaws[(place ?? '').toLowerCase()] : undefined;
  return own ?? letterLaws[law] ?? unknownLaw;
}

/** The provisions that bar identifiers from an answer under these laws; empty: none does. */
export function withholdingProvisions(laws: readonly string[], place: string | null): readonly string[] {
  return laws.flatMap((law) => letterLawOf(law, place).withholds ?? []);
}
