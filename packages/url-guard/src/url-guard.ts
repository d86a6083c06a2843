import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isLinkLocalAddress, isPublicAddress } from "./address.ts";
import { type RefuseUrl, refusedUrl } from "./refused-url.ts";
import { type CheckedPolicy, checkPolicy, type UrlPolicy } from "./url-policy.ts";

/** Gives the IP addresses of a host name, in the order in which they should be tried. Rejects when there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** A URL that may be reached, at these addresses and no others: a name may point somewhere else at the next look-up. */
export interface AdmittedUrl {
  readonly url: URL;
  readonly addresses: readonly string[];
  /** It is one of the policy's `privateOrigins`. */
  readonly isPrivate: boolean;
}

/** Decides which URLs may be reached. */
export interface UrlGuard {
  /** Checks a URL, and where it came from by a redirect. @throws AgentError with `details.reason` when it may not be reached. */
  admit(url: URL, from?: AdmittedUrl): Promise<AdmittedUrl>;
}

const notPublic = "is not on the public web";

const resolveHost: ResolveHost = async (host) => (await lookup(host, { all: true, order: "verbatim" })).map(({ address }) => address);

export interface UrlGuardOptions {
  readonly policy?: UrlPolicy | undefined;
  /** Default: the look-up of the operating system. */
  readonly resolve?: ResolveHost | undefined;
  /** Makes the errors of refused URLs. Default `refusedUrl`. */
  readonly refuse?: RefuseUrl | undefined;
}

/** Longest URL that is taken. */
export const urlCharactersMax = 2_000;

/** The guard of a policy. @throws AgentError CONFIG_INVALID for a wrong policy. */
export function urlGuard({ policy = {}, resolve = resolveHost, refuse = refusedUrl }: UrlGuardOptions = {}): UrlGuard {
  const rules = { ...checkPolicy(policy), refuse };
  return {
    async admit(url, from) {
      const isPrivate = checkText(url, rules, from);
      const addresses = await addressesOf(url, resolve, refuse);
      const isAllowed = isPrivate ? (address: string) => !isLinkLocalAddress(address) : isPublicAddress;
      // One bad address is enough: a name with a public and a private address is an attack.
      if (!addresses.every(isAllowed)) throw refuse("blocked_address", url, { what: notPublic });
      return { url, addresses, isPrivate };
    },
  };
}

/** The URL that a text means, as browsers read it. @throws AgentError `invalid_url` */
export function parseUrl(text: string, { base, refuse = refusedUrl }: { readonly base?: URL; readonly refuse?: RefuseUrl } = {}): URL {
  const url = text.length > urlCharactersMax ? null : URL.parse(text, base?.href);
  if (!url) throw refuse("invalid_url", text, { what: "is not a URL, or has more than 2,000 characters" });
  return url;
}

interface GuardRules extends CheckedPolicy {
  readonly refuse: RefuseUrl;
}

/** What can be seen without a look-up. Returns whether the URL is of a private origin of the policy. */
function checkText(url: URL, rules: GuardRules, from: AdmittedUrl | undefined): boolean {
  const { refuse } = rules;
  if (!/^https?:$/.test(url.protocol)) throw refuse("scheme_not_allowed", url, { what: "has a scheme that is not allowed" });
  if (url.username !== "" || url.password !== "") throw refuse("credentials_in_url", url, { what: "holds a user name or a password" });
  if (rules.isPrivateOrigin(url.origin)) {
    if (from === undefined || from.isPrivate) return true;
    throw refuse("blocked_address", url, { what: "is not on the public web, and a public page redirected to it" });
  }
  if (!rules.isAllowedPort(url.port)) throw refuse("port_not_allowed", url, { what: "has a port that is not allowed" });
  // Names of this machine and of its network, whatever a resolver answers.
  if (/(^|\.)(localhost|local|internal|home\.arpa)$/.test(hostOf(url))) throw refuse("blocked_address", url, { what: notPublic });
  if (!rules.isAllowedHost(hostOf(url))) throw refuse("host_not_allowed", url, { what: "is on a host that the policy does not allow" });
  return false;
}

/** Without brackets and without the dot of the root. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

async function addressesOf(url: URL, resolve: ResolveHost, refuse: RefuseUrl): Promise<readonly string[]> {
  const host = hostOf(url);
  return isIP(host) === 0 ? resolveName(url, { host, resolve, refuse }) : [host];
}

interface NameSearch {
  readonly host: string;
  readonly resolve: ResolveHost;
  readonly refuse: RefuseUrl;
}

async function resolveName(url: URL, { host, resolve, refuse }: NameSearch): Promise<readonly string[]> {
  let addresses: readonly string[] = [];
  try {
    addresses = await resolve(host);
  } catch (cause) {
    throw refuse("host_not_found", url, { what: "is on a host that was not found", cause });
  }
  if (addresses.length === 0) throw refuse("host_not_found", url, { what: "is on a host that was not found" });
  return addresses;
}
