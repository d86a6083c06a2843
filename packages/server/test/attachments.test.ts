import { memoryStore, scripted } from "@loopwright/core/memory";
import type { ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { eventsOf, type Sent, type SentBody, scriptedAgent, type TestServer, testServer } from "./test-server.ts";

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
/** One red pixel. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

interface Scene extends TestServer {
  readonly requests: ModelRequest[];
}

function scene(options: Parameters<typeof testServer>[0] = {}): Scene {
  const requests: ModelRequest[] = [];
  const agent = scriptedAgent([
    (request) => {
      requests.push(request);
      return { text: "Seen." };
    },
  ]);
  return { ...testServer({ agents: [agent], ...options }), requests };
}

async function upload(
  { ask }: TestServer,
  body: SentBody,
  type: string,
  name?: string,
  more: Record<string, string> = {},
): Promise<string> {
  const headers = { "Content-Type": type, ...(name === undefined ? {} : { "X-File-Name": name }), ...more };
  const { status, body: file } = await ask<{ blob: string }>("/api/files", { body, headers });
  expect(status).toBe(201);
  return file.blob;
}

const none = `upload-${"0".repeat(64)}`;

describe("attachments of an input", () => {
  it("B106: become parts of the message by both routes: pictures as images, all others as files with their names; the log has the key and no byte", async () => {
    const store = memoryStore();
    const server = scene({ store });
    const picture = await upload(server, bytesOf(pixel), "image/png", "dot.png");
    const notes = await upload(server, "# Notes\nOn roses.", "text/markdown", "notes.md");
    const options = { attachments: [picture, notes, picture] };
    await (await server.send("/api/agent/execute", { json: { sessionId: "a", input: "Look", context: {}, options } })).text();
    expect((await server.ask("/api/sessions/a/messages", { json: { input: "And here", options } })).status).toBe(202);
    await eventsOf(server, "a");
    const given = [
      { type: "image", mediaType: "image/png", source: { data: pixel } },
      { type: "file", mediaType: "text/markdown", name: "notes.md", source: { data: btoa("# Notes\nOn roses.") } },
    ];
    const [first, second] = server.requests;
    expect(first?.messages).toEqual([{ role: "user", content: [{ type: "text", text: "Look" }, ...given] }]);
    expect(second?.messages.at(-1)).toEqual({ role: "user", content: [{ type: "text", text: "And here" }, ...given] });
    const facts = await store.log.read({ scope: "local", session: "a" });
    const log = JSON.stringify(facts);
    expect(log).toContain(`{"blob":"${notes}","sizeBytes":17}`);
    expect(log).toContain(`"attachments":"${picture},${notes},${picture}"`);
    for (const bytes of ["On roses", btoa("# Notes"), pixel]) expect(log).not.toContain(bytes);
  });

  it("are shown up to a bound of text, with a note of what is left out, in this turn and in later ones", async () => {
    const server = scene();
    const long = await upload(server, "ä".repeat(100_000), "text/plain", "long.txt");
    await (
      await server.send("/api/agent/execute", { json: { sessionId: "a", input: "Sum up", context: {}, options: { attachments: [long] } } })
    ).text();
    await (await server.send("/api/agent/execute", { json: { sessionId: "a", input: "Again" } })).text();
    const shown = server.requests.map(({ messages }) => {
      const [, part] = messages[0]?.role === "user" && typeof messages[0].content !== "string" ? messages[0].content : [];
      return part?.type === "file" ? Buffer.from(part.source.data ?? "", "base64").toString() : "";
    });
    expect(shown[0]).toBe(`${"ä".repeat(65_536)}\n[Only the first 131072 of 200000 bytes of this file are shown.]`);
    expect(shown[1]).toBe(shown[0]);
  });

  it("of a name that no file here has are refused alike, whether they are of others, of the store's own, or of no file; nothing is recorded", async () => {
    const store = memoryStore();
    const people: Record<string, { user: string; scope: string }> = {
      anne: { user: "anne", scope: "garden" },
      ben: { user: "ben", scope: "kitchen" },
    };
    const server = scene({ store, authenticate: (request) => people[request.headers.get("X-Who") ?? ""] });
    const ben = { "X-Who": "ben" };
    const annes = await upload(server, "Anne's secret", "text/plain", undefined, { "X-Who": "anne" });
    const bens = await upload(server, "Ben's own", "text/plain", undefined, ben);
    await server.ask("/api/sessions", { json: { id: "a" }, headers: { ...ben, "Idempotency-Key": "k" } });
    const before = (await server.ask("/api/agent/session/a", { headers: ben })).body;
    const internal = (await store.blobs.list("kitchen")).filter((key) => key !== bens);
    expect(internal).toHaveLength(2);
    for (const name of [annes, none, ...internal, "upload-..", `upload-${"A".repeat(64)}`, `${bens}.x`, "constructor"])
      for (const [path, json] of [
        ["/api/agent/execute", { sessionId: "a", input: "Hi", options: { attachments: [bens, name] } }],
        ["/api/sessions/a/messages", { input: "Hi", options: { attachments: [name] } }],
        ["/api/sessions/a/messages", { input: "Hi", options: { labels: { attachments: name } } }],
      ] as const)
        expect(await server.refused(path, { json, headers: ben }), name).toMatchObject({
          status: 404,
          code: "BLOB_UNKNOWN",
          detail: `There is no file \`${name}\`.`,
        });
    for (const name of ["../../etc/passwd", "a/b", "a\u0000b", ""])
      expect(
        await server.refused("/api/sessions/a/messages", { json: { input: "Hi", options: { attachments: [name] } }, headers: ben }),
      ).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    expect((await server.ask("/api/agent/session/a", { headers: ben })).body).toEqual(before);
    expect(server.requests).toEqual([]);
  });

  it("are refused past their limit, and with an input that is no message", async () => {
    const server = scene({ limits: { attachmentsPerInput: 1 } });
    const [one, two] = [await upload(server, "1", "text/plain"), await upload(server, "2", "text/plain")];
    await server.ask("/api/sessions", { json: { id: "a" } });
    const send = (json: object): ReturnType<TestServer["refused"]> => server.refused("/api/sessions/a/messages", { json });
    const many = await send({ input: "Hi", options: { attachments: [one, two] } });
    expect(many).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE", fix: expect.stringContaining("limits.attachmentsPerInput") });
    const part = { type: "file", mediaType: "text/plain", source: { blob: one, sizeBytes: 1 } };
    const twice = await send({ message: { role: "user", content: [part, part] } });
    expect(twice).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE", detail: expect.stringContaining("2 stored files") });
    const attachments = [one];
    expect(await send({ regenerate: "2", options: { attachments } })).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    const result = { role: "tool_result", toolCallId: "c", content: "red" };
    expect(await send({ input: [result], options: { attachments } })).toMatchObject({ status: 400, code: "INPUT_INVALID" });
  });

  it("that are the same under the same key count once, and others under it are refused", async () => {
    const server = scene();
    const [one, two] = [await upload(server, "1", "text/plain"), await upload(server, "2", "text/plain")];
    await server.ask("/api/sessions", { json: { id: "a" } });
    const sent = (attachments: readonly string[]): Sent => ({
      json: { input: "Hi", options: { attachments } },
      headers: { "Idempotency-Key": "k" },
    });
    expect((await server.ask("/api/sessions/a/messages", sent([one]))).status).toBe(202);
    expect(await server.ask("/api/sessions/a/messages", sent([one]))).toMatchObject({ status: 200, body: { replayed: true } });
    expect(await server.refused("/api/sessions/a/messages", sent([two]))).toMatchObject({ status: 422 });
    await eventsOf(server, "a");
    expect(server.requests).toHaveLength(1);
  });

  it("follow the rule of a deployment that has one: what is no key of a file stays a label", async () => {
    const server = scene({ labels: { attachments: "any" } });
    const own = await upload(server, "1", "text/plain");
    const json = { input: "Hi", context: {}, options: { attachments: ["doc-7", own] } };
    await (await server.send("/api/agent/execute", { json })).text();
    expect(server.requests[0]?.messages).toMatchObject([{ content: [{ type: "text" }, { type: "file" }] }]);
  });
});

describe("an attachment that the model does not take", () => {
  it.each([
    ["a picture, without vision", { vision: false }, bytesOf(pixel), "image/png", "no vision"],
    [
      "a file of another type than it takes",
      { files: ["application/pdf", "audio/*"] },
      new Uint8Array([80, 75, 3, 4]),
      "application/zip",
      "takes text, application/pdf, audio/*",
    ],
  ] as const)("is refused before it is recorded, and the session continues: %s", async (_, capabilities, bytes, type, words) => {
    const provider = scripted([{ text: "Fine." }], { capabilities });
    const server = testServer({ agents: [scriptedAgent([], { provider })] });
    const attachments = [await upload(server, bytes, type)];
    await server.ask("/api/sessions", { json: { id: "a" } });
    const problem = await server.refused("/api/sessions/a/messages", { json: { input: "Look", options: { attachments } } });
    expect(problem).toMatchObject({
      status: 400,
      code: "MODEL_UNSUPPORTED",
      detail: expect.stringContaining(words),
      fix: expect.stringMatching(/\w/),
    });
    await (await server.send("/api/agent/execute", { json: { sessionId: "a", input: "Hi" } })).text();
    expect(provider.requests.map(({ messages }) => messages)).toEqual([[{ role: "user", content: "Hi" }]]);
  });

  it("is taken where its type is one of a kind that the model takes", async () => {
    const provider = scripted([{ text: "Heard." }], { capabilities: { files: ["audio/*"] } });
    const server = testServer({ agents: [scriptedAgent([], { provider })] });
    const attachments = [await upload(server, new Uint8Array([1]), "audio/wav"), await upload(server, "{}", "application/json")];
    await (await server.send("/api/agent/execute", { json: { input: "Listen", context: {}, options: { attachments } } })).text();
    expect(provider.requests).toHaveLength(1);
  });
});

/** The header of a picture of this size. */
function header(kind: "png" | "gif" | "jpeg" | "webp", width: number, height: number): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(40));
  const write = (at: number, text: string): void => {
    for (const [place, sign] of [...text].entries()) view.setUint8(at + place, sign.charCodeAt(0));
  };
  if (kind === "png") {
    write(0, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    view.setUint32(16, width);
    view.setUint32(20, height);
  } else if (kind === "gif") {
    write(0, "GIF89a");
    view.setUint16(6, width, true);
    view.setUint16(8, height, true);
  } else if (kind === "jpeg") {
    write(0, "\xff\xd8\xff\xe0\0\x04ab\xff\xc2\0\x11\x08");
    view.setUint16(13, height);
    view.setUint16(15, width);
  } else {
    write(0, "RIFF    WEBPVP8X");
    view.setUint16(24, (width - 1) & 0xffff, true);
    view.setUint8(26, (width - 1) >> 16);
    view.setUint16(27, (height - 1) & 0xffff, true);
    view.setUint8(29, (height - 1) >> 16);
  }
  return new Uint8Array(view.buffer);
}

describe("a file whose bytes are of another type than it states", () => {
  it.each([
    ["a page as a picture", "<script>alert(1)</script>", "image/png"],
    ["a GIF as a PNG", header("gif", 1, 1), "image/png"],
    ["a picture without its header", bytesOf(pixel).subarray(0, 12), "image/png"],
    ["a JPEG that ends in its segments", header("jpeg", 1, 1).subarray(0, 12), "image/jpeg"],
    ["a JPEG of segments without an end", new Uint8Array([0xff, 0xd8, ...Array.from({ length: 9_000 }, () => 0xff)]), "image/jpeg"],
    ["a picture of no pixels", header("png", 0, 9), "image/png"],
    ["a program as a text", new Uint8Array([127, 69, 76, 70, 0, 1]), "text/plain"],
    ["a text as a PDF", "no pages", "application/pdf"],
  ] as const)("is refused when it is uploaded, and nothing is kept: %s", async (_, body, type) => {
    const store = memoryStore();
    const { refused } = testServer({ store });
    const problem = await refused("/api/files", { body: body as SentBody, headers: { "Content-Type": type } });
    expect(problem).toMatchObject({ status: 415, code: "MEDIA_TYPE_UNSUPPORTED", detail: expect.stringContaining(type) });
    expect(await store.blobs.list("local")).toEqual([]);
  });

  it.each(["png", "gif", "jpeg", "webp"] as const)(
    "and a small %s that unfolds to too many pixels is refused with their number",
    async (kind) => {
      const { refused, ask } = testServer();
      const sent = (width: number, height: number): Sent => ({
        body: header(kind, width, height),
        headers: { "Content-Type": `image/${kind}` },
      });
      expect(await refused("/api/files", sent(60_000, 16_000))).toMatchObject({
        status: 413,
        code: "PAYLOAD_TOO_LARGE",
        detail: expect.stringContaining("60000 x 16000"),
      });
      expect((await ask("/api/files", sent(8_000, 8_000))).status).toBe(201);
    },
  );

  it("is refused in a message that states another type, another kind or another size than the upload", async () => {
    const server = scene();
    const [text, picture] = [await upload(server, "<b>", "text/html"), await upload(server, bytesOf(pixel), "image/png")];
    await server.ask("/api/sessions", { json: { id: "a" } });
    for (const part of [
      { type: "image", mediaType: "image/png", source: { blob: text } },
      { type: "image", mediaType: "text/html", source: { blob: text } },
      { type: "file", mediaType: "text/plain", source: { blob: text } },
      { type: "image", mediaType: "image/png", source: { blob: picture, sizeBytes: 1 } },
      { type: "file", mediaType: "text/html", source: { blob: text, shownBytes: -1 } },
      { type: "file", mediaType: "text/html", source: { blob: text, shownBytes: 0 } },
    ])
      expect(await server.refused("/api/sessions/a/messages", { json: { message: { role: "user", content: [part] } } })).toMatchObject({
        status: 400,
        code: "INPUT_INVALID",
      });
    expect(server.requests).toEqual([]);
  });
});

describe("an attachment of a session that is deleted", () => {
  it("is gone: it is neither read, nor attached again, nor left in the store", async () => {
    const store = memoryStore();
    const server = scene({ store });
    const attachments = [await upload(server, "mine", "text/plain", "mine.txt")];
    await (
      await server.send("/api/agent/execute", { json: { sessionId: "a", input: "Keep", context: {}, options: { attachments } } })
    ).text();
    expect((await server.send("/api/sessions/a", { method: "DELETE" })).status).toBe(204);
    expect(await store.blobs.list("local")).toEqual([]);
    expect((await server.send(`/api/files/${attachments[0]}`)).status).toBe(404);
    expect(await server.refused("/api/agent/execute", { json: { input: "Again", context: {}, options: { attachments } } })).toMatchObject({
      status: 404,
      code: "BLOB_UNKNOWN",
    });
  });
});
