import { checkEntry } from "./check-entry.ts";
import type { ConfigStore, StoredText } from "./policy-source.ts";

/** Entries of this process alone. */
export function inMemoryConfig(): ConfigStore {
  const entries = new Map<string, StoredText>();
  return {
    get: async (key) => entries.get(key),
    async put(key, text, { expected } = {}) {
      checkEntry(key, text);
      if (expected !== undefined && (entries.get(key)?.revision ?? null) !== expected) return undefined;
      const revision = crypto.randomUUID();
      entries.set(key, { text, revision });
      return revision;
    },
    delete: async (key) => entries.delete(key),
  };
}
