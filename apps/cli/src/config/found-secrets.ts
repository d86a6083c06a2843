/** A file of secrets: of this working directory, or of the user for all of them. */
export interface SecretPlace {
  readonly kind: "local" | "global";
  readonly path: string;
}

/** Secrets by name, and where each stands. */
export interface FoundSecrets {
  readonly values: Readonly<Record<string, string>>;
  readonly places: Readonly<Record<string, SecretPlace>>;
}
