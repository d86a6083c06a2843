import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { webError } from "../web-error.ts";
import { urlCharactersMax } from "../web-limits.ts";
import { isLinkLocalAddress, isPublicAddress } from "./address.ts";
import { type CheckedPolicy, checkPolicy, type WebPolicy } from "./web-policy.ts";

/** Gives the IP addresses of a host name, in the order in which they should be tried. Rejects when there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** A URL that may be fetched, at these addresses and no others: a name may point somewhere else at the next look-up. */
export interface AdmittedUrl {
  readonly url: URL;
  readonly addresses: readonly string[];
  /** It is one of the policy's `privateOrigins`. */
  readonly isPrivate: boolean;
}

/** Decides which URLs may be fetched. */
export interface WebGuard {
  /** Checks a URL, and where it came from by a redirect. @throws AgentError with `details.reason` when it may not be fetched. */
  admit(url: URL, from?: AdmittedUrl): Promise<AdmittedUrl>;
}

const notPublic = "is not on the public web";

const resolveHost: ResolveHost = async (host) => (await lookup(host, { all: true, order: "verbatim" })).map(({ address }) => address);

/** The guard of a policy. `resolve` defaults to the look-up of the operating system. @throws AgentError CONFIG_INVALID for a wrong policy. */
export function webGuard(policy: WebPolicy = {}, resolve: ResolveHost = resolveHost): WebGuard {
  const rules = checkPolicy(policy);
  return {
    async admit(url, from) {
      const isPrivate = checkText(url, rules, from);
      const addresses = await addressesOf(url, resolve);
      const isAllowed = isPrivate ? (address: string) => !isLinkLocalAddress(address) : isPublicAddress;
      // One bad address is enough: a name with a public and a private address is an attack.
      if (!addresses.every(isAllowed)) throw webError("blocked_address", url, { what: notPublic });
      return { url, addresses, isPrivate };
    },
  };
}

/** The URL that a text means, as browsers read it. @throws AgentError `invalid_url` */
export function parseUrl(text: string, base?: URL): URL {
  const url = text.length > urlCharactersMax ? null : URL.parse(text, base?.href);
  if (!url) throw webError("invalid_url", text, { what: "is not a URL, or has more than 2,000 characters" });
  return url;
}

/** What can be seen without a look-up. Returns whether the URL is of a private origin of the policy. */
function checkText(url: URL, rules: CheckedPolicy, from: AdmittedUrl | undefined): boolean {
  if (!/^https?:$/.test(url.protocol)) throw webError("scheme_not_allowed", url, { what: "has a scheme that is not fetched" });
  if (url.username !== "" || url.password !== "") throw webError("credentials_in_url", url, { what: "holds a user name or a password" });
  if (rules.isPrivateOrigin(url.origin)) {
    if (from === undefined || from.isPrivate) return true;
    throw webError("blocked_address", url, { what: "is not on the public web, and a public page redirected to it" });
  }
  if (!rules.isAllowedPort(url.port)) throw webError("port_not_allowed", url, { what: "has a port that is not fetched" });
  // Names of this machine and of its network, whatever a resolver answers.
  if (/(^|\.)(localhost|local|internal|home\.arpa)$/.test(hostOf(url))) throw webError("blocked_address", url, { what: notPublic });
  if (!rules.isAllowedHost(hostOf(url))) throw webError("host_not_allowed", url, { what: "is on a host that the policy does not allow" });
  return false;
}

/** Without brackets and without the dot of the root. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

async function addressesOf(url: URL, resolve: ResolveHost): Promise<readonly string[]> {
  const host = hostOf(url);
  return isIP(host) === 0 ? resolveName(url, host, resolve) : [host];
}

async function resolveName(url: URL, host: string, resolve: ResolveHost): Promise<readonly string[]> {
  let addresses: readonly string[] = [];
  try {
    addresses = await resolve(host);
  } catch (cause) {
    throw webError("host_not_found", url, { what: "is on a host that was not found", cause });
  }
  if (addresses.length === 0) throw webError("host_not_found", url, { what: "is on a host that was not found" });
  return addresses;
}
