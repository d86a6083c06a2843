import { type Memory, type MemoryOwner, type MemoryStore, memoryLimits } from "./memory-store.ts";
import { memoryFull, newestFirst, queryWords, rankMemories } from "./rank-memories.ts";

/** Facts in this process alone: for tests and trials. */
export function inMemoryStore(): MemoryStore {
  const owners = new Map<string, Map<string, Memory>>();
  const keyOf = ({ user, scope }: MemoryOwner): string => JSON.stringify([scope, user]);
  const factsOf = (owner: MemoryOwner): ReadonlyMap<string, Memory> => owners.get(keyOf(owner)) ?? new Map();
  return {
    async put(owner, memory) {
      const facts = owners.get(keyOf(owner)) ?? new Map<string, Memory>();
      if (facts.has(memory.id)) return;
      if (facts.size >= memoryLimits.perOwnerMax) throw memoryFull();
      owners.set(keyOf(owner), facts.set(memory.id, { ...memory }));
    },
    search: async (owner, query, countMax) => rankMemories(factsOf(owner).values(), queryWords(query), countMax),
    list: async (owner, countMax) => [...factsOf(owner).values()].sort(newestFirst).slice(0, countMax),
    delete: async (owner, id) => owners.get(keyOf(owner))?.delete(id) ?? false,
    async clear(owner) {
      const { size } = factsOf(owner);
      owners.delete(keyOf(owner));
      return size;
    },
  };
}
