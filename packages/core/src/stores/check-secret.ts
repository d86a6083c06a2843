import { AgentError } from "../errors.ts";
import { secretLimits } from "../ports/secret-store.ts";

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
