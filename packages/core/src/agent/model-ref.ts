import type { Access, Labels } from "../loop/fact.ts";
import type { KeyOwner } from "../loop/retry/next-model-of-chain.ts";
import type { ModelProvider } from "../ports/model-provider.ts";

/** A model: the provider that calls it, its name, and the owner of the key that is charged. */
export interface ModelRef {
  /** The provider of the model. */
  readonly provider: ModelProvider;
  /** The vendor's name of the model. */
  readonly model: string;
  /** Default `platform`. A fallback chain stays with one owner unless the agent allows a crossing. */
  readonly keyOwner: KeyOwner;
  /** Name of the key, if its owner has several: each key has its own circuit. Never the key itself. */
  readonly keyId?: string;
}

/** The call that needs a model. */
export interface ModelQuestion {
  /** The user whose run it is. */
  readonly access: Access;
  readonly sessionId: string;
  readonly agent: string;
  /** Labels of the input. */
  readonly labels: Labels;
  /** The model that the agent would call. */
  readonly model: ModelRef;
}

/**
 * Chooses the model of a call; `undefined`: the agent's. Called before each attempt, so a changed key counts from the next attempt on. A model that it
 * returns has no fallback, because the agent's chain belongs to other keys. An error that it throws ends the run.
 */
export type ResolveModel = (question: ModelQuestion) => ModelRef | undefined | Promise<ModelRef | undefined>;

/** The main function of a provider package: returns a `ModelRef` for the name of a model, otherwise the provider. */
export interface ProviderEntry<Options extends object> {
  (options?: Options): ModelProvider;
  (model: string, options?: Options & { readonly keyOwner?: KeyOwner }): ModelRef;
}

/**
 * Makes the main function of a provider package from `create`: `openai({ apiKey })` is the provider,
 * `openai("gpt-5", { apiKey })` is one of its models.
 */
export function providerEntry<Options extends object>(create: (options?: Options) => ModelProvider): ProviderEntry<Options> {
  function entry(options?: Options): ModelProvider;
  function entry(model: string, options?: Options & { readonly keyOwner?: KeyOwner }): ModelRef;
  function entry(first?: Options | string, options?: Options & { readonly keyOwner?: KeyOwner }): ModelProvider | ModelRef {
    if (typeof first !== "string") return create(first);
    if (options === undefined) return { provider: create(), model: first, keyOwner: "platform" };
    const { keyOwner = "platform" } = options;
    // The provider refuses options that it does not know. A copy without the property keeps the type `Options`, which `...rest` of a type parameter loses.
    const own: Options & { keyOwner?: KeyOwner } = { ...options };
    delete own.keyOwner;
    return { provider: create(own), model: first, keyOwner };
  }
  return entry;
}

/** True for a model that a `ProviderEntry` returned. */
export function isModelRef(value: unknown): value is ModelRef {
  const ref = value as Partial<ModelRef> | null | undefined;
  return typeof ref?.provider?.stream === "function" && typeof ref.model === "string" && ref.model !== "";
}
