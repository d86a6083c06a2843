import { proveKit, runKit } from "@loopwright/testing";
import { describe, it, onTestFinished } from "vitest";
import { type ApprovalRuleStore, inMemoryRules } from "../src/index.ts";
import { sqliteRules } from "../src/node/index.ts";
import { ruleStoreKit } from "../src/testing/index.ts";

const stores: Readonly<Record<string, () => Promise<ApprovalRuleStore>>> = {
  "the rules in memory": async () => inMemoryRules(),
  "the rules on SQLite": async () => {
    const store = sqliteRules({ path: ":memory:" });
    onTestFinished(() => store.close());
    return store;
  },
};

for (const [name, make] of Object.entries(stores)) describe(`${name} keep their promises`, () => runKit(it, ruleStoreKit, { make }));

/** A store over a good one with one defect. */
const spoiled = (spoil: (inner: ApprovalRuleStore) => Partial<ApprovalRuleStore>) => async (): Promise<ApprovalRuleStore> => {
  const inner = inMemoryRules();
  return { ...inner, ...spoil(inner) };
};

describe("the kit of rules", () => {
  proveKit(it, ruleStoreKit, [
    {
      defect: "widens what it keeps",
      breaks: ["whole"],
      make: spoiled(({ put }) => ({ put: (owner, rule) => put(owner, { ...rule, pattern: { args: {} } }) })),
    },
    {
      defect: "forgets the scope",
      breaks: ["owners"],
      make: spoiled((inner) => {
        const of = (owner: { user: string }): { user: string; scope: string } => ({ user: owner.user, scope: "all" });
        return {
          put: (owner, rule) => inner.put(of(owner), rule),
          list: (owner, tool) => inner.list(of(owner), tool),
          delete: (owner, id) => inner.delete(of(owner), id),
          clear: (owner) => inner.clear(of(owner)),
        };
      }),
    },
    {
      defect: "gives the oldest first",
      breaks: ["newest-first"],
      make: spoiled(({ list }) => ({
        list: async (owner, tool) => (await list(owner, tool)).toSorted((a, b) => a.createdAt - b.createdAt),
      })),
    },
    {
      defect: "keeps the first rule of an id",
      breaks: ["same-id"],
      make: spoiled(({ put, list }) => ({
        async put(owner, rule) {
          const known = (await list(owner)).some(({ id }) => id === rule.id);
          if (!known) await put(owner, rule);
        },
      })),
    },
    {
      defect: "keeps what is deleted",
      breaks: ["deleted"],
      make: spoiled(({ list }) => ({ delete: async (owner, id) => (await list(owner)).some((rule) => rule.id === id) })),
    },
    {
      defect: "drops what is too much without a word",
      breaks: ["full"],
      make: spoiled(({ put }) => ({ put: (owner, rule) => put(owner, rule).catch(() => {}) })),
    },
  ]);
});
