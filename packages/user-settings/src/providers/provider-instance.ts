import type { ModelProvider } from "@loopwright/core/ports";

/** A model that a user brought: where it is, and where its key is kept. The key itself is with the secrets. */
export interface AIProviderInstance {
  readonly instanceId: string;
  /** That of a registered builder. */
  readonly providerId: string;
  readonly model: string;
  /** The name of the key in the `SecretStore`, in the scope of the user. */
  readonly secretKeyRef: string;
  readonly displayName: string;
  /** Default: the vendor's own server. */
  readonly baseUrl?: string;
  /** Another one with each change: a changed key or address has a circuit of its own. */
  readonly revision: string;
}

/** What a user is shown of an instance: never the key. */
export interface ShownInstance {
  readonly instanceId: string;
  readonly providerId: string;
  readonly model: string;
  readonly displayName: string;
  readonly baseUrl?: string;
  /** The one whose model is called. */
  readonly active: boolean;
  readonly hasKey: boolean;
  /** Another one with each change; a change that names it is refused where another one came first. */
  readonly revision: string;
  /** It is the deployment's and cannot be changed. */
  readonly locked?: true;
}

/** What makes the provider of an instance for one call. */
export interface BuildOptions {
  /** Never empty. Take no other key in its place. */
  readonly apiKey: string;
  readonly model: string;
  /** Present with `transport`, which must be used for it. */
  readonly baseURL?: string;
  readonly transport?: typeof globalThis.fetch;
}

/** A vendor whose models users may bring. */
export interface ProviderBuilder {
  /** For people. */
  readonly title: string;
  /** Shown where the user names none. */
  readonly defaultModel?: string;
  /** `refused`: always the vendor's own server. `required`: a server of the user's own. Default `optional`. */
  readonly baseUrl?: "refused" | "optional" | "required";
  create(options: BuildOptions): ModelProvider;
}
