import { type NameRole, roleOf } from './consent-names.ts';
import { isConsentWord, type PurposesRead } from './consent-purposes.ts';
import { isBlank, isJsonObject } from './parse.ts';
import type { Payload } from './payload.ts';

/** The most values looked at, and how deep. */
const MAX_VALUES = 500;
const MAX_DEPTH = 4;

/** Names of what somebody does to choose, in plain form, with the id or time of it: `action`, `consent_action_id`, `entscheidung`. */
const ACT =
  /^(?:user|visitor|customer|consent|cookie)*(?:action|interaction|act|decision|choice|aktion|entscheidung|azione|scelta|decisione|accion|decision|eleccion|acao|escolha|decisao|actie|keuze|beslissing|akcja|wybor|decyzja|choix|handling|beslut|val|valg|toiminto|valinta|volba)(?:id|uuid|type|time|date|at)?$/;

/** A field for the act of choosing, or for its time, that is empty. */
interface EmptyAct {
  /** Its path and value: `consents.granted_at=null`. */
  readonly at: string;
  /** It is the act itself, and not only its time. */
  readonly isAct: boolean;
}

/**
 * The field in which a record names the act of choosing, or when it was chosen, and leaves it empty: {"granted": false, "granted_at": null}. Nobody
 * has acted yet, so what stands beside it is a default. Null: there is none, or something in the record says in a word that somebody acted
 * (`action: save`, `status: declined`, `interacted: true`). An empty time of withdrawal or of a change says nothing.
 */
export function emptyAct(payload: Payload, purposes: PurposesRead): EmptyAct | null {
  const scan = new ActScan(purposes);
  for (const { key, found } of payload.fields()) {
    if (found.beside || payload.isOpened(found.value)) continue;
    scan.field(roleOf(key), found.value, found.path, 0);
    if (scan.isActed) return null;
  }
  return scan.empty;
}

class ActScan {
  empty: EmptyAct | null = null;
  isActed = false;
  readonly #purposes: PurposesRead;
  #left = MAX_VALUES;

  constructor(purposes: PurposesRead) {
    this.#purposes = purposes;
  }

  field(role: NameRole, value: unknown, path: string, depth: number): void {
    if ((this.#left -= 1) < 0 || role.isTerms || role.isFormer || role.isSetting) return;
    if (isBlank(value)) {
      const isAct = ACT.test(role.plain);
      if (isAct || (role.time === 'choice' && !role.isTerms))
        if (this.empty === null || (isAct && !this.empty.isAct))
          this.empty = { at: `${path}=${value === '' ? '' : 'null'}`, isAct };
    } else if (typeof value === 'object') this.#within(value, path, depth);
    else this.isActed ||= saysActed(role, value);
  }

  /** Objects and lists that were read as purposes. */
  #within(value: unknown, path: string, depth: number): void {
    if (depth >= MAX_DEPTH || !(depth > 0 || this.#purposes.isRead(value) || this.#purposes.isItem(value))) return;
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === 'object' && this.#left > 0) this.#within(item, path, depth + 1);
    } else if (isJsonObject(value))
      for (const key of Object.keys(value)) {
        if (this.#left <= 0) return;
        this.field(roleOf(key), value[key], `${path}.${key}`, depth + 1);
      }
  }
}

/** Whether a field says that somebody acted: a word of consent or refusal, of an act, or that the visitor answered. */
function saysActed(role: NameRole, value: unknown): boolean {
  if (role.notChosenIf === 'no') return value === true || value === 1;
  if (typeof value !== 'string') return false;
  if (ACT.test(role.plain)) return true;
  return !role.isCircumstance && isConsentWord(value);
}
