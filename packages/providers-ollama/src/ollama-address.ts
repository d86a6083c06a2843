import { AgentError } from "@loopwright/core";

/** Ports where the text names none, by the scheme that it names. */
const ports: { readonly [scheme: string]: string } = { http: "80", https: "443" };
const ownPort = "11434";

/**
 * The URL that a value of OLLAMA_HOST means, without a slash at its end, read as Ollama's own tools read it: `host`, `host:port`, `:port`, an
 * address of IPv6 with or without brackets, or a whole URL. Without a scheme the port is 11434, with one it is the scheme's own; so it is where
 * the port is none. Empty or absent: this machine. An address to listen on everywhere is one to reach on this machine. A name and a password
 * before the host are kept.
 * @throws AgentError CONFIG_INVALID for a value that is no address
 * @see https://github.com/ollama/ollama/blob/main/envconfig/config.go (2026-11-23)
 */
export function ollamaAddress(host = ""): string {
  const text = host
    .trim()
    .replace(/^["']+|["']+$/g, "")
    .trim();
  const named = /^([^:/?#]*):\/\//.exec(text)?.[1]?.toLowerCase();
  if (named !== undefined && !(named in ports)) throw notAnAddress();
  const [, login = "", place = "", path = ""] =
    /^(?:([^/?#]*)@)?([^/?#]*)(.*)$/.exec(named === undefined ? text : text.slice(named.length + 3)) ?? [];
  const isHosted = named === undefined && place === "ollama.com";
  const { name, port } = partsOf(place);
  const scheme = named ?? (isHosted ? "https" : "http");
  const shownPort = isPort(port) ? port : named !== undefined || isHosted ? (ports[scheme] ?? ownPort) : ownPort;
  try {
    const url = new URL(`${scheme}://${login === "" ? "" : `${login}@`}${reachable(name)}:${shownPort}${path}`);
    return url.href.replace(/\/+$/, "");
  } catch {
    // The text may hold a password, and so may the cause.
    throw notAnAddress();
  }
}

/** A text with more than one colon is an address of IPv6, with its port only behind brackets. */
function partsOf(place: string): { readonly name: string; readonly port: string } {
  const [, bracketed, portBehind = ""] = /^\[(.*)\](?::(.*))?$/.exec(place) ?? [];
  if (bracketed !== undefined) return { name: `[${bracketed}]`, port: portBehind };
  if (place.split(":").length > 2) return { name: `[${place}]`, port: "" };
  const [name = "", port = ""] = place.split(":");
  return { name, port };
}

const isPort = (port: string): boolean => /^\d{1,5}$/.test(port) && Number(port) <= 65_535;

function reachable(name: string): string {
  if (name === "" || name === "0.0.0.0") return "127.0.0.1";
  return name === "[::]" ? "[::1]" : name;
}

const notAnAddress = (): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: "OLLAMA_HOST is not an address.",
    fix: "Set it to a host like 192.168.1.20:11434, or to a URL that begins with http:// or https://.",
  });
