import { searchWords } from "@loopwright/core/stores";
import { expectSame, expectThat, type StoreKit } from "@loopwright/testing";
import type { KnowledgeDocument, KnowledgeStore, PassageHit, StoredPassage } from "../src/index.ts";

/** An empty store. */
export interface KnowledgeStoreUnderTest {
  readonly store: KnowledgeStore;
}

const scope = "acme";
const collection = "shared";
const embedding = "letters/1";

const documentOf = (id: string, changes: Partial<KnowledgeDocument> = {}): KnowledgeDocument => ({
  id,
  collection,
  title: `Title of ${id}`,
  kind: "text",
  passageCount: 1,
  embedding,
  ...changes,
});

const passage = (text: string, vector?: readonly number[]): StoredPassage => ({
  text,
  words: searchWords(text),
  ...(vector ? { vector: Float32Array.from(vector) } : {}),
});

const sources = (hits: readonly PassageHit[]): readonly string[] => hits.map(({ document, index }) => `${document.id}#${index}`);
const everywhere = { scope, collections: [collection], limit: 10 };
const east = Float32Array.from([1, 0]);

/** The promises of `KnowledgeStore`. */
export const knowledgeStoreKit: StoreKit<KnowledgeStoreUnderTest> = [
  {
    id: "words",
    promise: "passages that hold a rarer word, or a word more often, come first, and those without any of the words not at all",
    async run(make) {
      const { store } = await make();
      await store.put(scope, documentOf("a", { passageCount: 2 }), [
        passage("the boat and the river"),
        passage("the boat of the boat owner"),
      ]);
      await store.put(scope, documentOf("b"), [passage("the zebra looks at the boat house over there")]);
      await store.put(scope, documentOf("c"), [passage("nothing of the kind")]);
      for (const filler of ["d", "e", "f", "g"]) await store.put(scope, documentOf(filler), [passage(`other words, ${filler}`)]);
      expectSame(sources(await store.byWords(everywhere, ["zebra", "boat"]))[0], "b#0", "the best for a rare word");
      expectSame(sources(await store.byWords(everywhere, ["boat"])).slice(0, 2), ["a#1", "a#0"], "the order by how often");
      expectSame(sources(await store.byWords(everywhere, ["boat"])).toSorted(), ["a#0", "a#1", "b#0"], "the holders of the word");
      expectSame(sources(await store.byWords(everywhere, ["hovercraft"])), [], "the holders of an unknown word");
    },
  },
  {
    id: "vectors",
    promise: "passages come by the cosine of their vectors, and those without a vector of this embedder not at all",
    async run(make) {
      const { store } = await make();
      const passages = [passage("west", [-1, 0]), passage("north", [0, 1]), passage("north east", [0.6, 0.8]), passage("none")];
      await store.put(scope, documentOf("a", { passageCount: 4 }), passages);
      await store.put(scope, documentOf("b", { embedding: "other/1" }), [passage("east", [1, 0])]);
      await store.put(scope, documentOf("c"), [passage("longer", [1, 0, 0])]);
      const query = { embedding, vector: east };
      expectSame(sources(await store.byVector(everywhere, query)), ["a#2", "a#1", "a#0"], "the order by vectors");
      expectSame(sources(await store.byVector({ ...everywhere, limit: 1 }, query)), ["a#2"], "the best");
    },
  },
  {
    id: "limit",
    promise: "a search gives no more hits than its limit, the best ones",
    async run(make) {
      const { store } = await make();
      for (let at = 0; at < 6; at++) await store.put(scope, documentOf(`d${at}`), [passage(`boat ${"filler ".repeat(at)}`, [1, 0])]);
      await store.put(scope, documentOf("other"), [passage("the rest of the words"), passage("more of the rest")]);
      expectSame(sources(await store.byWords({ ...everywhere, limit: 2 }, ["boat"])), ["d0#0", "d1#0"], "hits by words");
      expectSame((await store.byVector({ ...everywhere, limit: 2 }, { embedding, vector: east })).length, 2, "hits by vectors");
    },
  },
  {
    id: "hit",
    promise: "a hit has the text, its place in the document, and the document's id, collection, title and kind",
    async run(make) {
      const { store } = await make();
      await store.put(scope, documentOf("a", { kind: "pasted", passageCount: 2 }), [passage("one"), passage("Two, “ü”!", [1, 0])]);
      const hit: PassageHit = { document: { id: "a", collection, title: "Title of a", kind: "pasted" }, index: 1, text: "Two, “ü”!" };
      expectSame(await store.byWords(everywhere, ["two"]), [hit], "the hit by words");
      expectSame(await store.byVector(everywhere, { embedding, vector: east }), [hit], "the hit by vectors");
    },
  },
  {
    id: "scope",
    promise: "a search never gives what another scope or another collection has, also under the same ids",
    async run(make) {
      const { store } = await make();
      await store.put("other", documentOf("a"), [passage("secret boat", [1, 0])]);
      await store.put(scope, documentOf("a", { collection: "session/1" }), [passage("attached boat", [1, 0])]);
      for (const collections of [[collection], [], ["session/2"], ["%"], ["session"]]) {
        const place = { scope, collections, limit: 10 };
        expectSame(await store.byWords(place, ["boat", "secret"]), [], `hits by words in ${collections.join()}`);
        expectSame(await store.byVector(place, { embedding, vector: east }), [], `hits by vectors in ${collections.join()}`);
      }
      const both = await store.byWords({ scope, collections: [collection, "session/1", "session/1"], limit: 10 }, ["boat"]);
      expectSame(
        both.map(({ text }) => text),
        ["attached boat"],
        "hits in several collections",
      );
      expectSame(await store.list(scope, collection), [], "the list of the other collection");
      expectSame(await store.remove(scope, collection, "a"), false, "removed from the other collection");
      expectThat((await store.list("other", collection)).length === 1, "The other scope lost its document.");
    },
  },
  {
    id: "replace",
    promise: "a document of the same collection and id takes the place of the one before, with all its passages",
    async run(make) {
      const { store } = await make();
      await store.put(scope, documentOf("a", { passageCount: 2 }), [passage("old boat", [1, 0]), passage("older boat", [1, 0])]);
      await store.put(scope, documentOf("a", { title: "New" }), [passage("new ship", [0, 1])]);
      expectSame(await store.byWords(everywhere, ["boat", "old", "older"]), [], "hits of what was replaced");
      expectSame(sources(await store.byVector(everywhere, { embedding, vector: east })), ["a#0"], "vectors of what was replaced");
      expectSame(await store.list(scope, collection), [documentOf("a", { title: "New" })], "the list");
    },
  },
  {
    id: "remove",
    promise: "a removed document is found by no search and in no list, others stay",
    async run(make) {
      const { store } = await make();
      await store.put(scope, documentOf("a", { passageCount: 2 }), [passage("boat one", [1, 0]), passage("boat two", [1, 0])]);
      await store.put(scope, documentOf("b"), [passage("boat three", [0, 1])]);
      expectSame(await store.remove(scope, collection, "a"), true, "removed");
      expectSame(await store.remove(scope, collection, "a"), false, "removed again");
      expectSame(sources(await store.byWords(everywhere, ["boat", "one", "two"])), ["b#0"], "hits by words");
      expectSame(sources(await store.byVector(everywhere, { embedding, vector: east })), ["b#0"], "hits by vectors");
      expectSame(
        (await store.list(scope, collection)).map(({ id }) => id),
        ["b"],
        "the list",
      );
    },
  },
  {
    id: "list",
    promise: "a list has the documents of one collection by id, as they were put",
    async run(make) {
      const { store } = await make();
      const { embedding: _, ...plain } = documentOf("a");
      const documents = [documentOf("b", { kind: "chat" }), plain];
      for (const document of documents) await store.put(scope, document, [passage("text")]);
      expectSame(await store.list(scope, collection), [plain, documents[0]], "the list");
    },
  },
];
