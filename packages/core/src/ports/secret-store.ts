import { AgentError } from "../errors.ts";

/**
 * Secrets by name, each in a scope (a tenant): a name of another scope is absent here. Keep them encrypted; no method, error or log entry shows a value but
 * `get`. A value that cannot be read is SECRET_UNREADABLE, never absent and never another value.
 */
export interface SecretStore {
  /** The value now, not one that an earlier call saw; `undefined`: there is none. @throws AgentError INPUT_INVALID, SECRET_UNREADABLE, STORE_* */
  get(scope: string, name: string): Promise<string | undefined>;
  /** Stores the value in the place of an earlier one, whole or not at all. @throws AgentError INPUT_INVALID, STORE_*, STORE_READ_ONLY */
  set(scope: string, name: string, value: string): Promise<void>;
  /** Whether there was one. @throws AgentError INPUT_INVALID, STORE_*, STORE_READ_ONLY */
  remove(scope: string, name: string): Promise<boolean>;
  /** The names of the scope, sorted. @throws AgentError INPUT_INVALID, STORE_* */
  names(scope: string): Promise<readonly string[]>;
}

export const secretLimits: { readonly valueMax: number } = {
  /** Characters of a value. */
  valueMax: 16_384,
};

const scopePattern = /^[a-z0-9_][a-z0-9_-]{0,63}$/;
const namePattern = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/;

/** Checks what every secret store is given. @throws AgentError INPUT_INVALID; no message has the value */
export function checkSecret(scope: string, name?: string, value?: string): void {
  if (typeof scope !== "string" || !scopePattern.test(scope))
    throw invalid("The scope of a secret is not usable.", "Use 1 to 64 of a-z, 0-9, _ and -.");
  if (name !== undefined && (typeof name !== "string" || !namePattern.test(name)))
    throw invalid(
      "The name of a secret is not usable.",
      "Use 1 to 128 letters, digits, _, ., : and -, beginning with a letter, a digit or _.",
    );
  if (value !== undefined && (typeof value !== "string" || value === "" || value.length > secretLimits.valueMax || !value.isWellFormed()))
    throw invalid("The value of a secret is not usable.", `Pass a text of 1 to ${secretLimits.valueMax} characters.`);
}

const invalid = (message: string, fix: string): AgentError => new AgentError("INPUT_INVALID", { message, fix });
