import type { Clock } from '../core/clock.ts';
import type { ControllerProfile } from '../core/profile.ts';
import type { RegimeTable } from '../core/regime-table.ts';
import type { SubjectRecipe } from '../core/subject.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Store } from '../store/store.ts';

/** What reading cases needs; handed in by the composition root. */
export interface CaseReading {
  readonly store: Pick<Store, 'read'>;
  readonly regimes: RegimeTable;
  /** IANA time zone of the controller. */
  readonly timeZone: string;
  /** The controller profile of a source; null where none is configured. */
  profileOf(source: string): ControllerProfile | null | Promise<ControllerProfile | null>;
  /** How a source hashes e-mail addresses; null where that is not known. */
  recipeOf(source: string): SubjectRecipe | null | Promise<SubjectRecipe | null>;
}

/** What changing cases needs besides. */
export interface CaseWriting extends CaseReading {
  readonly ledger: Ledger;
  readonly clock: Clock;
}
