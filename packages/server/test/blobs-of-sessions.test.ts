import { memoryStore } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { eventsOf, type Sent, scriptedAgent, type TestServer, testServer } from "./test-server.ts";

const large = "my medical history ".repeat(30_000);
const plain = { "Content-Type": "text/plain" };

const upload = async ({ ask }: TestServer, text: string, type = "text/plain"): Promise<string> =>
  (await ask<{ blob: string }>("/api/files", { body: text, headers: { "Content-Type": type } })).body.blob;

const naming = (blob: string, mediaType = "text/plain") => ({ role: "user", content: [{ type: "file", mediaType, source: { blob } }] });

async function allOf({ blobs }: SessionStore): Promise<readonly string[]> {
  return blobs.list("local");
}

describe("a session that is deleted", () => {
  it("takes its large messages, its files and its kept keys along; nothing of it is served any more", async () => {
    const store = memoryStore();
    const server = testServer({ agents: [scriptedAgent()], store });
    const { ask, send } = server;
    const blob = await upload(server, "an x-ray picture");
    await ask("/api/sessions", { json: { id: "a" }, headers: { "Idempotency-Key": "new" } });
    expect((await ask("/api/sessions/a/messages", { json: { input: large } })).status).toBe(202);
    expect((await ask("/api/sessions/a/messages", { json: { message: naming(blob) } })).status).toBe(202);
    await eventsOf(server, "a");
    await ask("/api/sessions/a/abort", { json: {}, headers: { "Idempotency-Key": "stop" } });
    expect((await allOf(store)).map((key) => key.replace(/-.*/, "")).sort()).toEqual([
      "about",
      "idempotency",
      "idempotency",
      "sha256",
      "upload",
    ]);
    expect((await send(`/api/files/${blob}`)).status).toBe(200);
    expect((await send("/api/sessions/a", { method: "DELETE" })).status).toBe(204);
    expect(await allOf(store)).toEqual([]);
    expect((await send(`/api/files/${blob}`)).status).toBe(404);
    expect(await store.index.search("local", "medical")).toEqual([]);
  });

  it("leaves the file that another session names, until that one is deleted too; and a file that none has named", async () => {
    const store = memoryStore();
    const server = testServer({ agents: [scriptedAgent()], store });
    const { ask, send } = server;
    const [shared, unnamed] = [await upload(server, "shared"), await upload(server, "unnamed")];
    for (const id of ["a", "b"]) {
      await ask("/api/sessions", { json: { id } });
      await ask(`/api/sessions/${id}/messages`, { json: { message: naming(shared) } });
      await eventsOf(server, id);
    }
    await send("/api/sessions/a", { method: "DELETE" });
    expect((await send(`/api/files/${shared}`)).status).toBe(200);
    await send("/api/sessions/b", { method: "DELETE" });
    expect((await send(`/api/files/${shared}`)).status).toBe(404);
    expect(await allOf(store)).toEqual([`about-${unnamed}`, unnamed]);
  });
});

describe("a message may name no blob but an uploaded file", () => {
  it("neither a payload of a log nor a kept key, also in results and in the context of a session", async () => {
    const store = memoryStore();
    const server = testServer({ agents: [scriptedAgent()], store });
    const { ask, refused } = server;
    await ask("/api/sessions", { json: { id: "a" }, headers: { "Idempotency-Key": "new" } });
    await ask("/api/sessions/a/messages", { json: { input: large } });
    await eventsOf(server, "a");
    const internal = await allOf(store);
    expect(internal).toHaveLength(2);
    for (const key of internal) {
      const result = { role: "tool_result", toolCallId: "c", content: naming(key).content };
      const tries: readonly (readonly [string, Sent])[] = [
        ["/api/sessions/a/messages", { json: { message: naming(key) } }],
        ["/api/sessions/a/tool-results", { json: { results: [result] } }],
        ["/api/agent/execute", { json: { input: naming(key), context: {} } }],
        ["/api/agent/execute", { json: { input: "Hi", context: { messages: [naming(key)] } } }],
        ["/api/sessions", { json: { context: { messages: [naming(key)] } } }],
      ];
      for (const [path, sent] of tries)
        expect(await refused(path, sent), `${path} ${JSON.stringify(sent).slice(0, 80)}`).toMatchObject({
          status: 404,
          code: "BLOB_UNKNOWN",
        });
      expect(await refused(`/api/files/${key}`)).toMatchObject({ status: 404 });
    }
  });

  it("and the media type is that of the upload: the same bytes under another type are another file", async () => {
    const server = testServer({ agents: [scriptedAgent()] });
    const html = await upload(server, "<b>same</b>", "text/html");
    const text = await upload(server, "<b>same</b>");
    expect(html).not.toBe(text);
    expect(await upload(server, "<b>same</b>")).toBe(text);
    expect((await server.send(`/api/files/${text}`)).headers.get("Content-Type")).toBe(plain["Content-Type"]);
    expect((await server.send(`/api/files/${html}`)).headers.get("Content-Type")).toBe("text/html");
  });
});
