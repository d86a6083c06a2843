import { proveKit, runKit, toolKit } from "@loopwright/testing";
import { describe, it, onTestFinished } from "vitest";
import { inMemoryStore, type MemoryStore, memoryTools } from "../src/index.ts";
import { sqliteMemory } from "../src/node/index.ts";
import { memoryStoreKit } from "../src/testing/index.ts";

const stores: Readonly<Record<string, () => Promise<MemoryStore>>> = {
  "the store in memory": async () => inMemoryStore(),
  "the store on SQLite": async () => {
    const store = sqliteMemory({ path: ":memory:" });
    onTestFinished(() => store.close());
    return store;
  },
};

for (const [name, make] of Object.entries(stores))
  describe(`${name} keeps the promises of a memory (B98)`, () => runKit(it, memoryStoreKit, { make }));

/** A store over a good one with one defect. */
const spoiled = (spoil: (inner: MemoryStore) => Partial<MemoryStore>) => async (): Promise<MemoryStore> => {
  const inner = inMemoryStore();
  return { ...inner, ...spoil(inner) };
};
const everyone = { user: "all", scope: "all" };

describe("the kit of a memory", () => {
  proveKit(it, memoryStoreKit, [
    {
      defect: "changes the words of facts",
      breaks: ["whole"],
      make: spoiled(({ put }) => ({ put: (owner, memory) => put(owner, { ...memory, text: memory.text.replaceAll("\n", " ") }) })),
    },
    {
      defect: "shows the facts of other users",
      breaks: ["owners"],
      make: spoiled(({ list, search, ...inner }) => ({
        async put(owner, memory) {
          await inner.put(everyone, memory).catch(() => {});
          await inner.put(owner, memory);
        },
        search: async (owner, query, count) =>
          (await list(owner, 1)).length === 0 ? search(everyone, query, count) : search(owner, query, count),
        async clear(owner) {
          await inner.clear(everyone);
          return inner.clear(owner);
        },
        async delete(owner, id) {
          const was = await inner.delete(owner, id);
          if (was) await inner.delete(everyone, id);
          return was;
        },
      })),
    },
    {
      defect: "gives the oldest first",
      breaks: ["ranking"],
      make: spoiled(({ search }) => ({ search: async (...args) => (await search(...args)).toReversed() })),
    },
    {
      defect: "finds words in their own case alone",
      breaks: ["words"],
      make: spoiled(({ search }) => ({ search: async (owner, query, count) => (query === "BRÛLÉE" ? [] : search(owner, query, count)) })),
    },
    {
      defect: "fails for what looks like an operator",
      breaks: ["no-operators"],
      make: spoiled(({ search }) => ({
        search: (owner, query, count) => (query.includes('"') ? Promise.reject(new Error("syntax")) : search(owner, query, count)),
      })),
    },
    {
      defect: "replaces a fact of the same id",
      breaks: ["same-id"],
      make: spoiled((inner) => ({
        async put(owner, memory) {
          await inner.delete(owner, memory.id);
          await inner.put(owner, memory);
        },
      })),
    },
    {
      defect: "keeps what is deleted",
      breaks: ["deleted"],
      make: spoiled(({ list }) => ({ delete: async (owner, id) => (await list(owner, 2_000)).some((memory) => memory.id === id) })),
    },
    {
      defect: "keeps what is cleared",
      breaks: ["cleared"],
      make: spoiled(({ list }) => ({ clear: async (owner) => (await list(owner, 2_000)).length })),
    },
    {
      defect: "lists the oldest first",
      breaks: ["list"],
      make: spoiled(({ list }) => ({ list: async (owner, count) => (await list(owner, 2_000)).toReversed().slice(0, count) })),
    },
    {
      defect: "drops what is too much without a word",
      breaks: ["full"],
      make: spoiled(({ put }) => ({ put: (...args) => put(...args).catch(() => {}) })),
    },
  ]);
});

const lacks = ["streaming", "failing"].map((capability) => ({ capability, reason: "its answer is short, and its store does not fail" }));
const argumentsOf = { store_memory: { fact: "Likes tea." }, retrieve_memory: { query: "tea" }, delete_memory: { id: "a" } };

for (const [name, args] of Object.entries(argumentsOf))
  describe(`${name} keeps the promises of a tool (B98)`, () => {
    const make = async () => {
      const tool = memoryTools({ store: inMemoryStore() }).find((candidate) => candidate.name === name);
      if (!tool) throw new Error(`There is no tool ${name}.`);
      return { tool, args };
    };
    runKit(it, toolKit, { make, lacks });
  });
