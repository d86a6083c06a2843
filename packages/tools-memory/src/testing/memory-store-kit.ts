import { isAgentError } from "@loopwright/core";
import { expectSame, expectThat, type StoreKit } from "@loopwright/testing";
import { type Memory, type MemoryStore, memoryLimits } from "../memory-store.ts";

const ann = { user: "ann", scope: "one" };
const memory = (id: string, text: string, createdAt = 1): Memory => ({ id, text, createdAt, sessionId: "s" });
const idsOf = (memories: readonly Memory[]): readonly string[] => memories.map(({ id }) => id);

/** The promises of `MemoryStore`. */
export const memoryStoreKit: StoreKit<MemoryStore> = [
  {
    id: "whole",
    promise: "gives a fact back as it was stored, whatever it holds",
    async run(make) {
      const store = await make();
      const odd = {
        id: "a:b'\"",
        text: "Likes \"tea\" AND 'milk' NOT sugar* 東京\n\ud83d\ude00",
        createdAt: 1_767_225_600_000,
        sessionId: "s/1",
      };
      await store.put(ann, odd);
      expectSame(await store.search(ann, "tea", 5), [odd], "what was found");
      expectSame(await store.search(ann, "京", 5), [odd], "what was found by an ideograph");
    },
  },
  {
    id: "owners",
    promise: "shows, deletes and counts facts of their owner alone, whatever the names hold",
    async run(make) {
      const store = await make();
      const others = [
        { user: "bob", scope: "one" },
        { user: "ann", scope: "two" },
        { user: "one", scope: "ann" },
        { user: "nn", scope: "onea" },
        { user: '","ann', scope: "one" },
      ];
      await store.put(ann, memory("a", "tea"));
      for (const other of others) {
        expectSame(await store.search(other, "tea", 5), [], `what ${JSON.stringify(other)} found`);
        expectSame(await store.list(other, 5), [], `the list of ${JSON.stringify(other)}`);
        expectSame(await store.delete(other, "a"), false, "whether another owner deleted it");
        expectSame(await store.clear(other), 0, "what another owner cleared");
      }
      expectSame(idsOf(await store.list(ann, 5)), ["a"], "the owner's list");
    },
  },
  {
    id: "ranking",
    promise: "gives first what holds more of the words, then the newer, and no more than wanted",
    async run(make) {
      const store = await make();
      await store.put(ann, memory("one", "drinks tea", 1));
      await store.put(ann, memory("both", "drinks green tea", 2));
      await store.put(ann, memory("newer", "sells tea", 3));
      await store.put(ann, memory("other", "plays chess", 4));
      expectSame(idsOf(await store.search(ann, "green tea", 5)), ["both", "newer", "one"], "the ids");
      expectSame(idsOf(await store.search(ann, "green tea", 2)), ["both", "newer"], "the first two ids");
    },
  },
  {
    id: "words",
    promise: "finds words without case and accents, and longer ones that begin with them",
    async run(make) {
      const store = await make();
      await store.put(ann, memory("a", "Crème brûlée for BREAKFAST"));
      for (const query of ["creme", "BRÛLÉE", "break"]) expectSame(idsOf(await store.search(ann, query, 5)), ["a"], `what ${query} found`);
    },
  },
  {
    id: "no-operators",
    promise: "takes any query for words, and finds nothing where there are none",
    async run(make) {
      const store = await make();
      await store.put(ann, memory("a", "tea"));
      for (const query of [
        "",
        " ",
        '"',
        "* - ^",
        "coffee",
        'coffee" OR "tea*',
        "NEAR(tea)",
        "owner : x",
        "a".repeat(400),
        "b ".repeat(200),
      ])
        expectThat(Array.isArray(await store.search(ann, query, 5)), `It gave no list for ${JSON.stringify(query)}.`);
      expectSame(await store.search(ann, "coffee", 5), [], "what was found");
      expectSame(await store.search(ann, "* -", 5), [], "what was found without words");
    },
  },
  {
    id: "same-id",
    promise: "keeps the first fact of an id",
    async run(make) {
      const store = await make();
      await store.put(ann, memory("a", "tea", 1));
      await store.put(ann, memory("a", "coffee", 2));
      expectSame(await store.list(ann, 5), [memory("a", "tea", 1)], "the list");
      expectSame(await store.search(ann, "coffee", 5), [], "what was found of the second");
    },
  },
  {
    id: "deleted",
    promise: "finds nothing of a fact that was deleted, and takes it again",
    async run(make) {
      const store = await make();
      await store.put(ann, memory("a", "tea"));
      expectSame(await store.delete(ann, "a"), true, "whether it was deleted");
      expectSame(await store.delete(ann, "a"), false, "whether it was deleted twice");
      expectSame(await store.search(ann, "tea", 5), [], "what was found");
      await store.put(ann, memory("a", "tea again"));
      expectSame(idsOf(await store.search(ann, "again", 5)), ["a"], "what was found of the new one");
    },
  },
  {
    id: "cleared",
    promise: "clears all facts of an owner and gives their count",
    async run(make) {
      const store = await make();
      for (const id of ["a", "b", "c"]) await store.put(ann, memory(id, `tea ${id}`));
      expectSame(await store.clear(ann), 3, "the count");
      expectSame(await store.search(ann, "tea", 5), [], "what was found");
    },
  },
  {
    id: "list",
    promise: "lists the newest facts first",
    async run(make) {
      const store = await make();
      await store.put(ann, memory("b", "two", 2));
      await store.put(ann, memory("a", "one", 1));
      await store.put(ann, memory("c", "three", 3));
      expectSame(idsOf(await store.list(ann, 2)), ["c", "b"], "the ids");
    },
  },
  {
    id: "full",
    promise: "refuses a fact beyond the bound with STORE_FULL, and not of another owner",
    async run(make) {
      const store = await make();
      for (let count = 0; count < memoryLimits.perOwnerMax; count++) await store.put(ann, memory(`${count}`, "tea"));
      await store.put(ann, memory("0", "tea"));
      const refused = await store.put(ann, memory("more", "tea")).then(
        () => undefined,
        (error: unknown) => error,
      );
      expectThat(isAgentError(refused, "STORE_FULL"), `The fact beyond the bound: ${String(refused)}`);
      await store.put({ ...ann, user: "bob" }, memory("a", "tea"));
    },
  },
];
