import { AgentError } from "@loopwright/core";
import type { SecretStore } from "@loopwright/core/ports";
import { checkSecret } from "@loopwright/core/stores";

export interface EnvironmentSecretsOptions {
  /** The variables, by their names: `process.env`, or what a file of variables holds. Read at each call. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The variables that are secrets. The others of an environment are not listed and not given. */
  readonly names: readonly string[];
  /** The scope that they belong to. Default `_platform`. */
  readonly scope?: string;
}

/** Variables of the environment as a store that is read only: `set` and `remove` are STORE_READ_ONLY. An empty variable is absent. */
export function environmentSecrets({ variables, names, scope: own = "_platform" }: EnvironmentSecretsOptions): SecretStore {
  const known = new Set(names);
  const heldValue = (scope: string, name: string): string | undefined => (scope === own && known.has(name) && variables[name]) || undefined;
  return {
    async get(scope, name) {
      checkSecret(scope, name);
      return heldValue(scope, name);
    },
    async set(scope, name, value) {
      checkSecret(scope, name, value);
      throw readOnly();
    },
    async remove(scope, name) {
      checkSecret(scope, name);
      if (heldValue(scope, name) === undefined) return false;
      throw readOnly();
    },
    async names(scope) {
      checkSecret(scope);
      return [...known].filter((name) => heldValue(scope, name) !== undefined).sort();
    },
  };
}

const readOnly = (): AgentError =>
  new AgentError("STORE_READ_ONLY", {
    message: "Secrets of the environment cannot be changed by a program.",
    fix: "Change the variable where the process is started.",
  });
