import { guestToken } from "./secrets.ts";

/** Whose a session is. */
export interface Tenant {
  readonly scope: string;
  /** Stands in all that its people say, and in nothing that others do. */
  readonly word: string;
  /** What its people send with each request. */
  readonly headers: { readonly [name: string]: string };
}

/** Whoever comes without a token. */
export const home: Tenant = { scope: "local", word: "quokka", headers: {} };
export const guest: Tenant = { scope: "guest", word: "axolotl", headers: { authorization: `Bearer ${guestToken}` } };
export const tenants: readonly Tenant[] = [home, guest];

/** By scope. */
export const tenantWords: { readonly [scope: string]: string } = Object.fromEntries(tenants.map(({ scope, word }) => [scope, word]));
