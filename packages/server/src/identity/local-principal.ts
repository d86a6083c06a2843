import type { Principal } from "../server-options.ts";

/** Who sends a request to a server without `authenticate`. Trusted only where nobody else can reach it. */
export function localPrincipal(isExposed: boolean): Principal {
  return { user: "local", scope: "local", trusted: !isExposed };
}
