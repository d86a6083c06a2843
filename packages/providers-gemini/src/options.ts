import { AgentError, type JsonObject } from "@loopwright/core";
import type { ModelCapabilities } from "@loopwright/core/ports";

/** The name of this wire on opaque parts. */
export const vendor = "gemini";
/** The vendor's name for people. */
export const vendorName = "Gemini";

export interface GeminiOptions {
  /** Default: the environment variable GEMINI_API_KEY, else GOOGLE_API_KEY, read at the first call. */
  readonly apiKey?: string;
  /** Default `https://generativelanguage.googleapis.com`. GOOGLE_GEMINI_BASE_URL is not read. */
  readonly baseURL?: string;
  /** Default `v1beta`, which has every feature; the SDK's own default is `v1`. */
  readonly apiVersion?: string;
  /** Default model of this instance; see `models.ts`. */
  readonly model?: string;
  /** Name on facts and messages. Default `gemini`. */
  readonly name?: string;
  /** The transport. Default: `nodeHttp()` of `@loopwright/provider-kit/node` on Node.js, elsewhere the global `fetch` at the time of the call. */
  readonly transport?: typeof globalThis.fetch;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether models that think show a summary of it. Default true. */
  readonly includeThoughts?: boolean;
  /** Thresholds of the safety filters, as the vendor documents them. Default: the vendor's. */
  readonly safetySettings?: readonly JsonObject[];
  /** Tools that the vendor runs itself, for example `{ googleSearch: {} }`. Their parts are kept, not shown as calls. */
  readonly serverTools?: readonly JsonObject[];
  /** Overrides the table in `models.ts`, for models that are not in it. */
  readonly capabilities?: Partial<ModelCapabilities>;
}

/** Every option by name. */
export const knownOptions: { readonly [Name in keyof GeminiOptions]-?: true } = {
  apiKey: true,
  baseURL: true,
  apiVersion: true,
  model: true,
  name: true,
  transport: true,
  headers: true,
  includeThoughts: true,
  safetySettings: true,
  serverTools: true,
  capabilities: true,
};

const keyVariables = ["GEMINI_API_KEY", "GOOGLE_API_KEY"] as const;

/**
 * The key of an instance, trimmed.
 * @throws AgentError MODEL_KEY_MISSING when there is none; MODEL_AUTH when it holds characters that no header may have.
 */
export function keyOf(options: GeminiOptions): string {
  const environment = globalThis.process?.env;
  const named = keyVariables.map((name) => environment?.[name]).find((value) => value !== undefined && value.trim() !== "");
  const key = (options.apiKey ?? named ?? "").trim();
  if (key === "") {
    throw new AgentError("MODEL_KEY_MISSING", {
      message: `${vendorName} has no key: ${keyVariables[0]} is not set.`,
      fix: `Set ${keyVariables[0]} or pass \`apiKey\`.`,
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    // The transport would put the key into its error.
    throw new AgentError("MODEL_AUTH", { message: `The key for ${vendorName} holds characters that no key has.` });
  }
  return key;
}
