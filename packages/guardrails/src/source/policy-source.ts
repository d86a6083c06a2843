/** Where a policy is kept as JSON text. */
export interface PolicySource {
  /** For errors: the path of a file, or `the entry ... of ...`. */
  readonly name: string;
  /** The newest text; `undefined`: there is none, and the default policy holds. Equal revisions mean equal texts. */
  read(): Promise<StoredText | undefined>;
}

/** A text and the revision that it has. */
export interface StoredText {
  readonly text: string;
  readonly revision: string;
}

/** Entries of configuration that several processes share. */
export interface ConfigStore {
  /** @throws AgentError STORE_* */
  get(key: string): Promise<StoredText | undefined>;
  /**
   * Keeps a text, and gives its revision. `expected`: only if the entry still has this revision, or with `null` only if there is none; `undefined` is
   * given where it is not so. @throws AgentError INPUT_INVALID for a key or a text that is too long, STORE_*
   */
  put(key: string, text: string, options?: { readonly expected?: string | null }): Promise<string | undefined>;
  /** Whether there was an entry. */
  delete(key: string): Promise<boolean>;
}

/** The bounds of an entry, in characters. */
export const configLimits: { readonly keyMax: number; readonly textMax: number } = { keyMax: 200, textMax: 1_000_000 };

/** The key that a policy has where none is named. */
export const guardrailsKey = "guardrails";

/** The policy in an entry of a configuration store. */
export function storedPolicy(store: ConfigStore, key: string = guardrailsKey): PolicySource {
  return { name: `the entry \`${key}\` of the configuration store`, read: () => store.get(key) };
}
