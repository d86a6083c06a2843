import { isAgentError } from "@loopwright/core";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { parseUrl, type ResolveHost, type UrlGuard, type UrlPolicy, urlGuard } from "@loopwright/url-guard";
import type { GuardedTransport } from "../providers/guarded-transport.ts";

export interface GuardedTransportOptions {
  /** Which addresses users' servers may have. Default: those of the public web, on the ports of http and https. */
  readonly policy?: UrlPolicy;
  /** Default: the look-up of the operating system. */
  readonly resolve?: ResolveHost;
}

/** Reaches the servers that users name: only those of the policy, at the addresses that it checked, without redirects and without a proxy. */
export function guardedTransport({ policy, resolve }: GuardedTransportOptions = {}): GuardedTransport {
  const guard = urlGuard({ policy, resolve });
  return {
    admit: async (text) => (await guard.admit(parseUrl(text))).url,
    fetch: nodeHttp({ addressesOf: (url) => addressesNow(guard, url) }),
  };
}

/** A look-up that fails is a failure of the network, which providers retry, and no wrong input. */
async function addressesNow(guard: UrlGuard, url: URL): Promise<readonly string[]> {
  try {
    return (await guard.admit(url)).addresses;
  } catch (error) {
    if (!isAgentError(error) || error.details?.["reason"] !== "host_not_found") throw error;
    throw Object.assign(new Error("The host was not found."), { code: "ENOTFOUND", cause: error.cause });
  }
}
