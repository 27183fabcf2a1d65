import { otherRules, type Rule } from './auth/route-permissions.ts';
import { pageRoutes } from './pages/pages.ts';

/** The rules of all routes on the admin listener, by method and path. A route without one prevents the server from starting. */
export const rules: Readonly<Record<string, Rule>> = {
  ...otherRules,
  ...Object.fromEntries(pageRoutes.map(({ method, path, rule }) => [`${method} ${path}`, rule])),
};
