import { isAgentError } from "@loopwright/core";
import { expectSame, expectThat, type StoreKit } from "@loopwright/testing";
import { type ConfigStore, configLimits } from "../source/policy-source.ts";

/** The promises of `ConfigStore`. */
export const configStoreKit: StoreKit<ConfigStore> = [
  {
    id: "whole",
    promise: "gives a text back as it was stored, whatever it and its key hold",
    async run(make) {
      const store = await make();
      const odd = '{"a": "\u{1f600}\u0000\n\'"}';
      await store.put("a:{b}' %", odd);
      expectSame((await store.get("a:{b}' %"))?.text, odd, "the text");
      expectSame(await store.get("a"), undefined, "an entry that was never stored");
    },
  },
  {
    id: "revisions",
    promise: "gives each text a new revision, and returns the one that it has",
    async run(make) {
      const store = await make();
      const first = await store.put("k", "one");
      expectSame((await store.get("k"))?.revision, first, "the revision");
      const second = await store.put("k", "two");
      expectThat(second !== undefined && second !== first, "a change got no new revision");
      expectSame(await store.get("k"), { text: "two", revision: String(second) }, "the entry after a change");
    },
  },
  {
    id: "expected",
    promise: "changes an entry only if it has the expected revision",
    async run(make) {
      const store = await make();
      expectSame(await store.put("k", "never", { expected: "none" }), undefined, "a change of an entry that is not there");
      const first = await store.put("k", "one", { expected: null });
      expectThat(first !== undefined, "the first entry was refused");
      expectSame(await store.put("k", "late", { expected: null }), undefined, "a second first entry");
      const second = await store.put("k", "two", { expected: first ?? "" });
      expectSame(await store.put("k", "late", { expected: first ?? "" }), undefined, "a change on an old revision");
      expectSame(await store.get("k"), { text: "two", revision: String(second) }, "the entry");
    },
  },
  {
    id: "deleted",
    promise: "deletes an entry, and returns whether there was one",
    async run(make) {
      const store = await make();
      await store.put("k", "one");
      expectSame([await store.delete("k"), await store.delete("k"), await store.get("k")], [true, false, undefined], "what is left");
    },
  },
  {
    id: "bounds",
    promise: "refuses a key and a text that are too long, and keeps what there was",
    async run(make) {
      const store = await make();
      await store.put("k", "one");
      for (const [key, text] of [
        ["", "x"],
        ["k".repeat(configLimits.keyMax + 1), "x"],
        ["k", "x".repeat(configLimits.textMax + 1)],
      ] as const) {
        const error = await store.put(key, text).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expectThat(isAgentError(error, "INPUT_INVALID"), "an entry that is too long was taken");
      }
      expectSame((await store.get("k"))?.text, "one", "the entry");
    },
  },
];
