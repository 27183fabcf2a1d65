/**
 * The role of a person with an account. `owner` and `admin` see every source; officers and auditors can be limited to
 * some. Only an owner may appoint, change or disable another owner.
 */
export const roles = ['owner', 'admin', 'officer', 'auditor'] as const;
export type Role = (typeof roles)[number];

/**
 * `read`: view and download. `work`: anything that moves a request, makes a document or changes evidence. `administer`:
 * people and their access.
 */
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

/** Whether a value is exactly the name of a role. */
export function isRole(value: unknown): value is Role {
  return (roles as readonly unknown[]).includes(value);
}

/** Whether a role can be limited to some sources. */
export function isLimitable(role: Role): boolean {
  return role === 'officer' || role === 'auditor';
}

/** Roles that someone with this role may give, change and disable. */
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

/**
 * What a token may do within its person's rights. `administer` also rotates signing secrets and reads earlier deliveries
 * again; only people may administer people and access.
 */
export const tokenScopes = ['read', 'work', 'administer'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** Whether a value is exactly the name of a scope. */
export function isTokenScope(value: unknown): value is TokenScope {
  return (tokenScopes as readonly unknown[]).includes(value);
}

/** The role of a token: the lowest that has everything allowed by both its scope and its person's role. */
export function tokenRole(role: Role, scope: TokenScope): Role {
  if (scope === 'administer' && can(role, 'administer')) return 'admin';
  return scope !== 'read' && can(role, 'work') ? 'officer' : 'auditor';
}

/** The purpose of a one-time link: a session without an account, the first account, joining, a new password or address. */
export type LinkPurpose = 'sign-in' | 'set-up' | 'invitation' | 'reset' | 'address';
