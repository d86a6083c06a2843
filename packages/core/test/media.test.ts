import { describe, expect, it } from "vitest";
import { createSimpleTool, execute, type Message, partsOf, type UserMessage, type UserPart } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import type { ModelProvider } from "../src/ports/index.ts";
import { lengthOf } from "../src/prompt/message-length.ts";
import { keptMediaMax, withStoredMedia } from "../src/prompt/stored-media.ts";
import { world } from "./harness.ts";

const image = (source: { blob: string } | { data: string }) =>
  ({
    role: "user",
    content: [
      { type: "text", text: "look" },
      { type: "image", mediaType: "image/png", source },
    ],
  }) as const;

describe("an image in the blob store", () => {
  it("reaches the provider with its bytes, while the log keeps the key", async () => {
    const { session, store, provider, facts } = world([{ text: "seen" }, { text: "again" }]);
    const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i % 256);
    await store.blobs.put("local", "picture", { bytes, mediaType: "image/png" });
    expect((await execute(session, image({ blob: "picture" })).result()).text).toBe("seen");
    await execute(session, "and now?").result();
    const [first, second] = provider.requests.map(({ messages }) => messages[0]);
    expect(first).toEqual(image({ data: Buffer.from(bytes).toString("base64") }));
    expect(second).toBe(first);
    expect(JSON.stringify(await facts())).toContain('"blob":"picture"');
  });

  it("belongs to a session that begins with the messages of another as well: it stays until both are erased", async () => {
    const { session, store, provider, again } = world([{ text: "seen" }, { text: "seen again" }]);
    const bytes = Uint8Array.of(1, 2, 3);
    await store.blobs.put("local", "picture", { bytes, mediaType: "image/png" });
    await execute(session, image({ blob: "picture" })).result();
    const fork = again({ id: "fork", context: session.messages });
    await fork.open();
    await store.log.remove({ scope: "local", session: "s1" });
    expect((await execute(fork, "and now?").result()).text).toBe("seen again");
    expect(provider.requests[1]?.messages[0]).toEqual(image({ data: Buffer.from(bytes).toString("base64") }));
    await store.log.remove({ scope: "local", session: "fork" });
    expect(await store.blobs.list("local")).toEqual([]);
  });

  it("that does not exist is refused before the log names it, and the session continues without it", async () => {
    const { session, provider, facts } = world([{ text: "fine" }]);
    await expect(session.submit(image({ blob: "gone" }))).rejects.toMatchObject({
      code: "BLOB_UNKNOWN",
      message: expect.stringContaining("gone"),
    });
    expect(JSON.stringify(await facts())).not.toContain("gone");
    expect((await execute(session, "and now?").result()).text).toBe("fine");
    expect(provider.requests).toHaveLength(1);
  });

  it("that went with its session between two messages is refused in the second", async () => {
    const { session, store, facts } = world([{ text: "seen" }]);
    await store.blobs.put("local", "picture", { bytes: Uint8Array.of(1), session: "other" });
    await store.log.remove({ scope: "local", session: "other" });
    await expect(session.submit(image({ blob: "picture" }))).rejects.toMatchObject({ code: "BLOB_UNKNOWN" });
    expect(await facts()).toEqual([]);
  });

  it("that is lost later fails the run with its name, without a request", async () => {
    const { session, store, provider } = world([{ text: "seen" }, { text: "never" }]);
    await store.blobs.put("local", "picture", { bytes: Uint8Array.of(1) });
    await execute(session, "hello").result();
    const own = store.blobs.own;
    store.blobs.own = async (...args) => {
      const isOwned = await own(...args);
      await store.blobs.remove("local", "picture");
      return isOwned;
    };
    const result = await execute(session, image({ blob: "picture" })).result();
    expect(result.error).toMatchObject({ code: "BLOB_NOT_FOUND", message: expect.stringContaining("picture") });
    expect(provider.requests).toHaveLength(1);
  });
});

describe("images of the blob store in memory", () => {
  const provider: ModelProvider = {
    name: "p",
    defaultModel: "m",
    capabilities: () => ({ streaming: true, tools: true, vision: true, promptCaching: false }),
    async *stream() {
      yield [{ type: "end", stopReason: "stop" }];
    },
  };
  const photo = (place: number): Message => ({
    role: "user",
    content: [{ type: "image", mediaType: "image/png", source: { blob: `photo ${place}` } }],
  });

  /** Sends one request with each of the messages; gives what had to be read. */
  async function readFor(messages: readonly Message[], bytes: Uint8Array): Promise<number> {
    let reads = 0;
    const load = async (): Promise<{ bytes: Uint8Array }> => {
      reads++;
      return { bytes };
    };
    const request = { model: "m", messages };
    for await (const _ of withStoredMedia(provider, load).stream(request, { signal: new AbortController().signal, attempt: 1 }));
    return reads;
  }

  it("are read once for many requests", async () => {
    const messages = [photo(1), photo(2)];
    expect(await readFor(messages, new Uint8Array(1_000))).toBe(2);
    expect(await readFor(messages, new Uint8Array(1_000))).toBe(0);
  });

  it("are kept up to a limit of all sessions together, those used last; others are read again", async () => {
    const bytes = new Uint8Array(keptMediaMax / 8);
    // In base64 each has a third more, so that five have room.
    const messages = Array.from({ length: 6 }, (_, place) => photo(place));
    for (const message of messages) expect(await readFor([message], bytes)).toBe(1);
    expect(await readFor(messages.slice(1), bytes)).toBe(0);
    expect(await readFor(messages.slice(0, 1), bytes)).toBe(1);
    expect(await readFor(messages.slice(1, 2), bytes)).toBe(1);
    expect(await readFor(messages.slice(5), bytes)).toBe(0);
  });

  it("are not kept where one alone is over the limit", async () => {
    const messages = [photo(1)];
    expect(await readFor(messages, new Uint8Array(keptMediaMax))).toBe(1);
    expect(await readFor(messages, new Uint8Array(1))).toBe(1);
  });
});

describe("a model without vision", () => {
  const bytes = Buffer.from("picture").toString("base64");

  it("A62: is sent no request: the image is refused with a type, and the session is as before", async () => {
    const provider = scripted([{ text: "ok" }], { capabilities: { vision: false } });
    const { session, facts } = world([], { provider });
    expect(() => execute(session, image({ data: bytes }))).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
    expect(provider.requests).toHaveLength(0);
    expect(await facts()).toEqual([]);
    expect((await execute(session, "Only words.").result()).text).toBe("ok");
  });

  it("A62: fails the run with a type where a tool gives the image, and is not asked with it", async () => {
    const picture = { type: "image", mediaType: "image/png", source: { data: bytes } } as const;
    const parameters = { type: "object", properties: {} } as const;
    const tool = createSimpleTool({ name: "look", description: "Looks", parameters }, async () => ({ output: [picture] }));
    const provider = scripted([{ calls: [{ name: "look", args: {} }] }, { text: "ok" }], { capabilities: { vision: false } });
    const { session } = world([], { provider, tools: [tool] });
    const result = await execute(session, "Look.").result();
    expect(result).toMatchObject({ status: "error", error: { code: "MODEL_UNSUPPORTED" } });
    expect(provider.requests).toHaveLength(1);
  });

  it("A62: continues after an image that was refused when the request was sent, and after another model has seen one, with a note in its place", async () => {
    const prepare = { name: "own", prepare: () => ({}) };
    const provider = scripted([{ text: "ok" }, { text: "still" }], { capabilities: { vision: false } });
    const { session } = world([], { provider, hooks: [prepare] });
    expect(await execute(session, image({ data: bytes })).result()).toMatchObject({ error: { code: "MODEL_UNSUPPORTED" } });
    expect((await execute(session, "Only words.").result()).text).toBe("ok");
    const note = { type: "text", text: "[An image of type image/png is left out: this model does not take it]" };
    expect(provider.requests[0]?.messages[0]).toEqual({ role: "user", content: [{ type: "text", text: "look" }, note] });
    expect(session.messages[0]).toEqual(image({ data: bytes }));
  });
});

describe("a file", () => {
  const file = (mediaType: string, source: { blob: string; sizeBytes?: number; shownBytes?: number } | { data: string }) =>
    ({ role: "user", content: [{ type: "file", mediaType, name: "f", source }] }) as const;
  const zip = file("application/zip", { data: "UEs=" });

  it("of a type that the model does not take is refused before it is recorded, and at the request where a hook may choose the model", async () => {
    const capabilities = { files: ["application/pdf"] };
    const provider = scripted([{ text: "ok" }, { text: "ok" }, { text: "ok" }], { capabilities });
    const { session, facts } = world([], { provider });
    expect(() => execute(session, zip)).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
    expect(await facts()).toEqual([]);
    const hooked = world([], { provider, hooks: [{ name: "own", prepare: () => ({}) }] });
    const { error } = await execute(hooked.session, zip).result();
    expect(error).toMatchObject({ code: "MODEL_UNSUPPORTED", message: expect.stringContaining("takes text, application/pdf") });
    for (const type of ["application/pdf", "text/csv", "application/ld+json"])
      expect((await execute(hooked.session, file(type, { data: "UEs=" })).result()).text).toBe("ok");
    const left = { type: "text", text: "[A file of type application/zip is left out: this model does not take it]" };
    expect(provider.requests[0]?.messages[0]).toEqual({ role: "user", content: [left] });
  });

  it.each([
    ["by itself", {}, 131_072],
    ["where its part names a bound", { shownBytes: 6 }, 6],
    ["where the bound parts a character", { shownBytes: 4 }, 3],
    ["where the bound is nothing", { shownBytes: 0 }, 0],
  ])("that is a long text is shown up to a bound, with a note: %s", async (_, bound, shown) => {
    const { session, store, provider } = world([{ text: "read" }]);
    const text = `abc€${"x".repeat(200_000)}`;
    await store.blobs.put("local", "long", { bytes: new TextEncoder().encode(text) });
    await execute(session, file("text/plain", { blob: "long", ...bound })).result();
    const [part] = partsOf<UserPart>((provider.requests[0]?.messages[0] as UserMessage | undefined)?.content ?? "");
    const read = part?.type === "file" && Buffer.from(part.source.data ?? "", "base64").toString();
    const first = Buffer.from(text).subarray(0, shown).toString();
    expect(read).toBe(`${first}\n[Only the first ${shown} of 200006 bytes of this file are shown.]`);
  });

  it("is loaded once for a request, however many parts name it, and one file after another", async () => {
    const names: string[] = [];
    let loading = 0;
    let loadingMax = 0;
    const load = async (key: string) => {
      names.push(key);
      loadingMax = Math.max(loadingMax, ++loading);
      await Promise.resolve();
      loading--;
      return { bytes: new TextEncoder().encode(key) };
    };
    const provider = scripted([{ text: "read" }]);
    const content = ["a", "b", "a", "b"].flatMap((blob) => file("text/plain", { blob }).content);
    const messages: readonly Message[] = [{ role: "user", content }, file("text/plain", { blob: "a" })];
    const io = { signal: new AbortController().signal } as Parameters<ModelProvider["stream"]>[1];
    for await (const _ of withStoredMedia(provider, load).stream({ model: "m", messages }, io));
    expect({ names, loadingMax }).toEqual({ names: ["a", "b"], loadingMax: 1 });
    expect(provider.requests[0]?.messages[1]).toEqual(file("text/plain", { data: "YQ==" }));
  });

  it("that is no text goes whole, and one that fits has no note", async () => {
    const { session, store, provider } = world([{ text: "read" }, { text: "read" }]);
    const bytes = new Uint8Array(200_000);
    await store.blobs.put("local", "page", { bytes });
    await execute(session, file("application/pdf", { blob: "page", shownBytes: 5 })).result();
    expect(provider.requests[0]?.messages[0]).toEqual(file("application/pdf", { data: Buffer.from(bytes).toString("base64") }));
    await store.blobs.put("local", "short", { bytes: Uint8Array.of(65) });
    await execute(session, file("text/plain", { blob: "short", shownBytes: 1 })).result();
    expect(provider.requests[1]?.messages.at(-1)).toEqual(file("text/plain", { data: "QQ==" }));
  });

  it("counts with the bytes that the model is shown, where its size is known", () => {
    const counted = (type: string, source: Parameters<typeof file>[1]): number => lengthOf(file(type, source));
    expect(counted("text/plain", { blob: "b" })).toBe(6_000);
    expect(counted("text/plain", { blob: "b", sizeBytes: 50 })).toBe(50);
    expect(counted("application/json", { blob: "b", sizeBytes: 9_000_000 })).toBe(131_072);
    expect(counted("text/plain", { blob: "b", sizeBytes: 9_000_000, shownBytes: 200 })).toBe(200);
    expect(counted("text/plain", { blob: "b", sizeBytes: 9_000_000, shownBytes: 0 })).toBe(40);
    expect(counted("application/pdf", { blob: "b", sizeBytes: 600_000 })).toBe(counted("application/pdf", { data: "A".repeat(800_000) }));
  });

  it.each([{ sizeBytes: -1 }, { sizeBytes: 1.5 }, { shownBytes: "5" }])("with %j is refused", async (flaw) => {
    const { session } = world([]);
    expect(() => execute(session, file("text/plain", { blob: "b", ...(flaw as object) }))).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID" }),
    );
  });
});
