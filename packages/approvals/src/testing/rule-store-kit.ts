import { isAgentError } from "@loopwright/core";
import type { ApprovalRule } from "@loopwright/core/ports";
import { expectSame, expectThat, type StoreKit } from "@loopwright/testing";
import { type ApprovalRuleStore, ruleLimits } from "../rule-store.ts";

const anne = { user: "anne", scope: "one" };
const rule = (id: string, more: Partial<ApprovalRule> = {}): ApprovalRule => ({
  ...{ id, toolName: "write", decision: "allow", pattern: { args: { path: { below: "src/" } } }, createdAt: 1 },
  ...more,
});
const idsOf = (rules: readonly ApprovalRule[]): readonly string[] => rules.map(({ id }) => id);

/** The promises of `ApprovalRuleStore`. */
export const ruleStoreKit: StoreKit<ApprovalRuleStore> = [
  {
    id: "whole",
    promise: "gives a rule back as it was stored, whatever it holds",
    async run(make) {
      const store = await make();
      const odd = rule("a:b'\"", {
        toolName: "x'y",
        decision: "deny",
        pattern: { args: { "a\"'\n": { equals: ["\u{1f600}", null, 1.5] } } },
        sessionId: "s",
      });
      await store.put(anne, odd);
      expectSame(await store.list(anne), [odd], "the rules");
      expectSame(await store.list(anne, "x'y"), [odd], "the rules of its tool");
    },
  },
  {
    id: "owners",
    promise: "shows and deletes rules of their owner alone, whatever the names hold",
    async run(make) {
      const store = await make();
      await store.put(anne, rule("a"));
      for (const other of [
        { user: "ben", scope: "one" },
        { user: "anne", scope: "two" },
        { user: "one", scope: "anne" },
        { user: "%", scope: "one" },
      ]) {
        expectSame(await store.list(other), [], `the rules of ${JSON.stringify(other)}`);
        expectSame(await store.delete(other, "a"), false, "whether another owner deleted it");
        expectSame(await store.clear(other), 0, "what another owner cleared");
      }
      expectSame(idsOf(await store.list(anne)), ["a"], "the rules of the owner");
    },
  },
  {
    id: "newest-first",
    promise: "lists the newest first, and of one tool its rules alone",
    async run(make) {
      const store = await make();
      await store.put(anne, rule("old", { createdAt: 1 }));
      await store.put(anne, rule("new", { createdAt: 3 }));
      await store.put(anne, rule("other", { createdAt: 2, toolName: "read" }));
      expectSame(idsOf(await store.list(anne)), ["new", "other", "old"], "the ids");
      expectSame(idsOf(await store.list(anne, "write")), ["new", "old"], "the ids of one tool");
    },
  },
  {
    id: "same-id",
    promise: "puts a rule in the place of one with the same id",
    async run(make) {
      const store = await make();
      await store.put(anne, rule("a"));
      await store.put(anne, rule("a", { decision: "deny", createdAt: 9 }));
      expectSame(
        (await store.list(anne)).map(({ decision, createdAt }) => [decision, createdAt]),
        [["deny", 9]],
        "the rules",
      );
    },
  },
  {
    id: "deleted",
    promise: "deletes one rule, or all of an owner, and returns what there was",
    async run(make) {
      const store = await make();
      for (const id of ["a", "b", "c"]) await store.put(anne, rule(id));
      expectSame([await store.delete(anne, "a"), await store.delete(anne, "a")], [true, false], "whether it was there");
      expectSame(idsOf(await store.list(anne)), ["b", "c"], "what is left");
      expectSame([await store.clear(anne), await store.clear(anne)], [2, 0], "what was cleared");
      expectSame(await store.list(anne), [], "what is left after that");
    },
  },
  {
    id: "full",
    promise: "refuses one rule too many, and still replaces those it has",
    async run(make) {
      const store = await make();
      for (let at = 0; at < ruleLimits.perOwnerMax; at++) await store.put(anne, rule(`r${at}`));
      const refusal: unknown = await store.put(anne, rule("more")).catch((error: unknown) => error);
      expectThat(isAgentError(refusal, "STORE_FULL"), `one too many gave ${String(refusal)}`);
      await store.put(anne, rule("r0", { decision: "deny" }));
      expectSame((await store.list(anne)).length, ruleLimits.perOwnerMax, "the number of rules");
    },
  },
];
