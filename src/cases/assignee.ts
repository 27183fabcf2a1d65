import { actorOf } from '../people/sessions.ts';

/** An account to which requests can be assigned. */
interface Account {
  readonly personId: string;
  readonly name: string;
  readonly email: string;
}

/** How a move names an account: like the actor of an entry. Anyone without an account is named by free text. */
export function assigneeOf({ personId, name }: Pick<Account, 'personId' | 'name'>): string {
  return actorOf(personId, name);
}

/**
 * A typed name or e-mail address that matches exactly one of these accounts becomes that account; any other text is
 * kept.
 */
export function readAssignee(text: string, accounts: readonly Account[]): string {
  const typed = text.trim().toLowerCase();
  const [found, ...more] = accounts.filter(
    ({ name, email }) => name.toLowerCase() === typed || email.toLowerCase() === typed,
  );
  return found === undefined || more.length > 0 ? text : assigneeOf(found);
}

const account = / \((p-[0-9a-f]{8,64})\)$/;

/** The name of an assignee, and the account if it is one. */
export function partsOfAssignee(assignee: string): { readonly name: string; readonly personId: string | null } {
  return { name: assignee.replace(account, ''), personId: account.exec(assignee)?.[1] ?? null };
}

/** Whether a request is assigned to this account, whatever the person's name was at the time. */
export function isAssignedTo(assignee: string | null, personId: string | null): boolean {
  return assignee !== null && personId !== null && partsOfAssignee(assignee).personId === personId;
}
