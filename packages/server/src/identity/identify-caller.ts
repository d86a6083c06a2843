import { AgentError, isAgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import { redactedCause } from "../redact-cause-for-log.ts";
import type { ServerContext } from "../server-context.ts";
import type { Authenticate, Caller, Principal } from "../server-options.ts";
import { chooseScope } from "./choose-scope.ts";
import { cookiePrincipal } from "./cookie-session.ts";
import { localPrincipal } from "./local-principal.ts";

/** Names of query parameters with tokens; capitals, `-` and `_` do not matter. */
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

/** The parts of the server that authentication uses. */
interface IdentityContext extends Pick<ServerContext, "clock" | "limits" | "logger" | "options" | "verdicts"> {
  /** True: the credentials behind a cookie are checked now, even if a recent check passed. */
  readonly isAnew?: boolean;
}

/**
 * The principal of the request, in the scope that the request names. @throws AgentError UNAUTHENTICATED, also for credentials that have ended, FORBIDDEN for a
 * principal without a scope or outside the named scope, NOT_READY if `authenticate` takes too long, HOOK_FAILED if it throws anything but an AgentError,
 * which is passed on
 */
export async function identify(request: Request, server: IdentityContext, caller: Caller): Promise<Principal> {
  const { authenticate, insecure = false } = server.options;
  const { searchParams } = new URL(request.url);
  if ([...searchParams.keys()].some((name) => tokenNames.has(name.toLowerCase().replace(/[-_]/g, ""))))
    throw new AgentError("UNAUTHENTICATED", {
      message: "The address holds a token. Addresses end up in logs and histories.",
      fix: "Send the token as `Authorization: Bearer <token>`, and replace it: it may have been seen.",
    });
  const known: Authenticate | undefined =
    authenticate &&
    (async (asked) => (await cookiePrincipal(asked, server, (again) => authenticate(again, caller))) ?? authenticate(asked, caller));
  const principal = known ? await inTime(known, { request, caller }, server) : localPrincipal(caller, insecure);
  if (!principal) throw new AgentError("UNAUTHENTICATED", { message: "The request has no token that this server knows." });
  if (typeof principal.scope !== "string" || !isId(principal.scope) || typeof principal.user !== "string" || principal.user === "")
    throw new AgentError("FORBIDDEN", { message: "The caller belongs to no scope.", fix: "Have `authenticate` name a user and a scope." });
  if (principal.expiresAt !== undefined && !(principal.expiresAt > server.clock.now()))
    throw new AgentError("UNAUTHENTICATED", { message: "The credentials of the request have ended.", fix: "Sign in again." });
  return chooseScope(principal, request);
}

/** The principal from `authenticate`; a late result is ignored. An error is logged with its cause, without the credentials of the request. */
function inTime(
  authenticate: Authenticate,
  { request, caller }: { readonly request: Request; readonly caller: Caller },
  { clock, limits, logger }: IdentityContext,
): Promise<Principal | undefined> {
  const { authenticateMs } = limits;
  return new Promise((resolve, reject) => {
    const cancel = clock.after(authenticateMs, () => {
      logger.log("error", "`authenticate` gave no answer in time, so the request was refused.", { timeoutMs: authenticateMs });
      const message = `The server could not authenticate the request within ${authenticateMs} ms.`;
      reject(new AgentError("NOT_READY", { message, fix: "Send the request again.", retryAfterMs: 1_000 }));
    });
    const known = (async () => authenticate(request, caller))().catch((cause: unknown) => {
      if (isAgentError(cause)) throw cause;
      logger.log("error", "`authenticate` threw an error, so the request was refused.", redactedCause(cause, request));
      throw new AgentError("HOOK_FAILED", {
        message: "The server could not authenticate the request.",
        fix: "The operator finds the cause in the log of the server.",
        cause,
      });
    });
    known.then(resolve, reject).finally(cancel);
  });
}
