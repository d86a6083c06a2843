import { AgentError } from "@loopwright/core";

/** Where a proxy listens. */
export interface ProxyAddress {
  readonly url: URL;
  /** The header that authorises us, where the address holds a name. */
  readonly authorization?: string;
}

/** Which proxy a request takes; `undefined` for none. */
export type ProxyChoice = (url: URL) => ProxyAddress | undefined;

/**
 * The choice by the usual variables: HTTPS_PROXY or HTTP_PROXY by the address's protocol, ALL_PROXY for both, upper or lower
 * case, and none for what NO_PROXY names (`*`, a host with its subdomains, a host with a port).
 * @throws AgentError CONFIG_INVALID when a variable is no http or https address.
 */
export function proxyFromEnvironment(environment: Readonly<Record<string, string | undefined>>): ProxyChoice {
  const read = (name: string): string | undefined => environment[name.toLowerCase()] || environment[name] || undefined;
  const all = read("ALL_PROXY");
  const http = addressOf(read("HTTP_PROXY") ?? all, "HTTP_PROXY");
  const https = addressOf(read("HTTPS_PROXY") ?? all, "HTTPS_PROXY");
  const spared = (read("NO_PROXY") ?? "")
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
  return (url) => {
    const proxy = url.protocol === "https:" ? https : http;
    return proxy === undefined || spared.some((entry) => isSpared(url, entry)) ? undefined : proxy;
  };
}

/** The same proxy for every request. @throws AgentError CONFIG_INVALID when it is no http or https address. */
export function fixedProxy(address: string): ProxyChoice {
  const proxy = addressOf(address, "proxy");
  return () => proxy;
}

function addressOf(text: string | undefined, name: string): ProxyAddress | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new AgentError("CONFIG_INVALID", {
      message: `The proxy address in \`${name}\` cannot be used.`,
      fix: "Give it as http://host:port or https://host:port; SOCKS is not supported.",
    });
  }
  if (url.username === "") return { url };
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { url, authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

function isSpared(url: URL, entry: string): boolean {
  if (entry === "*") return true;
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (port !== undefined && port !== (url.port || (url.protocol === "https:" ? "443" : "80"))) return false;
  const name = url.hostname.toLowerCase();
  const bare = host.replace(/^\*?\./, "");
  return name === bare || name.endsWith(`.${bare}`);
}
