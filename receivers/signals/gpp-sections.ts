/**
 * The sections of the GPP for the United States (IAB Tech Lab, Global Privacy Platform, Sections). Each begins with its
 * version in six bits; a field has two bits, or `*n` times two.
 */
interface UsLayout {
  readonly id: number;
  readonly name: string;
  readonly place: string;
  /** Fields by version. */
  readonly versions: Readonly<Record<number, readonly (readonly [field: string, count: number])[]>>;
  /** What its second subsection contains. */
  readonly second: 'gpc' | 'sensitive-data';
}

const MSPA = 'MspaCoveredTransaction MspaOptOutOptionMode MspaServiceProviderMode';
const nationalNotices =
  'SharingNotice SaleOptOutNotice SharingOptOutNotice TargetedAdvertisingOptOutNotice ' +
  'SensitiveDataProcessingOptOutNotice SensitiveDataLimitUseNotice SaleOptOut SharingOptOut TargetedAdvertisingOptOut';
const common = 'SaleOptOutNotice TargetedAdvertisingOptOutNotice SaleOptOut TargetedAdvertisingOptOut';
const sharing = `SharingNotice ${common}`;
const processing = `ProcessingNotice ${common}`;
const additional = `AdditionalDataProcessingConsent ${MSPA}`;
const modes = `MspaCoveredTransaction MspaMode ${processing}`;

/** Sensitive data and data of known children: how many kinds of each. */
const kinds = (sensitive: number, child: number) =>
  `SensitiveDataProcessing*${sensitive} KnownChildSensitiveDataConsents*${child}`;

const table: readonly (readonly [id: number, name: string, place: string, ...versions: string[]])[] = [
  [
    7,
    'usnat',
    'United States',
    `${nationalNotices} ${kinds(12, 2)} PersonalDataConsents ${MSPA}`,
    `${nationalNotices} ${kinds(16, 3)} PersonalDataConsents ${MSPA}`,
  ],
  [
    8,
    'usca',
    'California',
    `SaleOptOutNotice SharingOptOutNotice SensitiveDataLimitUseNotice SaleOptOut SharingOptOut ${kinds(9, 2)} PersonalDataConsents ${MSPA}`,
  ],
  [9, 'usva', 'Virginia', `${sharing} ${kinds(8, 1)} ${MSPA}`],
  [10, 'usco', 'Colorado', `${sharing} ${kinds(7, 1)} ${MSPA}`],
  [
    11,
    'usut',
    'Utah',
    `SharingNotice SaleOptOutNotice TargetedAdvertisingOptOutNotice SensitiveDataProcessingOptOutNotice SaleOptOut TargetedAdvertisingOptOut ${kinds(8, 1)} ${MSPA}`,
  ],
  [12, 'usct', 'Connecticut', `${sharing} ${kinds(8, 3)} ${MSPA}`],
  [13, 'usfl', 'Florida', `${processing} ${kinds(8, 3)} ${additional}`],
  [14, 'usmt', 'Montana', `${sharing} ${kinds(8, 3)} ${additional}`],
  [15, 'usor', 'Oregon', `${processing} ${kinds(11, 3)} ${additional}`],
  [16, 'ustx', 'Texas', `${processing} ${kinds(8, 1)} ${additional}`],
  [17, 'usde', 'Delaware', `${processing} ${kinds(9, 5)} ${additional}`],
  [
    18,
    'usia',
    'Iowa',
    `ProcessingNotice SaleOptOutNotice TargetedAdvertisingOptOutNotice SensitiveDataOptOutNotice SaleOptOut TargetedAdvertisingOptOut ${kinds(8, 1)} ${MSPA}`,
  ],
  [19, 'usne', 'Nebraska', `${processing} ${kinds(8, 1)} ${additional}`],
  [20, 'usnh', 'New Hampshire', `${processing} ${kinds(8, 3)} ${additional}`],
  [21, 'usnj', 'New Jersey', `${processing} ${kinds(10, 5)} ${additional}`],
  [22, 'ustn', 'Tennessee', `${processing} ${kinds(8, 1)} ${additional}`],
  [23, 'usmn', 'Minnesota', `${processing} ${kinds(8, 1)} ${additional}`],
  [24, 'usmd', 'Maryland', `${modes} AdditionalDataProcessingConsent`],
  [25, 'usin', 'Indiana', `${modes} KnownChildSensitiveDataConsents AdditionalDataProcessingConsent`],
  [26, 'usky', 'Kentucky', `${modes} KnownChildSensitiveDataConsents AdditionalDataProcessingConsent`],
  [27, 'usri', 'Rhode Island', `${modes} KnownChildSensitiveDataConsents AdditionalDataProcessingConsent`],
];

const fieldOf = (text: string): readonly [string, number] => {
  const [field = '', count = '1'] = text.split('*');
  return [field, Number(count)];
};

/** The layouts by the section's id. */
export const usLayouts: ReadonlyMap<number, UsLayout> = new Map(
  table.map(([id, name, place, ...versions]) => [
    id,
    {
      ...{ id, name, place, second: id >= 25 ? 'sensitive-data' : 'gpc' },
      versions: Object.fromEntries(versions.map((text, index) => [index + 1, text.split(' ').map(fieldOf)])),
    },
  ]),
);

/** Kinds of sensitive data in the second subsection of the sections that keep them there. */
export const SENSITIVE_KINDS = 8;
