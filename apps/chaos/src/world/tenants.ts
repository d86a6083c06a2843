import { guestToken } from "./secrets.ts";

/** Whose a session is. */
export interface Tenant {
  readonly scope: string;
  /** Stands in all messages of its people, and in none of others. */
  readonly word: string;
  /** What its people send with each request. */
  readonly headers: { readonly [name: string]: string };
}

/** A caller without a token. */
export const home: Tenant = { scope: "local", word: "quokka", headers: {} };
export const guest: Tenant = { scope: "guest", word: "axolotl", headers: { authorization: `Bearer ${guestToken}` } };
export const tenants: readonly Tenant[] = [home, guest];

/** By scope. */
export const tenantWords: { readonly [scope: string]: string } = Object.fromEntries(tenants.map(({ scope, word }) => [scope, word]));
