import { canonicalSubject } from '../core/subject.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Keyed hash of a subject, hex, as erasures and holds name it: whoever lacks INSTANCE_KEY cannot test a guess. */
export function subjectHash({ keyOf }: Pick<Ledger, 'keyOf'>, source: string, subject: string): string {
  return keyOf('erased-subject', source, canonicalSubject(subject)).toString('hex');
}
