import type { RequestKind } from '../core/vocabulary.ts';

/** What a visitor did on the banner. */
export type Choice = 'accept' | 'reject' | 'choose' | 'withdraw';

/** The purposes of the sandbox's banners. */
export type Purpose = 'necessary' | 'preferences' | 'analytics' | 'marketing';
export type PurposeChoices = Readonly<Record<Purpose, boolean>>;

/** One recorded consent choice, before a dialect gives it a shape. */
export interface DecisionHappening {
  readonly event: 'consent.recorded';
  readonly recordId: string;
  readonly visitorHash: string;
  readonly bannerId: string;
  readonly choice: Choice;
  readonly purposes: PurposeChoices;
  readonly region: string;
  readonly language: string;
  readonly policyId: string | null;
  readonly policyVersion: number | null;
  readonly domain: string;
  readonly expiresAt: Date;
  readonly at: Date;
}

export interface PolicyHappening {
  readonly event: 'policy.created' | 'policy.published' | 'policy.updated' | 'policy.deleted';
  readonly policyId: string;
  readonly policyType: string;
  readonly title: string;
  readonly brandName: string;
  readonly jurisdiction: string;
  readonly language: string;
  readonly userId: string;
  readonly version: number;
  readonly at: Date;
}

export interface RequestHappening {
  readonly event: 'dsar.submitted';
  readonly requestId: string;
  readonly kind: RequestKind;
  readonly name: string;
  readonly email: string;
  /** A visitor hash that the requester read from their own browser. */
  readonly visitorHash: string | null;
  readonly jurisdiction: string;
  readonly language: string;
  readonly message: string;
  readonly at: Date;
}

/** A cookie or tracker found by a scan. */
export interface FoundCookie {
  readonly name: string;
  readonly kind: 'cookie' | 'tracker';
  readonly category: string | null;
  readonly domain: string;
  readonly provider: string;
  readonly beforeConsent: boolean;
}

export interface ScanHappening {
  readonly event: 'cookie_scan.completed';
  readonly scanId: string;
  readonly domain: string;
  readonly pages: number;
  readonly cookiesFound: number;
  readonly trackersFound: number;
  readonly uncategorised: number;
  readonly score: number;
  /** Absent: the scan reports only numbers. */
  readonly found?: readonly FoundCookie[];
  readonly at: Date;
}

export interface IntegrationHappening {
  readonly event: 'integration.connected' | 'integration.disconnected';
  readonly integrationId: string;
  readonly name: string;
  readonly site: string;
  /** The reason for losing it. */
  readonly reason?: string;
  readonly at: Date;
}

/** Something that happened at the service and may become a delivery. */
export type Happening = DecisionHappening | PolicyHappening | RequestHappening | ScanHappening | IntegrationHappening;
