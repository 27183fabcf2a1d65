/** One thing found about a delivery whose signature failed. Never holds a secret, nor a digest that would have been right. */
export interface Finding {
  /** Stable, for machines. */
  readonly code: FindingCode;
  /** What was found. */
  readonly sentence: string;
  /** What to do about it. */
  readonly remedy: string;
}

export type FindingCode =
  | 'verifies'
  | 'no-secret'
  | 'no-header'
  | 'other-header'
  | 'repeated-header'
  | 'wrong-prefix'
  | 'not-lower-case'
  | 'base64-digest'
  | 'wrong-length'
  | 'not-hex'
  | 'empty-body'
  | 'body-altered'
  | 'body-reserialised'
  | 'old-secret'
  | 'secret-encoded'
  | 'secret-untidy'
  | 'no-match';
