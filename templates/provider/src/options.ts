import { AgentError } from "@loopwright/core";

/** The name of this wire on opaque parts. */
export const vendor = "acme";
/** The vendor's name for people. */
export const vendorName = "Acme";

export interface AcmeOptions {
  /** Default: the environment variable ACME_API_KEY, read at the first call. */
  readonly apiKey?: string;
  /** Default `https://api.acme.example`. */
  readonly baseURL?: string;
  /** Default model of this instance; see `models.ts`. */
  readonly model?: string;
  /** The transport. Default: `nodeHttp()` of `@loopwright/provider-kit/node` on Node.js, elsewhere the global `fetch` at the time of the call. */
  readonly transport?: typeof globalThis.fetch;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Every option by name. */
export const knownOptions: { readonly [Name in keyof AcmeOptions]-?: true } = {
  apiKey: true,
  baseURL: true,
  model: true,
  transport: true,
  headers: true,
};

/** The key of an instance. @throws AgentError MODEL_KEY_MISSING when there is none. */
export function keyOf(options: AcmeOptions): string {
  const key = (options.apiKey ?? globalThis.process?.env?.["ACME_API_KEY"] ?? "").trim();
  if (key !== "") return key;
  throw new AgentError("MODEL_KEY_MISSING", {
    message: `${vendorName} has no key: ACME_API_KEY is not set.`,
    fix: "Set ACME_API_KEY or pass `apiKey`.",
  });
}
