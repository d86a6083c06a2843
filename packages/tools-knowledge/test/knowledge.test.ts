import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "@loopwright/core";
import { afterAll, describe, expect, it } from "vitest";
import { createKnowledge, type Knowledge, type KnowledgeOptions, memoryKnowledgeStore, sqliteKnowledgeStore } from "../src/index.ts";
import { wordEmbedder } from "./word-embedder.ts";

const folder = mkdtempSync(join(tmpdir(), "loopwright-knowledge-"));
const opened: Knowledge[] = [];
afterAll(async () => {
  for (const knowledge of opened) await knowledge.close();
  rmSync(folder, { recursive: true });
});

let files = 0;
const stores = {
  "in memory": memoryKnowledgeStore,
  "in SQLite": () => sqliteKnowledgeStore({ path: join(folder, `${++files}.db`) }),
};

const acme = { scope: "acme" };
const shared = { scope: "acme", collections: ["shared"] };
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Three documents about boats, bread and money, and others that share no word with the questions. */
async function filled(knowledge: Knowledge): Promise<Knowledge> {
  await knowledge.add(acme, { id: "harbour", text: "The ferry leaves at nine.\n\nEach vessel waits for the tide." });
  await knowledge.add(acme, { id: "kitchen", text: "A loaf needs flour and an hour in the oven." });
  await knowledge.add(acme, { id: "office", text: "The invoice ZX-4711 is due in May." });
  return knowledge;
}

describe.each(Object.entries(stores))("knowledge %s", (_, makeStore) => {
  const make = (options: Partial<KnowledgeOptions> = {}): Knowledge => {
    const knowledge = createKnowledge({ store: makeStore(), ...options });
    opened.push(knowledge);
    return knowledge;
  };

  it("C70: searches by words alone without an embedder", async () => {
    const knowledge = await filled(make());
    const { passages, ranking, usage } = await knowledge.search(shared, "When is the invoice due?");
    expect(passages[0]).toMatchObject({ source: "shared/office#0", document: "office", title: "office", kind: "text", index: 0 });
    expect([ranking, usage]).toEqual(["keyword", undefined]);
    expect((await knowledge.search(shared, "ships")).passages).toEqual([]);
  });

  it("C70: finds by meaning what shares no word, and by words what has no meaning, and reports what the embedder used", async () => {
    const embedder = wordEmbedder();
    const knowledge = await filled(make({ embedder }));
    const byMeaning = await knowledge.search(shared, "boat");
    expect(byMeaning).toMatchObject({ ranking: "hybrid", usage: { input: 1 } });
    expect(byMeaning.passages[0]?.document).toBe("harbour");
    expect((await knowledge.search(shared, "ZX-4711")).passages[0]?.document).toBe("office");
    expect(embedder.asked.map(({ purpose }) => purpose)).toEqual(["passage", "passage", "passage", "query", "query"]);
  });

  it("puts what both rankings have high before what one has at its top", async () => {
    const knowledge = make({ embedder: wordEmbedder() });
    await knowledge.add(acme, { id: "words", text: "tide tide tide" });
    await knowledge.add(acme, { id: "meaning", text: "vessel vessel" });
    await knowledge.add(acme, { id: "both", text: "The vessel waits for the tide at the old pier." });
    for (const id of ["x", "y", "z"]) await knowledge.add(acme, { id, text: `Nothing about it, ${id}.` });
    const { passages } = await knowledge.search(shared, "boat tide");
    expect(passages[0]?.document).toBe("both");
  });

  it("C70: searches by words alone while the embedder fails, and gives its error", async () => {
    const embedder = wordEmbedder();
    const knowledge = await filled(make({ embedder }));
    embedder.isFailing = true;
    const { passages, ranking, problem } = await knowledge.search(shared, "invoice");
    expect([passages[0]?.document, ranking]).toEqual(["office", "keyword"]);
    expect(problem).toMatchObject({ code: "MODEL_OVERLOADED" });
  });

  it("learns nothing of a document whose vectors fail, and keeps the version before", async () => {
    const embedder = wordEmbedder();
    const knowledge = await filled(make({ embedder }));
    embedder.isFailing = true;
    await expect(knowledge.add(acme, { id: "office", text: "Another invoice." })).rejects.toMatchObject({ code: "MODEL_OVERLOADED" });
    embedder.isFailing = false;
    expect((await knowledge.search(shared, "ZX-4711")).passages[0]?.text).toContain("ZX-4711");
    await expect(knowledge.add(acme, { id: "late", text: "Late." }, { signal: AbortSignal.abort(new Error("left")) })).rejects.toThrow(
      "left",
    );
    await expect(knowledge.search(shared, "x", { signal: AbortSignal.abort(new Error("left")) })).rejects.toThrow("left");
  });

  it("B101: never gives what another scope or another session knows", async () => {
    const knowledge = make({ embedder: wordEmbedder() });
    await knowledge.add({ scope: "other" }, { id: "d", text: "The boat of the other company." });
    await knowledge.add({ scope: "acme", collection: "session/2" }, { id: "d", text: "The boat of the other session." });
    for (const collections of [["shared"], ["session/1"], ["shared", "session/1"]])
      expect((await knowledge.search({ scope: "acme", collections }, "boat company session")).passages).toEqual([]);
    expect(await knowledge.list(acme)).toEqual([]);
    expect(await knowledge.remove(acme, "d")).toBe(false);
    const { passages } = await knowledge.search({ scope: "acme", collections: ["session/2", "shared"] }, "boat");
    expect(passages.map(({ source }) => source)).toEqual(["session/2/d#0"]);
  });

  it("removes all of a document, and learns it again", async () => {
    const knowledge = await filled(make({ embedder: wordEmbedder() }));
    expect(await knowledge.remove(acme, "harbour")).toBe(true);
    expect((await knowledge.search(shared, "ferry vessel tide boat")).passages.map(({ document }) => document)).not.toContain("harbour");
    expect((await knowledge.list(acme)).map(({ id }) => id)).toEqual(["kitchen", "office"]);
    await knowledge.add(acme, { id: "harbour", text: "The ferry is back." });
    expect((await knowledge.search(shared, "ferry")).passages[0]?.text).toBe("The ferry is back.");
  });

  it("B101: divides a text of 50 pages into passages with sources, and finds a sentence on page 37", async () => {
    const knowledge = make();
    const page = (at: number): string =>
      `# Page ${at}\n\n${`Sentence of page ${at} about many things. `.repeat(40)}${at === 37 ? "The password is heliotrope." : ""}`;
    const { document } = await knowledge.add(acme, { id: "book", text: Array.from({ length: 50 }, (__, at) => page(at + 1)).join("\n\n") });
    expect(document.passageCount).toBeGreaterThan(50);
    const { passages } = await knowledge.search(shared, "heliotrope password", { limit: 3 });
    expect(passages[0]?.text).toContain("heliotrope");
    expect(passages[0]?.source).toBe(`shared/book#${passages[0]?.index}`);
    expect(passages.every(({ text }) => text.length <= 1_500)).toBe(true);
  });
});

describe("what is learned", () => {
  const knowledge = createKnowledge({ store: memoryKnowledgeStore(), limits: { fileBytesMax: 2_000, textMax: 1_500, passageMax: 200 } });

  it.each([
    ["text/plain", "plain words", "plain words"],
    ["text/markdown; charset=utf-8", "# The heading\n\nMarked words", "# The heading\n\nMarked words"],
    [
      "text/html",
      "<html><title>A page</title><script>if (1 < 2) evil()</script><p>Words &amp; <b>more</b></p><p>End</p>",
      "Words & more\n\nEnd",
    ],
    ["Text/CSV", 'name,city\n"Ann, B.",Bern\nCid,"Genf"', "name: Ann, B.; city: Bern\nname: Cid; city: Genf"],
  ])("reads a file of the type %s", async (mediaType, file, text) => {
    const { document } = await knowledge.add(
      { scope: "s", collection: mediaType.replace(/\W/g, "") },
      { id: "f", bytes: bytesOf(file), mediaType },
    );
    expect(document).toMatchObject({ kind: "file", passageCount: 1 });
    const where = { scope: "s", collections: [mediaType.replace(/\W/g, "")] };
    expect((await knowledge.search(where, "words cid plain")).passages[0]?.text).toBe(text);
  });

  it("takes the title of a page and of Markdown, where none is given", async () => {
    const titleOf = async (text: string, mediaType: string, title?: string) =>
      (await knowledge.add(acme, { id: "t", bytes: bytesOf(text), mediaType, ...(title === undefined ? {} : { title }) })).document.title;
    expect(await titleOf("<title>A &lt;page&gt;</title>x", "text/html")).toBe("A <page>");
    expect(await titleOf("intro\n# The heading\nx", "text/markdown")).toBe("The heading");
    expect(await titleOf("# The heading\nx", "text/markdown", "Mine")).toBe("Mine");
    expect(await titleOf("x", "text/plain")).toBe("t");
  });

  it("learns what was written in a chat, and neither thinking nor tools", async () => {
    const messages: readonly Message[] = [
      { role: "user", content: "Where is the heron?" },
      {
        role: "assistant",
        stopReason: "tool_calls",
        content: [{ type: "tool_call", id: "c", callKey: "r.1.0", name: "look", args: { secret: "kestrel" } }],
      },
      { role: "tool_result", toolCallId: "c", content: "kestrel" },
      { role: "notice", text: "kestrel" },
      {
        role: "assistant",
        stopReason: "stop",
        content: [
          { type: "thinking", text: "kestrel" },
          { type: "text", text: "At the pond." },
        ],
      },
    ];
    const { document } = await knowledge.add({ scope: "chats" }, { id: "chat-1", messages });
    expect(document.kind).toBe("chat");
    const found = async (question: string) => (await knowledge.search({ scope: "chats", collections: ["shared"] }, question)).passages;
    expect((await found("heron")).map(({ text }) => text)).toEqual(["User: Where is the heron?\nAssistant: At the pond."]);
    expect(await found("kestrel")).toEqual([]);
  });

  it.each([
    ["a type that is no text", { bytes: bytesOf("%PDF-1.7"), mediaType: "application/pdf" }, "MEDIA_TYPE_UNSUPPORTED"],
    ["a name of an object's own member as a type", { bytes: bytesOf("x"), mediaType: "constructor" }, "MEDIA_TYPE_UNSUPPORTED"],
    ["bytes that are not UTF-8", { bytes: new Uint8Array([0xff, 0xfe, 0x41]), mediaType: "text/plain" }, "INPUT_INVALID"],
    ["bytes with zeros", { bytes: bytesOf("a\0b"), mediaType: "text/plain" }, "INPUT_INVALID"],
    ["a file over its bound", { bytes: new Uint8Array(2_001).fill(65), mediaType: "text/plain" }, "PAYLOAD_TOO_LARGE"],
    ["a text over its bound", { text: "x".repeat(1_501) }, "PAYLOAD_TOO_LARGE"],
    ["a text of spaces", { text: " \n " }, "INPUT_INVALID"],
    ["a chat without words", { messages: [] }, "INPUT_INVALID"],
  ])("refuses %s", async (_, content, code) => {
    await expect(knowledge.add(acme, { id: "x", ...content })).rejects.toMatchObject({ code });
  });

  it("refuses scopes, collections and ids that are none, and an option out of range", async () => {
    for (const place of [{ scope: "" }, { scope: "../x" }, { scope: "s", collection: "" }, { scope: "s", collection: "a b" }])
      await expect(knowledge.add(place, { id: "x", text: "x" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    for (const id of ["", "a\nb", "x".repeat(201)])
      await expect(knowledge.add(acme, { id, text: "x" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(() => createKnowledge({ store: memoryKnowledgeStore(), limits: { passageMax: 99 } })).toThrow(/passageMax/);
    expect(() => createKnowledge({} as never)).toThrow(/no store/);
  });

  it("gives as many passages as are wanted, at most the bound, and none for an empty question", async () => {
    const many = createKnowledge({ store: memoryKnowledgeStore(), limits: { resultsMax: 7 } });
    for (let at = 0; at < 12; at++) await many.add(acme, { id: `d${at}`, text: `word number ${at}` });
    const counts = [];
    for (const limit of [3, 100, 0, Number.NaN]) counts.push((await many.search(shared, "word", { limit })).passages.length);
    expect(counts).toEqual([3, 7, 1, 1]);
    expect((await many.search(shared, " ")).passages).toEqual([]);
    expect((await many.search(shared, '"*) OR word:(')).passages.length).toBe(5);
  });
});
