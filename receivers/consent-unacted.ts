import { isStatementName, type NameRole, roleOf } from './consent-names.ts';
import { isConsentWord, type PurposesRead } from './consent-purposes.ts';
import { isBlank, isJsonObject } from './parse.ts';
import type { Payload } from './payload.ts';

/** The most values looked at, and how deep. */
const MAX_VALUES = 500;
const MAX_DEPTH = 4;

/** Names of what somebody does to choose, in plain form, with the id, kind or time of it: `action`, `consent_action_id`, `entscheidung`. */
const ACT =
  /^(?:user|visitor|customer|consent|cookie)*(?:action|interaction|act|decision|choice|answer|commit|aktion|entscheidung|antwort|reponse|azione|scelta|decisione|risposta|accion|eleccion|respuesta|acao|escolha|decisao|resposta|actie|keuze|beslissing|antwoord|akcja|wybor|decyzja|odpowiedz|choix|handling|beslut|svar|val|valg|toiminto|valinta|vastaus|volba|odpoved)(?:id|uuid|type|name|time|date|at)?$/;

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
  let empty: EmptyAct | null = null;
  for (const { role, value, path } of leavesIn(payload, purposes, isBlank)) {
    const isAct = ACT.test(role.plain);
    if ((isAct && empty?.isAct !== true) || (empty === null && role.time === 'choice'))
      empty = { at: `${path}=${value === '' ? '' : 'null'}`, isAct };
  }
  if (empty === null) return null;
  const { isAct } = empty;
  return leavesIn(payload, purposes, (value) => !isBlank(value)).some(({ role, value }) =>
    saysActed(role, value, isAct),
  )
    ? null
    : empty;
}

interface Leaf {
  readonly role: NameRole;
  readonly value: unknown;
  readonly path: string;
}

/** The values of a kind in the content and in what was read as purposes, wherever it stands, except those about something else. */
function leavesIn(payload: Payload, purposes: PurposesRead, wanted: (value: unknown) => boolean): readonly Leaf[] {
  const leaves: Leaf[] = [];
  let left = MAX_VALUES;
  const opened = (value: unknown, path: string) =>
    typeof value === 'string' && purposes.texts.size > 0 ? (purposes.texts.get(path) ?? value) : value;
  const add = (key: string, value: unknown, path: string) => {
    const role = roleOf(key);
    if (!role.isTerms && !role.isFormer && !role.isSetting) leaves.push({ role, value, path });
  };
  const within = (value: object, path: string, depth: number, isWithinRead: boolean) => {
    if (depth >= MAX_DEPTH || payload.isOpened(value)) return;
    const isRead = isWithinRead || purposes.isRead(value) || purposes.isItem(value);
    if (Array.isArray(value)) {
      for (const item of value) {
        if ((left -= 1) < 0) return;
        if (typeof item === 'object' && item !== null) within(item as object, path, depth + 1, isRead);
      }
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value)) {
        if ((left -= 1) < 0) return;
        const at = `${path}.${key}`;
        const inner = opened(value[key], at);
        if (typeof inner === 'object' && inner !== null) within(inner, at, depth + 1, isRead);
        else if (isRead && wanted(inner)) add(key, inner, at);
      }
    }
  };
  for (const { key, found } of payload.fields()) {
    if (found.beside) continue;
    if ((left -= 1) < 0) break;
    const value = opened(found.value, found.path);
    if (typeof value === 'object' && value !== null) within(value, found.path, 0, false);
    else if (wanted(value)) add(key, value, found.path);
  }
  return leaves;
}

/**
 * Whether a field says that somebody acted: a word of consent or refusal, of an act, or that the visitor answered. Where the act itself is empty, a
 * word for a single purpose may be its default: {"ad_storage": "denied", "action": ""}.
 */
function saysActed(role: NameRole, value: unknown, isActEmpty: boolean): boolean {
  if (role.notChosenIf === 'no') return value === true || value === 1;
  if (typeof value !== 'string') return false;
  if (ACT.test(role.plain)) return true;
  if (isActEmpty && !role.isWhole && !role.isState && !isStatementName(role.plain)) return false;
  return !role.isCircumstance && isConsentWord(value);
}
