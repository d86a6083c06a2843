import { AgentError } from "@loopwright/core";
import { plainHost, requestHost } from "../request-host.ts";
import { isLoopbackAddress } from "./loopback-address.ts";

/** `127.0.0.1:80`, `[::1]`, `localhost:4200`, `chat.localhost`. */
const local = /^(localhost|[a-z0-9-]+\.localhost|127\.[\d.]+|\[::1\])(?::\d{1,5})?$/;

/** True for a name that always leads to this machine. */
export function isLoopbackHost(host: string): boolean {
  const [, name] = local.exec(host.toLowerCase()) ?? [];
  return name !== undefined && (!name.startsWith("127.") || isLoopbackAddress(name));
}

/**
 * Protects against DNS rebinding: a page lets its own name point to this machine. @throws AgentError HOST_REFUSED unless the request names
 * loopback or one of `hosts`
 */
export function checkHost(request: Request, hosts: readonly string[]): void {
  const allowed = hosts.map(plainHost);
  // An adapter may build the URL from an invalid `Host`.
  if (!URL.canParse(request.url)) throw refused();
  for (const host of [requestHost(request), plainHost(new URL(request.url).host)]) {
    if (isLoopbackHost(host) || allowed.includes(host)) continue;
    throw refused();
  }
}

const refused = (): AgentError => new AgentError("HOST_REFUSED", { message: "The request names a host that is not in `hosts`." });
