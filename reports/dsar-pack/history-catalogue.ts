import type { EvidenceMediaType } from '../../src/core/action.ts';
import type { Judged } from '../../src/core/consent-judgement.ts';
import type { TextKnown } from '../policy-texts.ts';

/** Common names of purposes, in plain form. Other purposes are shown as the records name them. */
export const commonPurposes = [
  'necessary',
  'functional',
  'preferences',
  'analytics',
  'statistics',
  'performance',
  'marketing',
  'advertising',
  'personalization',
  'socialmedia',
] as const;

/** The files of a pack that show what a person decided and under which texts, in one language. Placeholders are in braces. */
export interface HistoryTexts {
  readonly title: string;
  readonly subtitle: string;
  readonly footer: string;
  readonly lead: string;
  readonly decisions: string;
  readonly columns: Readonly<
    Record<'when' | 'decision' | 'purposes' | 'banner' | 'policy' | 'validUntil' | 'knownFrom' | 'entry', string>
  >;
  readonly noDecisions: string;
  readonly twice: string;
  /** What one decision or record says, in a cell of the table. */
  readonly cells: {
    readonly states: Readonly<Record<Judged, string>>;
    readonly contradicts: string;
    readonly disputed: string;
    readonly ofCase: string;
    /** Follows a time that nobody stated. */
    readonly received: string;
    readonly via: Readonly<Record<'webhook' | 'pull' | 'request', string>>;
    readonly granted: string;
    readonly denied: string;
    readonly withdrawn: string;
    readonly everyPurpose: string;
    readonly nothingGranted: string;
    readonly noneNamed: string;
    readonly notStated: string;
    readonly version: string;
    readonly text: Readonly<Record<Exclude<TextKnown, 'policy-not-stated'>, string>>;
    readonly shownIn: string;
    readonly shownInSeveral: string;
    readonly notEvidenced: string;
    /** In place of an identifier that a law forbids disclosing. */
    readonly withheld: string;
    readonly withheldTypes: Readonly<Record<'socialSecurity' | 'longNumber', string>>;
  };
  /** Records that the program reads differently than in an earlier answer. */
  readonly reread: Readonly<Record<'one' | 'several' | 'inNone' | 'in', string>>;
  readonly policies: Readonly<
    Record<'heading' | 'caption' | 'policy' | 'version' | 'from' | 'until' | 'open' | 'none', string>
  >;
  readonly texts: Readonly<
    Record<'caption' | 'text' | 'of' | 'previousSeen' | 'firstSeen' | 'sha256' | 'noText' | 'none' | 'note', string>
  >;
  readonly banners: Readonly<
    Record<
      'heading' | 'notEvidenced' | 'caption' | 'shown' | 'file' | 'sha256' | 'shownSince' | 'shownUntil' | 'note',
      string
    >
  >;
  readonly mediaTypes: Readonly<Record<EvidenceMediaType, string>>;
  /** The file in place of the evidence of a banner. */
  readonly lostEvidence: Readonly<Record<'missing' | 'altered', string>>;
  /** The heads of the texts of policies, in their own file. */
  readonly heads: Readonly<
    Record<
      | 'text'
      | 'publicPage'
      | 'embed'
      | 'noText'
      | 'erased'
      | 'existed'
      | 'came'
      | 'isLast'
      | 'next'
      | 'sha256'
      | 'noSha256',
      string
    >
  >;
  readonly purposes: Readonly<Record<(typeof commonPurposes)[number], string>>;
}
