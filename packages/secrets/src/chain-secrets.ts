import { AgentError, isAgentError } from "@loopwright/core";
import type { SecretStore } from "@loopwright/core/ports";

/**
 * Several stores as one: the first that has a secret gives it. Only what is absent is looked for in the next one; a secret that cannot be read is an
 * error, because an older value behind it would take its place. `set` writes to the first store that takes it, and is refused with STORE_READ_ONLY where a store in
 * front of that one has the name and cannot be changed: it would hide the new value. `remove` removes from all that can be changed.
 * @throws AgentError CONFIG_INVALID for an empty list
 */
export function chainSecrets(stores: readonly SecretStore[]): SecretStore {
  if (stores.length === 0)
    throw new AgentError("CONFIG_INVALID", { message: "A chain of secret stores is empty.", fix: "Pass at least one store." });
  return {
    async get(scope, name) {
      for (const store of stores) {
        const value = await store.get(scope, name);
        if (value !== undefined) return value;
      }
      return undefined;
    },
    async set(scope, name, value) {
      let refused: unknown;
      for (const store of stores) {
        try {
          return await store.set(scope, name, value);
        } catch (error) {
          if (!isAgentError(error, "STORE_READ_ONLY")) throw error;
          refused ??= error;
          // What is behind it would be stored and never given.
          if ((await store.names(scope)).includes(name)) throw error;
        }
      }
      throw refused;
    },
    async remove(scope, name) {
      let isRemoved = false;
      let refused: unknown;
      for (const store of stores) {
        try {
          isRemoved = (await store.remove(scope, name)) || isRemoved;
        } catch (error) {
          if (!isAgentError(error, "STORE_READ_ONLY")) throw error;
          refused ??= error;
        }
      }
      if (refused !== undefined) throw refused;
      return isRemoved;
    },
    async names(scope) {
      const lists = await Promise.all(stores.map((store) => store.names(scope)));
      return [...new Set(lists.flat())].sort();
    },
  };
}
