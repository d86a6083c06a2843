import { AgentError } from "@loopwright/core";
import type { ModelCapabilities } from "@loopwright/core/ports";
import { ollamaAddress } from "./ollama-address.ts";

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
  /** The transport. Default: `nodeHttp()` of `@loopwright/provider-kit/node` on Node.js, elsewhere the global `fetch` at the time of the call. */
  readonly transport?: typeof globalThis.fetch;
  readonly headers?: Readonly<Record<string, string>>;
  /** Size of the context window (`num_ctx`) in tokens. The server's own default is small, and what does not fit is cut without a word. */
  readonly contextTokens?: number;
  /** How long the model stays loaded: a duration such as `10m`, or seconds; negative: for ever. */
  readonly keepAlive?: string | number;
  /** Corrects what `models.ts` guesses by the model's name. */
  readonly capabilities?: Partial<ModelCapabilities>;
}

/** Every option by name. */
export const knownOptions: { readonly [Name in keyof OllamaOptions]-?: true } = {
  baseURL: true,
  apiKey: true,
  model: true,
  name: true,
  transport: true,
  headers: true,
  contextTokens: true,
  keepAlive: true,
  capabilities: true,
};

/** Where an instance speaks to, without a slash at the end and without credentials, and with what headers. */
export interface Connection {
  readonly baseURL: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What no error may show. */
  readonly secrets: readonly string[];
}

/** The connection of an instance. @throws AgentError CONFIG_INVALID for an address that is none; MODEL_AUTH for a key that no header can carry. */
export function connectionOf(options: OllamaOptions): Connection {
  const environment = globalThis.process?.env;
  const url = urlOf(options.baseURL ?? ollamaAddress(environment?.["OLLAMA_HOST"]));
  const key = (options.apiKey ?? (url.protocol === "https:" ? environment?.["OLLAMA_API_KEY"] : undefined) ?? "").trim();
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw new AgentError("MODEL_AUTH", { message: `The key for ${vendorName} holds characters that no key has.` });
  }
  // `fetch` refuses an address with a name and a password in it.
  const login = url.username === "" ? undefined : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const secrets = [key, decodeURIComponent(url.password)].filter((secret) => secret !== "");
  url.username = "";
  url.password = "";
  return {
    baseURL: url.href.replace(/\/+$/, ""),
    headers: {
      "content-type": "application/json",
      ...(login === undefined ? {} : { authorization: `Basic ${base64(login)}` }),
      ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
      ...options.headers,
    },
    secrets,
  };
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function urlOf(text: string): URL {
  try {
    return new URL(text);
  } catch {
    // The text may hold a password, and so may the cause.
    throw new AgentError("CONFIG_INVALID", {
      message: `The base URL of ${vendorName} is not an address.`,
      fix: "Pass a URL that begins with http:// or https://.",
    });
  }
}
