import { AgentError } from "@loopwright/core";
import type { ModelCapabilities } from "@loopwright/core/ports";
import { isLocalServer, type KnownServer, knownServerOf, type OpenAiCompat, openAiHost, otherServer } from "./compat.ts";

/** Options of `openai`. */
export interface OpenAiOptions {
  /** Default: OPENAI_API_KEY, or the variable of the server that `baseURL` names (`knownServers`). A local server needs none. */
  readonly apiKey?: string;
  /** Default: OPENAI_BASE_URL, else OpenAI itself. Any server that speaks the API, with its `/v1`. */
  readonly baseURL?: string;
  /**
   * Which of the two APIs. Default: `responses` for OpenAI itself, because only there reasoning is kept from turn to turn and its
   * newer models refuse tools beside reasoning in `chat`; `chat` for any other server, because that is what they all speak.
   */
  readonly api?: "chat" | "responses";
  /** The model of this instance where a request names none. Default: `defaultModel` for OpenAI itself, none elsewhere. */
  readonly model?: string;
  /** Header OpenAI-Organization; `null`: none, whatever the variable. Default: OPENAI_ORG_ID, for OpenAI itself alone. */
  readonly organization?: string | null;
  /** Header OpenAI-Project; `null`: none, whatever the variable. Default: OPENAI_PROJECT_ID, for OpenAI itself alone. */
  readonly project?: string | null;
  /** Name on facts and messages. Default `openai`. */
  readonly name?: string;
  /** The transport. Default: `nodeHttp()` of `@loopwright/provider-kit/node` on Node.js, elsewhere the global `fetch` at the time of the call. */
  readonly transport?: typeof fetch;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Where the server differs from its entry in `knownServers`, or from `otherServer`. */
  readonly compat?: Partial<OpenAiCompat>;
  /** Capabilities of this instance's models, where they differ from the table. */
  readonly capabilities?: Partial<ModelCapabilities>;
  /** Asks `responses` for a readable summary of the reasoning. Default: none, because OpenAI refuses it to unverified organisations. */
  readonly reasoningSummary?: "auto" | "concise" | "detailed";
}

/** Every option by name. */
export const knownOptions: { readonly [Name in keyof OpenAiOptions]-?: true } = {
  apiKey: true,
  baseURL: true,
  api: true,
  model: true,
  organization: true,
  project: true,
  name: true,
  transport: true,
  headers: true,
  compat: true,
  capabilities: true,
  reasoningSummary: true,
};

/** The options with every default filled in. */
export interface OpenAiSettings {
  readonly api: "chat" | "responses";
  readonly baseURL: string;
  /** Absent for a local server without a key. */
  readonly apiKey: string | undefined;
  readonly organization: string | null;
  readonly project: string | null;
  readonly compat: OpenAiCompat;
  /** For messages of errors. */
  readonly label: string;
  readonly isOpenAi: boolean;
  readonly reasoningSummary: OpenAiOptions["reasoningSummary"];
}

/** The environment of the process, where there is one; browsers and workers have none. */
export function environment(): Readonly<Record<string, string | undefined>> {
  const { process } = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } };
  return process?.env ?? {};
}

/**
 * Where requests go and how. @throws AgentError CONFIG_INVALID when the base URL is no address.
 */
export function settingsOf(options: OpenAiOptions, env: Readonly<Record<string, string | undefined>>): OpenAiSettings {
  const baseURL = options.baseURL ?? (env["OPENAI_BASE_URL"] || `https://${openAiHost}/v1`);
  const url = addressOf(baseURL);
  const known = knownServerOf(url);
  const isOpenAi = url.hostname === openAiHost;
  const own = (name: string): string | undefined => (isOpenAi ? env[name] || undefined : undefined);
  return {
    api: options.api ?? (isOpenAi ? "responses" : "chat"),
    baseURL,
    apiKey: options.apiKey ?? (env[known?.keyVariable ?? "OPENAI_API_KEY"] || undefined),
    organization: options.organization === undefined ? (own("OPENAI_ORG_ID") ?? null) : options.organization,
    project: options.project === undefined ? (own("OPENAI_PROJECT_ID") ?? null) : options.project,
    compat: { ...otherServer, ...known?.compat, ...options.compat },
    label: known?.label ?? url.host,
    isOpenAi,
    reasoningSummary: options.reasoningSummary,
  };
}

/** The key, `undefined` for a local server without one. @throws AgentError MODEL_KEY_MISSING naming the variable. */
export function requireKey(settings: OpenAiSettings): string | undefined {
  if (settings.apiKey !== undefined && settings.apiKey !== "") return settings.apiKey;
  const url = new URL(settings.baseURL);
  if (isLocalServer(url)) return undefined;
  const known: KnownServer | undefined = knownServerOf(url);
  const variable = known?.keyVariable ?? "OPENAI_API_KEY";
  throw new AgentError("MODEL_KEY_MISSING", {
    message: `No key for ${settings.label} was given.`,
    fix: `Set ${variable} or pass \`apiKey\`.`,
    details: { variable },
  });
}

function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AgentError("CONFIG_INVALID", {
      message: "The base URL for the OpenAI API is not a valid address.",
      fix: "Pass a `baseURL` that begins with http:// or https:// and ends with the API's version, for example /v1.",
    });
  }
  return url;
}
