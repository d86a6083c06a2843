import { readFile } from "node:fs/promises";
import type { JwtOptions } from "@loopwright/auth";
import { AgentError } from "@loopwright/core";
import type { Logger, SessionStore } from "@loopwright/core/ports";
import { type Authenticate, accessPolicy, bearerTokens, type HttpOptions } from "@loopwright/server";
import { localScope } from "../compose/kept-sessions.ts";
import { oneLine } from "../terminal/neutralise.ts";
import type { AuthSettings } from "./auth-settings.ts";
import type { RunSettings } from "./run-settings.ts";

/** How a process knows its callers, and what they may do. */
export type Authentication = Pick<HttpOptions, "authenticate" | "authorize" | "maySee" | "maySeeFile" | "cookies">;

interface AuthenticationParts {
  readonly wishes: Pick<RunSettings, "token" | "auth">;
  readonly store: SessionStore;
  readonly logger: Logger;
}

/**
 * Nothing where no credentials are asked for. Callers with credentials of their own see the sessions that they opened and those that are shared with them;
 * the one of `--token` administers its scope. @throws AgentError CONFIG_INVALID
 */
export async function authentication({ wishes: { token, auth }, store, logger }: AuthenticationParts): Promise<Authentication> {
  const local = { user: localScope, scope: localScope, trusted: true };
  if (!auth) return token === undefined ? {} : { authenticate: bearerTokens({ [token]: local }) };
  if (token !== undefined && token === auth.internalToken)
    throw new AgentError("CONFIG_INVALID", {
      message: "`--token` and `--internal-token` are the same text.",
      fix: "Take another one for the services of the deployment.",
    });
  const { anyOf, isFromHere } = await import("@loopwright/auth");
  // Tokens of this server come first: they count while others cannot be checked, and are sent nowhere.
  const known: readonly Authenticate[] = [
    ...(token === undefined ? [] : [bearerTokens({ [token]: { ...local, roles: ["admin"] } })]),
    ...(await ownAuthenticators(auth, logger)),
    // An internal token is about services, not about the person at this machine.
    ...(token === undefined && !auth.issuer && !auth.service ? [personHere(isFromHere)] : []),
  ];
  const unshared = auth.unshared === undefined ? {} : { scope: auth.unshared };
  return { authenticate: anyOf(known), ...accessPolicy({ store, unshared }), cookies: true };
}

type IsFromHere = typeof import("@loopwright/auth").isFromHere;

/** Without credentials: the person at this machine, on a server that no other machine can reach, nor through a proxy. */
const personHere =
  (isFromHere: IsFromHere): Authenticate =>
  (request, caller) =>
    isFromHere(caller, request) && !caller.isExposed && !request.headers.has("Authorization")
      ? { user: localScope, scope: localScope, trusted: true, roles: ["admin"] }
      : undefined;

async function ownAuthenticators(
  { internalToken, issuer, service, scope }: AuthSettings,
  logger: Logger,
): Promise<readonly Authenticate[]> {
  const { authUrl, internalTokens, jwtTokens, oidcTokens } = await import("@loopwright/auth");
  const common = { logger, ...(scope === undefined ? {} : { scope }) };
  const known: Authenticate[] = [];
  if (internalToken !== undefined) known.push(internalTokens({ [internalToken]: { user: "service", scope: localScope } }));
  if (issuer) {
    const { keys, algorithms, ...rest } = issuer;
    const options = { ...rest, ...common, algorithms: algorithms as NonNullable<JwtOptions["algorithms"]> };
    known.push(keys === undefined ? oidcTokens(options) : jwtTokens({ ...options, keys: await keysOf(keys) }));
  }
  if (service) known.push(authUrl({ ...service, ...common }));
  return known;
}

/** An address as it is, or the set of public keys of a file. */
async function keysOf(place: string): Promise<JwtOptions["keys"]> {
  if (/^https?:/i.test(place)) return place;
  const name = oneLine(place, 200);
  let set: unknown;
  try {
    set = JSON.parse(await readFile(place, "utf8"));
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? "is no JSON" : "cannot be read";
    throw new AgentError("CONFIG_INVALID", { message: `\`${name}\` of \`--jwt-keys\` ${reason}.`, fix: keysFix });
  }
  const keys = typeof set === "object" && set !== null && "keys" in set && Array.isArray(set.keys) ? set.keys : [];
  if (keys.length === 0)
    throw new AgentError("CONFIG_INVALID", { message: `\`${name}\` of \`--jwt-keys\` has no \`keys\`.`, fix: keysFix });
  // A reader of a private key could sign tokens; a shared secret is both at once.
  if (keys.some((key: unknown) => typeof key === "object" && key !== null && ("d" in key || "k" in key)))
    throw new AgentError("CONFIG_INVALID", { message: `\`${name}\` of \`--jwt-keys\` holds a key that is not public.`, fix: keysFix });
  return { keys };
}

const keysFix = "Pass the address of the issuer's keys, or a file with a JSON Web Key Set of public keys.";
