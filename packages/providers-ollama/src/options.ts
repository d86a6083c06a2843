import { AgentError } from "@loopwright/core";
import type { ModelCapabilities } from "@loopwright/core/ports";

/** The name of this wire on opaque parts. */
export const vendor = "ollama";
/** The vendor's name for people. */
export const vendorName = "Ollama";

export interface OllamaOptions {
  /** Default: the environment variable OLLAMA_HOST in any form that Ollama takes, else `http://127.0.0.1:11434`. */
  readonly baseURL?: string;
  /** Only for servers behind a key. Default: OLLAMA_API_KEY, and that only for https. */
  readonly apiKey?: string;
  /** Default model of this instance. Default `qwen3:4b`. */
  readonly model?: string;
  /** Name on facts and messages. Default `ollama`. */
  readonly name?: string;
  /** The transport. Default: the global `fetch`; `nodeHttp()` of `@loopwright/provider-kit/node` is one. */
  readonly fetch?: typeof globalThis.fetch;
  readonly headers?: Readonly<Record<string, string>>;
  /** Size of the context window (`num_ctx`) in tokens. The server's own default is small, and what does not fit is cut without a word. */
  readonly contextTokens?: number;
  /** How long the model stays loaded: a duration such as `10m`, or seconds; negative: for ever. */
  readonly keepAlive?: string | number;
  /** Corrects what `models.ts` guesses by the model's name. */
  readonly capabilities?: Partial<ModelCapabilities>;
}

/** Where an instance speaks to, without a slash at the end, and with what. @throws AgentError CONFIG_INVALID for an address that is none. */
export function connectionOf(options: OllamaOptions): {
  readonly baseURL: string;
  readonly headers: Record<string, string>;
  readonly secrets: readonly string[];
} {
  const environment = globalThis.process?.env;
  const baseURL = (options.baseURL ?? addressOf(environment?.["OLLAMA_HOST"] ?? "")).replace(/\/+$/, "");
  const key = (options.apiKey ?? (baseURL.startsWith("https:") ? environment?.["OLLAMA_API_KEY"] : undefined) ?? "").trim();
  if (key !== "" && !/^[\x21-\x7e]+$/.test(key)) {
    throw new AgentError("MODEL_AUTH", { message: `The key for ${vendorName} holds characters that no key has.` });
  }
  const headers = { "content-type": "application/json", ...(key === "" ? {} : { authorization: `Bearer ${key}` }), ...options.headers };
  return { baseURL, headers, secrets: key === "" ? [] : [key] };
}

/**
 * The address that OLLAMA_HOST means: `host`, `host:port`, `:port` or a whole URL. Without a scheme the port is 11434, with
 * one it is the scheme's own. An address to listen on everywhere is one to reach on this machine.
 * @see https://docs.ollama.com/faq (2026-11-21)
 */
export function addressOf(host: string): string {
  const text = host.trim().replace(/^["']|["']$/g, "");
  const hasScheme = /^https?:\/\//i.test(text);
  const rest = text === "" || text.startsWith(":") ? `127.0.0.1${text}` : text;
  const hasPort = /^[^/]*:\d+(?:\/|$)/.test(rest);
  let url: URL;
  try {
    url = new URL(hasScheme ? rest : `http://${rest}`);
  } catch (cause) {
    throw new AgentError("CONFIG_INVALID", {
      message: "OLLAMA_HOST is not an address.",
      fix: "Set it to host:port or to a URL, or pass `baseURL`.",
      cause,
    });
  }
  if (!hasScheme && !hasPort) url.port = "11434";
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url.href.replace(/\/+$/, "");
}
