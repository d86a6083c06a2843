import { AgentError } from "@loopwright/core";
import type { Authenticate, HttpOptions, Principal } from "../server-options.ts";
import type { ServerScene } from "../server-scene.ts";
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

/** What the caller is known by. */
type Scene = Pick<ServerScene, "clock" | "limits"> & { readonly options: HttpOptions };

/** Who sends the request. @throws AgentError UNAUTHENTICATED, FORBIDDEN for a principal without scope, NOT_READY where `authenticate` takes too long */
export async function identify(request: Request, scene: Scene, caller: Caller): Promise<Principal> {
  const { authenticate, insecure = false } = scene.options;
  const { searchParams } = new URL(request.url);
  if ([...searchParams.keys()].some((name) => tokenNames.has(name.toLowerCase().replace(/[-_]/g, ""))))
    throw new AgentError("UNAUTHENTICATED", {
      message: "The address holds a token. Addresses end up in logs and histories.",
      fix: "Send the token as `Authorization: Bearer <token>`, and replace it: it may have been seen.",
    });
  const principal = authenticate ? await inTime(authenticate, request, scene) : localPrincipal(caller, insecure);
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

/** What `authenticate` says, if it says so in time. What it says later is not heard. */
function inTime(authenticate: Authenticate, request: Request, { clock, limits }: Scene): Promise<Principal | undefined> {
  const { authenticateMs } = limits;
  return new Promise((resolve, reject) => {
    const cancel = clock.after(authenticateMs, () => {
      const message = `The server could not find out within ${authenticateMs} ms who sends the request.`;
      reject(new AgentError("NOT_READY", { message, fix: "Send the request again.", retryAfterMs: 1_000 }));
    });
    const known = (async () => authenticate(request))();
    known.then(resolve, reject).finally(cancel);
  });
}
