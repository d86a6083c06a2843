import { hostname, networkInterfaces } from "node:os";

/** True for names and addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** True for addresses that mean every network card. */
function isEveryAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** The host as it stands in a URL. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The addresses of this machine that others may know, IPv4 first. */
function ownAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((cards) => cards ?? []);
  const outer = all.filter((card) => !card.internal && !card.address.startsWith("fe80:"));
  return [...outer.filter((card) => card.family === "IPv4"), ...outer.filter((card) => card.family === "IPv6")].map((card) => card.address);
}

/** The names with port by which requests may call a server that listens there, beside loopback and the addresses of this machine. */
export function hostNames(host: string, port: number, allowed: readonly string[]): readonly string[] {
  const own = isLoopback(host) ? [] : isEveryAddress(host) ? [hostname()] : [host];
  const withPort = [...own, ...allowed.filter((name) => !/:\d+$/.test(name))].map((name) => `${urlHost(name)}:${port}`);
  return [...withPort, ...allowed];
}

/** Where a browser finds a server that listens on this host. */
export function openableHost(host: string): string {
  return urlHost(isEveryAddress(host) ? (ownAddresses()[0] ?? "127.0.0.1") : host);
}
