/**
 * What a person with an account may do. `owner` and `admin` see every source; the reach of officers and auditors can be limited to some.
 * Only an owner may name, change or disable another owner.
 */
export const roles = ['owner', 'admin', 'officer', 'auditor'] as const;
export type Role = (typeof roles)[number];

/** `read`: look and download. `work`: whatever moves a request, makes a document or changes evidence. `administer`: people and their access. */
export type Capability = 'read' | 'work' | 'administer';

const capabilities: Readonly<Record<Role, readonly Capability[]>> = {
  owner: ['read', 'work', 'administer'],
  admin: ['read', 'work', 'administer'],
  officer: ['read', 'work'],
  auditor: ['read'],
};

/** Whether a role includes a capability. */
export function can(role: Role, capability: Capability): boolean {
  return capabilities[role].includes(capability);
}

/** Whether a value is a role, letter by letter. */
export function isRole(value: unknown): value is Role {
  return (roles as readonly unknown[]).includes(value);
}

/** Roles whose reach can be limited to some sources. */
export function isLimitable(role: Role): boolean {
  return role === 'officer' || role === 'auditor';
}

/** Roles that someone of this role may give, change and disable. */
export function rolesUnder(role: Role): readonly Role[] {
  switch (role) {
    case 'owner':
      return roles;
    case 'admin':
      return ['admin', 'officer', 'auditor'];
    case 'officer':
    case 'auditor':
      return [];
  }
}

/** What a token may do of what its person may. Administering people and access is for people alone. */
export const tokenScopes = ['read', 'work'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** Whether a value is a scope, letter by letter. */
export function isTokenScope(value: unknown): value is TokenScope {
  return (tokenScopes as readonly unknown[]).includes(value);
}

/** The role with which a token acts: the least that has what is both in its scope and in the role of its person. */
export function tokenRole(role: Role, scope: TokenScope): Role {
  return scope === 'work' && can(role, 'work') ? 'officer' : 'auditor';
}

/** What a one-time link is for: a session without an account, the first account, joining, or a new password. */
export type LinkPurpose = 'sign-in' | 'set-up' | 'invitation' | 'reset';
