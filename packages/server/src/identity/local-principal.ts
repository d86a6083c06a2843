import { AgentError } from "@loopwright/core";
import type { Caller, Principal } from "../server-options.ts";

/**
 * The principal of a request to a server without `authenticate`. The `Host` header proves nothing: any client may write it. So only the address
 * of the socket counts, and a caller is trusted only on a server that other machines cannot reach.
 * @throws AgentError UNAUTHENTICATED unless the caller is on this machine or the server is open to all
 */
export function localPrincipal({ isLocal, isExposed }: Caller, isInsecure: boolean): Principal {
  if (!isLocal && !isExposed && !isInsecure)
    throw new AgentError("UNAUTHENTICATED", {
      message: "This server does not authenticate its callers, and the request is not known to come from this machine.",
      fix: "Give `authenticate` to `createServer`; or mount `requestListener` or pass `remoteAddress` of the socket to `fetch`, for callers on this machine; or set `insecure` if everybody may use it.",
    });
  return { user: "local", scope: "local", trusted: isLocal && !isExposed };
}
