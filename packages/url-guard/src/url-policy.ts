import { AgentError } from "@loopwright/core";

/** Which URLs may be reached. */
export interface UrlPolicy {
  /** Hosts that may be reached: `example.com`, or `*.example.com` for all names below it. Default: every host with public addresses. */
  readonly allowedHosts?: readonly string[];
  /** Hosts that may not be reached, in the same form. They win over `allowedHosts`. */
  readonly blockedHosts?: readonly string[];
  /** Ports beside 80 and 443. */
  readonly ports?: readonly number[];
  /**
   * Origins such as `http://wiki.intranet:8080` that may be reached although their addresses are private: exactly these schemes, hosts and ports.
   * A URL of the public web cannot redirect to them, and link-local addresses, where clouds keep credentials, stay blocked.
   */
  readonly privateOrigins?: readonly string[];
}

/** A policy in the form that the guard reads. */
export interface CheckedPolicy {
  readonly isAllowedHost: (host: string) => boolean;
  readonly isAllowedPort: (port: string) => boolean;
  readonly isPrivateOrigin: (origin: string) => boolean;
}

/** @throws AgentError CONFIG_INVALID for a host, port or origin that can never match. */
export function checkPolicy(policy: UrlPolicy): CheckedPolicy {
  const { allowedHosts, blockedHosts = [], ports = [], privateOrigins = [] } = policy;
  for (const host of [...(allowedHosts ?? []), ...blockedHosts]) checkHost(host);
  for (const port of ports) if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalid(`The port ${port}`, "Use 1 to 65535.");
  for (const origin of privateOrigins) checkOrigin(origin);
  const ours = new Set(privateOrigins);
  const known = new Set(["", ...ports.map(String)]);
  return {
    isAllowedHost: (host) =>
      !blockedHosts.some((rule) => matches(host, rule)) && (allowedHosts?.some((rule) => matches(host, rule)) ?? true),
    isAllowedPort: (port) => known.has(port),
    isPrivateOrigin: (origin) => ours.has(origin),
  };
}

function matches(host: string, rule: string): boolean {
  return rule.startsWith("*.") ? host.endsWith(rule.slice(1)) : host === rule;
}

function checkHost(host: string): void {
  const name = host.startsWith("*.") ? host.slice(2) : host;
  if (URL.parse(`http://${name}/`)?.host !== name)
    throw invalid(`The host ${JSON.stringify(host)}`, "Use a name such as example.com or *.example.com.");
}

function checkOrigin(origin: string): void {
  const url = URL.parse(origin);
  if (url?.origin !== origin || !/^https?:$/.test(url.protocol))
    throw invalid(`The origin ${JSON.stringify(origin)}`, "Use scheme, host and port alone, such as http://wiki.intranet:8080.");
}

function invalid(what: string, fix: string): AgentError {
  return new AgentError("CONFIG_INVALID", { message: `${what} in the policy of URLs can never match.`, fix });
}
