import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { searchWords } from "@loopwright/core/stores";
import { proveKit, runKit, type Saboteur } from "@loopwright/testing";
import { afterAll, describe, expect, it } from "vitest";
import { type KnowledgeStore, memoryKnowledgeStore, sqliteKnowledgeStore } from "../src/index.ts";
import { type KnowledgeStoreUnderTest, knowledgeStoreKit } from "./knowledge-store-kit.ts";

const folder = mkdtempSync(join(tmpdir(), "loopwright-knowledge-"));
let files = 0;
const freshPath = (): string => join(folder, `${++files}`, "knowledge.db");
const opened: KnowledgeStore[] = [];
const inFile = (path = freshPath()): KnowledgeStore => {
  const store = sqliteKnowledgeStore({ path, busyTimeoutMs: 100 });
  opened.push(store);
  return store;
};
afterAll(async () => {
  for (const store of opened) await store.close();
  rmSync(folder, { recursive: true });
});

const inMemory = async (): Promise<KnowledgeStoreUnderTest> => ({ store: memoryKnowledgeStore() });

describe("knowledge in memory keeps every promise", () => runKit(it, knowledgeStoreKit, { make: inMemory }));
describe("knowledge in a file of SQLite keeps every promise", () =>
  runKit(it, knowledgeStoreKit, { make: async () => ({ store: inFile() }) }));

const spoiled = (spoil: (honest: KnowledgeStore) => Partial<KnowledgeStore>) => async (): Promise<KnowledgeStoreUnderTest> => {
  const honest = memoryKnowledgeStore();
  return { store: { ...honest, ...spoil(honest) } };
};

const saboteurs: readonly Saboteur<KnowledgeStoreUnderTest>[] = [
  {
    defect: "gives hits by words in any order",
    breaks: ["words", "limit"],
    make: spoiled((honest) => ({ byWords: async (place, words) => (await honest.byWords(place, words)).toReversed() })),
  },
  {
    defect: "gives hits by vectors in any order",
    breaks: ["vectors"],
    make: spoiled((honest) => ({ byVector: async (place, query) => (await honest.byVector(place, query)).toReversed() })),
  },
  {
    defect: "compares vectors of any embedder",
    breaks: ["vectors"],
    make: spoiled((honest) => ({
      put: (scope, document, passages) =>
        honest.put(scope, { ...document, ...(document.embedding ? { embedding: "letters/1" } : {}) }, passages),
      list: async (scope, collection) => honest.list(scope, collection),
    })),
  },
  {
    defect: "overlooks the limit",
    breaks: ["limit", "vectors"],
    make: spoiled((honest) => ({
      byWords: (place, words) => honest.byWords({ ...place, limit: 100 }, words),
      byVector: (place, query) => honest.byVector({ ...place, limit: 100 }, query),
    })),
  },
  {
    defect: "gives words in place of the text",
    breaks: ["hit"],
    make: spoiled((honest) => ({
      byVector: async (place, query) =>
        (await honest.byVector(place, query)).map((hit) => ({ ...hit, text: searchWords(hit.text).join(" ") })),
    })),
  },
  {
    defect: "keeps all scopes together",
    breaks: ["scope"],
    make: spoiled((honest) => ({
      put: (_, document, passages) => honest.put("all", document, passages),
      remove: (_, collection, id) => honest.remove("all", collection, id),
      list: (_, collection) => honest.list("all", collection),
      byWords: (place, words) => honest.byWords({ ...place, scope: "all" }, words),
      byVector: (place, query) => honest.byVector({ ...place, scope: "all" }, query),
    })),
  },
  {
    defect: "adds the passages of a second version",
    breaks: ["replace"],
    make: spoiled((honest) => ({
      put: async (scope, document, passages) => {
        const [known] = (await honest.list(scope, document.collection)).filter(({ id }) => id === document.id);
        const old = await honest.byWords({ scope, collections: [document.collection], limit: 100 }, ["old", "older"]);
        const kept = old.map(({ text }) => ({ text, words: searchWords(text) }));
        await honest.put(scope, document, known ? [...passages, ...kept] : passages);
      },
    })),
  },
  {
    defect: "takes removed documents from the list alone",
    breaks: ["remove"],
    make: spoiled((honest) => {
      const removed = new Set<string>();
      return {
        remove: async (scope, collection, id) => {
          const isThere = !removed.has(id) && (await honest.list(scope, collection)).some((each) => each.id === id);
          if (isThere) removed.add(id);
          return isThere;
        },
        list: async (scope, collection) => (await honest.list(scope, collection)).filter(({ id }) => !removed.has(id)),
      };
    }),
  },
  {
    defect: "lists the newest first",
    breaks: ["list"],
    make: spoiled((honest) => ({ list: async (scope, collection) => (await honest.list(scope, collection)).toReversed() })),
  },
];

describe("the kit of knowledge", () => proveKit(it, knowledgeStoreKit, saboteurs));

const document = { id: "a", collection: "shared", title: "The forecast", kind: "text", passageCount: 1 } as const;
const passage = {
  text: "unmistakableword in a passage",
  words: ["unmistakableword", "in", "a", "passage"],
  vector: Float32Array.from([0.123, 0.456]),
};
const place = { scope: "acme", collections: ["shared"], limit: 5 };

describe("knowledge in a file", () => {
  it("is there for another process, and after it was closed", async () => {
    const path = freshPath();
    const first = inFile(path);
    const second = inFile(path);
    await first.put("acme", document, [passage]);
    expect(await second.byWords(place, ["unmistakableword"])).toHaveLength(1);
    await first.close();
    await second.close();
    expect(await inFile(path).list("acme", "shared")).toEqual([document]);
    await expect(first.list("acme", "shared")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("leaves nothing of a removed document in the file or beside it", async () => {
    const path = freshPath();
    const store = inFile(path);
    await store.put("acme", document, [passage]);
    await store.put("acme", { ...document, id: "b" }, [{ text: "something else", words: ["something", "else"] }]);
    const bytes = (): string =>
      readdirSync(join(path, ".."))
        .map((name) => readFileSync(join(path, "..", name), "latin1"))
        .join("");
    const traces = ["unmistakableword", "The forecast", Buffer.from(passage.vector.buffer).toString("latin1")];
    expect(traces.map((trace) => bytes().includes(trace))).toEqual([true, true, true]);
    await store.remove("acme", "shared", "a");
    await store.remove("acme", "shared", "b");
    expect(traces.map((trace) => bytes().includes(trace))).toEqual([false, false, false]);
    expect(bytes()).not.toContain("acme");
  });

  it("keeps the old version whole where the new one cannot be written", async () => {
    const store = inFile();
    await store.put("acme", document, [passage]);
    const broken = { text: null as unknown as string, words: [] };
    await expect(store.put("acme", document, [{ text: "new", words: ["new"] }, broken])).rejects.toThrow();
    expect(await store.byWords(place, ["unmistakableword"])).toHaveLength(1);
    expect(await store.byWords(place, ["new"])).toEqual([]);
  });

  it("looks at all vectors of its place over several steps", async () => {
    const store = inFile();
    const passages = Array.from({ length: 1_200 }, (_, at) => ({
      text: `${at}`,
      words: [],
      vector: Float32Array.from([Math.cos(at), Math.sin(at)]),
    }));
    await store.put("acme", { ...document, embedding: "e", passageCount: 1_200 }, passages);
    const hits = await store.byVector(
      { ...place, limit: 2 },
      { embedding: "e", vector: Float32Array.from([Math.cos(1_100), Math.sin(1_100)]) },
    );
    expect(hits[0]?.index).toBe(1_100);
  });

  it.each([
    ["a file of another program", (path: string) => new DatabaseSync(path).exec("CREATE TABLE t (a)"), "STORE_CORRUPT"],
    [
      "a file that is no database",
      (path: string) => writeFileSync(path, "no database at all, but long enough for a header of one. ".repeat(20)),
      "STORE_CORRUPT",
    ],
    [
      "a newer file",
      (path: string) => new DatabaseSync(path).exec(`PRAGMA application_id = ${0x4c574b6e}; PRAGMA user_version = 9; CREATE TABLE t (a)`),
      "STORE_TOO_NEW",
    ],
    ["a file that another process writes", (path: string) => void new DatabaseSync(path).exec("BEGIN EXCLUSIVE"), "STORE_UNAVAILABLE"],
  ])("refuses %s", async (_, prepare, code) => {
    const path = join(mkdtempSync(join(folder, "refused-")), "k.db");
    prepare(path);
    await expect(inFile(path).list("acme", "shared")).rejects.toMatchObject({ code });
  });

  it("refuses a folder and a missing path", async () => {
    await expect(inFile(folder).list("acme", "shared")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(() => sqliteKnowledgeStore({ path: "" })).toThrow(/no file/);
  });

  it.skipIf(process.platform === "win32")("is readable for this user alone", async () => {
    const path = freshPath();
    await inFile(path).put("acme", document, [passage]);
    expect(statSync(path).mode & 0o077).toBe(0);
  });
});
