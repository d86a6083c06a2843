/*
 * Owns: the user of the page: the caller as the server knows it, its sign-in and sign-out, the team that everything is read in.
 * Does not own: what is shown of a team: after each change the page begins anew (`begin`), so that nothing of another team or user is left.
 * Invariants
 *  A1 where the server has cookies no token is kept: it is exchanged at the sign-in;
 *  A2 a token is kept only after the server has accepted it;
 *  A3 a sign-out takes the token, the team and the drafts out of the browser.
 */
import { type CallerAccess, createClient, type LoopwrightClient } from "@loopwright/client";
import { isAgentError } from "@loopwright/core/protocol";
import type { KeptText } from "./kept-text.ts";
import { createWatched, type Watched } from "./watched.ts";

export interface Account extends Watched<CallerAccess | undefined> {
  /** Asks the server for the caller; without an answer nothing changes. A team that the caller has left is given up. */
  load(): Promise<void>;
  /** @throws AgentError UNAUTHENTICATED for a token that the server does not know */
  signIn(token: string): Promise<void>;
  signOut(): Promise<void>;
  /** Everything is read again, in this team. */
  switchTo(scope: string): void;
}

export interface AccountParts {
  readonly url: string;
  readonly kept: KeptText;
  readonly client: Pick<LoopwrightClient, "access" | "logout">;
  /** A client with other credentials. Default: one of the platform. */
  readonly clientWith?: (token: string) => Pick<LoopwrightClient, "access" | "login">;
  /** Makes the page anew with what is kept, and shows these words. */
  readonly begin: (words?: string) => void;
}

/** The account of the page's user. */
export function createAccount({ url, kept, client, begin, clientWith = (token) => createClient({ url, token }) }: AccountParts): Account {
  const { read, subscribe, put } = createWatched<CallerAccess | undefined>(undefined);
  return {
    read,
    subscribe,
    async load() {
      try {
        const access = await client.access();
        if (kept.get("scope") === undefined) kept.set("home", access.scope);
        put(access);
      } catch (error) {
        if (!isAgentError(error, "FORBIDDEN") || kept.get("scope") === undefined) return;
        kept.set("scope", undefined);
        begin();
      }
    },
    async signIn(token) {
      const asked = clientWith(token);
      kept.set("token", (await hasCookie(asked)) ? undefined : token);
      kept.set("scope", undefined);
      begin();
    },
    async signOut() {
      // A server without cookies has nothing to end, and one that has ended the session already neither.
      await client.logout().catch((error: unknown) => {
        if (!isAgentError(error, "ROUTE_NOT_FOUND") && !isAgentError(error, "UNAUTHENTICATED")) throw error;
      });
      for (const key of ["token", "scope", "home", ...kept.keys().filter((name) => name.startsWith("draft."))]) kept.set(key, undefined);
      begin();
    },
    switchTo(scope) {
      kept.set("scope", scope === kept.get("home") ? undefined : scope);
      begin(`Team ${scope}`);
    },
  };
}

/** Whether the server gave a cookie for the token. Services of all scopes and servers without cookies get none: then the token is checked and kept. */
async function hasCookie(client: Pick<LoopwrightClient, "access" | "login">): Promise<boolean> {
  try {
    await client.login();
    return true;
  } catch (error) {
    if (!isAgentError(error, "ROUTE_NOT_FOUND") && !isAgentError(error, "FORBIDDEN")) throw error;
    await client.access();
    return false;
  }
}

/** Whether a sign-out would end anything: there is a token or the session of a cookie, which always has an end. */
export const isSignedIn = (access: CallerAccess | undefined, kept: KeptText): boolean =>
  kept.get("token") !== undefined || (access?.cookies === true && access.expiresAt !== undefined);
