import type { JsonObject } from "@loopwright/core";
import { AgentError } from "@loopwright/core";
import type { ModelCapabilities } from "@loopwright/core/ports";

/** The name of this wire on opaque parts. */
export const vendor = "anthropic";
/** The vendor's name for people. */
export const vendorName = "Anthropic";

export interface AnthropicOptions {
  /** Default: the environment variable ANTHROPIC_API_KEY, read at the first call. */
  readonly apiKey?: string;
  /** In place of the key, for gateways: sent as `Authorization: Bearer` whatever the `version`. */
  readonly authToken?: string;
  /** Default `https://api.anthropic.com`. ANTHROPIC_BASE_URL is not read. */
  readonly baseURL?: string;
  /** Default model of this instance; see `models.ts`. */
  readonly model?: string;
  /** Name on facts and messages. Default `anthropic`. */
  readonly name?: string;
  /** The transport. Default: `nodeHttp()` of `@loopwright/provider-kit/node` on Node.js, elsewhere the global `fetch` at the time of the call. */
  readonly transport?: typeof globalThis.fetch;
  readonly headers?: Readonly<Record<string, string>>;
  /** The `anthropic-version` header, for compatible servers that only know an older date such as `2023-06-01`; the key is then sent as `x-api-key`. Default: the SDK's. */
  readonly version?: string;
  /** How long cached prefixes live. Default `5m`. */
  readonly cacheTtl?: "5m" | "1h";
  /** What comes of the model's thinking: a summary or only its signature. Default `summarized`. */
  readonly thinkingDisplay?: "summarized" | "omitted";
  /**
   * What a model that binds its thinking to the conversation does when the prompt, the tools or the history before it have
   * changed (a prompt with the time in it, a summary, another branch): forget that thinking, or refuse the request. Default `drop`.
   */
  readonly staleThinking?: "drop" | "error";
  /** Tools that the vendor runs itself (web search, code execution, MCP toolsets), as it documents them. Their blocks are kept, not shown as calls. */
  readonly serverTools?: readonly JsonObject[];
  /** Overrides the table in `models.ts`, for models and servers that are not in it. */
  readonly capabilities?: Partial<ModelCapabilities>;
}

/** Every option by name. */
export const knownOptions: { readonly [Name in keyof AnthropicOptions]-?: true } = {
  apiKey: true,
  authToken: true,
  baseURL: true,
  model: true,
  name: true,
  transport: true,
  headers: true,
  version: true,
  cacheTtl: true,
  thinkingDisplay: true,
  staleThinking: true,
  serverTools: true,
  capabilities: true,
};

/** The credential of a request: a key, or a gateway's token. */
export type Credential = { readonly apiKey: string } | { readonly authToken: string };

const keyVariable = "ANTHROPIC_API_KEY";

/**
 * The credential of an instance, trimmed.
 * @throws AgentError MODEL_KEY_MISSING when there is none; MODEL_AUTH when it holds characters that no header may have.
 */
export function credentialOf(options: AnthropicOptions): Credential {
  if (options.authToken !== undefined) return { authToken: checked(options.authToken) };
  const key = options.apiKey ?? globalThis.process?.env?.[keyVariable] ?? "";
  if (key.trim() === "") {
    throw new AgentError("MODEL_KEY_MISSING", {
      message: `${vendorName} has no key: ${keyVariable} is not set.`,
      fix: `Set ${keyVariable} or pass \`apiKey\`.`,
    });
  }
  return { apiKey: checked(key) };
}

/** A header with such a value would fail in the transport, whose error holds the key. */
function checked(secret: string): string {
  const trimmed = secret.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new AgentError("MODEL_AUTH", { message: `The key for ${vendorName} holds characters that no key has.` });
  }
  return trimmed;
}
