/**
 * Secrets by name, each in a scope (a tenant): a name of another scope is absent here. Keep them encrypted. Only `get` shows a value; no other method, error
 * or log entry does. A value that cannot be read is SECRET_UNREADABLE, never absent and never another value.
 */
export interface SecretStore {
  /** The current value, never a cached one; `undefined`: there is none. @throws AgentError INPUT_INVALID, SECRET_UNREADABLE, STORE_* */
  get(scope: string, name: string): Promise<string | undefined>;
  /** Stores the value in place of an earlier one, whole or not at all. @throws AgentError INPUT_INVALID, STORE_*, STORE_READ_ONLY */
  set(scope: string, name: string, value: string): Promise<void>;
  /** False if there was none. @throws AgentError INPUT_INVALID, STORE_*, STORE_READ_ONLY */
  remove(scope: string, name: string): Promise<boolean>;
  /** The names of the scope, sorted. @throws AgentError INPUT_INVALID, STORE_* */
  names(scope: string): Promise<readonly string[]>;
}

export const secretLimits: { readonly valueMax: number } = {
  /** Characters of a value. */
  valueMax: 16_384,
};
