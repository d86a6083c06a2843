import { AgentError } from "@loopwright/core";
import type { Principal, ServerOptions } from "../server-options.ts";
import { type Caller, localPrincipal } from "./local-principal.ts";

/** Names under which tokens travel in addresses, without regard to capitals, `-` and `_`. */
const tokenNames: ReadonlySet<string> = new Set([
  "token",
  "accesstoken",
  "idtoken",
  "authtoken",
  "apikey",
  "auth",
  "authorization",
  "bearer",
  "jwt",
]);
const scopePattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Who sends the request. @throws AgentError UNAUTHENTICATED, and FORBIDDEN for a principal without scope */
export async function identify(request: Request, { authenticate, insecure = false }: ServerOptions, caller: Caller): Promise<Principal> {
  const { searchParams } = new URL(request.url);
  if ([...searchParams.keys()].some((name) => tokenNames.has(name.toLowerCase().replace(/[-_]/g, ""))))
    throw new AgentError("UNAUTHENTICATED", {
      message: "The address holds a token. Addresses end up in logs and histories.",
      fix: "Send the token as `Authorization: Bearer <token>`, and replace it: it may have been seen.",
    });
  const principal = authenticate ? await authenticate(request) : localPrincipal(caller, insecure);
  if (!principal) throw new AgentError("UNAUTHENTICATED", { message: "The request has no token that this server knows." });
  if (
    typeof principal.scope !== "string" ||
    !scopePattern.test(principal.scope) ||
    typeof principal.user !== "string" ||
    principal.user === ""
  )
    throw new AgentError("FORBIDDEN", { message: "The caller belongs to no scope.", fix: "Have `authenticate` name a user and a scope." });
  return principal;
}
