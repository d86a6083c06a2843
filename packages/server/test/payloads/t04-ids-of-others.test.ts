import { memoryStore } from "@loopwright/core/memory";
import type { Problem } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import type { ServeOptions } from "../serve.ts";
import { pickColour, type Sent, scriptedAgent } from "../test-server.ts";
import { framesOf } from "./frames-of.ts";
import { annesToken, bearer, bensToken, type PayloadScene, payloadScene, people } from "./payload-scene.ts";

const anne = bearer(annesToken);
const ben = bearer(bensToken);
const none = `upload-${"0".repeat(64)}`;

/** Anne's session waits for the colour that she picks; Ben has one of his own. */
async function garden(
  options: Pick<ServeOptions, "store"> = {},
): Promise<PayloadScene & { readonly blob: string; readonly runId: string; readonly cursor: string }> {
  const agent = scriptedAgent([{ calls: [{ name: "pick_colour", args: { hint: "canary" }, id: "c1" }] }, { text: "Red." }], {
    tools: [pickColour],
  });
  const scene = await payloadScene({ ...options, authenticate: people, agents: [agent] });
  const { body: file } = await scene.ask("/api/files", { body: "canary", headers: { ...anne, "Content-Type": "text/plain" } });
  await scene.ask("/api/sessions", { json: { id: "annes", title: "canary", metadata: { canary: 1 } }, headers: anne });
  const { body: run } = await scene.ask("/api/sessions/annes/messages", {
    json: { input: "canary" },
    headers: { ...anne, "Idempotency-Key": "k1" },
  });
  const frames = await framesOf(await scene.send("/api/sessions/annes/events", { headers: anne }));
  await scene.ask("/api/sessions", { json: { id: "bens" }, headers: ben });
  const cursor = frames.findLast(({ id }) => id !== undefined)?.id ?? "";
  return { ...scene, blob: String(file["blob"]), runId: String(run["runId"]), cursor };
}

/** The answer but for what the caller has sent. */
async function answerTo(
  { send }: PayloadScene,
  path: string,
  sent: Sent = {},
): Promise<{ readonly status: number; readonly body: Problem }> {
  const response = await send(path, { ...sent, headers: { ...sent.headers, ...ben } });
  return { status: response.status, body: (await response.json()) as Problem };
}

const unnamed = (text: string, name: string): string => text.replaceAll(name, "<it>");

describe("T04: what is another scope's", () => {
  it("cannot be distinguished from what does not exist: sessions, runs, files, calls and cursors have the very same answer", async () => {
    const scene = await garden();
    const result = [{ role: "tool_result", toolCallId: "c1", content: "red" }];
    const image = (blob: string) => ({ role: "user", content: [{ type: "image", mediaType: "image/png", source: { blob } }] });
    const pairs: readonly (readonly [theirs: string, ofOthers: string, path: (name: string) => string, sent: (name: string) => Sent])[] = [
      ["annes", "nobodys", (id) => `/api/sessions/${id}`, () => ({})],
      ["annes", "nobodys", (id) => `/api/sessions/${id}`, () => ({ method: "PATCH", json: { title: "a" } })],
      ["annes", "nobodys", (id) => `/api/sessions/${id}`, () => ({ method: "DELETE" })],
      ["annes", "nobodys", (id) => `/api/sessions/${id}/messages`, () => ({ json: { input: "Hi" } })],
      [
        "annes",
        "nobodys",
        (id) => `/api/sessions/${id}/messages`,
        () => ({ json: { input: "canary" }, headers: { "Idempotency-Key": "k1" } }),
      ],
      ["annes", "nobodys", (id) => `/api/sessions/${id}/tool-results`, () => ({ json: { results: result } })],
      ["annes", "nobodys", (id) => `/api/sessions/${id}/approvals/r.1.0`, () => ({ json: { decision: "allow" } })],
      // The call of Anne's that waits, asked for by its own key in Ben's session.
      [
        `${scene.runId}.1.0`,
        "nobodys.1.0",
        (callKey) => `/api/sessions/bens/approvals/${callKey}`,
        () => ({ json: { decision: "allow" } }),
      ],
      ["annes", "nobodys", (id) => `/api/sessions/${id}/abort`, () => ({ method: "POST" })],
      ["annes", "nobodys", (id) => `/api/sessions/${id}/events`, () => ({ headers: { "Last-Event-ID": scene.cursor } })],
      ["annes", "nobodys", (id) => `/api/sessions/${id}/events?after=${scene.cursor}`, () => ({ headers: { Accept: "application/json" } })],
      ["annes", "nobodys", (id) => `/api/sessions/${id}/events?from=now`, () => ({})],
      ["annes", "nobodys", (id) => `/api/notifications?session=bens&session=${id}`, () => ({})],
      ["annes", "nobodys", (id) => `/api/notifications?session=${id}@${scene.cursor}`, () => ({})],
      ["annes", "nobodys", (id) => `/api/agent/session/${id}`, () => ({})],
      ["annes", "nobodys", () => "/api/agent/execute", (sessionId) => ({ json: { sessionId, input: result } })],
      [scene.runId, "nobodys", (id) => `/api/sessions/bens/runs/${id}`, () => ({})],
      [scene.runId, "nobodys", (id) => `/api/sessions/annes/runs/${id}`, () => ({})],
      [scene.blob, none, (blob) => `/api/files/${blob}`, () => ({})],
      [scene.blob, none, (blob) => `/api/files/${blob}`, () => ({ method: "DELETE" })],
      [scene.blob, none, () => "/api/sessions/bens/messages", (blob) => ({ json: { message: image(blob) } })],
      [
        "c1",
        "c9",
        () => "/api/sessions/bens/tool-results",
        (toolCallId) => ({ json: { results: [{ role: "tool_result", toolCallId, content: "red" }] } }),
      ],
    ];
    const before = scene.writes.length;
    for (const [theirs, ofOthers, path, sent] of pairs) {
      const [one, other] = [await answerTo(scene, path(theirs), sent(theirs)), await answerTo(scene, path(ofOthers), sent(ofOthers))];
      expect(unnamed(JSON.stringify(one), theirs)).toBe(unnamed(JSON.stringify(other), ofOthers));
      expect(one.status, path(theirs)).toBe(path(theirs) === "/api/agent/execute" ? 400 : 404);
      expect(JSON.stringify(one)).not.toMatch(/canary|garden|anne@/);
    }
    expect(scene.writes.slice(before)).toEqual([]);
    expect((await scene.ask("/api/sessions/annes", { headers: anne })).body).toMatchObject({ title: "canary", status: "waiting" });
  });

  it("costs the same requests to the store as what does not exist, so that no time of an answer distinguishes them", async () => {
    const asked: string[] = [];
    const counting = <T extends object>(port: T, name: string): T =>
      new Proxy(port, {
        get(target, method) {
          const value = Reflect.get(target, method) as unknown;
          if (typeof value !== "function") return value;
          return (...args: readonly unknown[]) => {
            // The sweep asks for what is due, whenever its time has come; no request does.
            if (method !== "due") asked.push(`${name}.${String(method)}`);
            return value.apply(target, [...args]) as unknown;
          };
        },
      });
    const inner = memoryStore();
    const store = {
      ...inner,
      log: counting(inner.log, "log"),
      index: counting(inner.index, "index"),
      blobs: counting(inner.blobs, "blobs"),
    };
    const scene = await garden({ store });
    const costs = async (path: string, sent: Sent): Promise<readonly string[]> => {
      const before = asked.length;
      expect((await answerTo(scene, path, sent)).status).toBe(404);
      return asked.slice(before);
    };
    const results = [{ role: "tool_result", toolCallId: "c1", content: "red" }];
    const requests: readonly (readonly [path: (id: string) => string, sent: Sent])[] = [
      [(id) => `/api/sessions/${id}`, {}],
      [(id) => `/api/sessions/${id}`, { method: "DELETE" }],
      [(id) => `/api/sessions/${id}/messages`, { json: { input: "Hi" } }],
      [(id) => `/api/sessions/${id}/events`, {}],
      [(id) => `/api/sessions/${id}/runs/${scene.runId}`, {}],
      [(id) => `/api/sessions/${id}/tool-results`, { json: { results } }],
      [(id) => `/api/sessions/${id}/approvals/r.1.0`, { json: { decision: "allow" } }],
      [(id) => `/api/sessions/${id}/export`, {}],
    ];
    for (const [path, sent] of requests)
      expect([path("ID"), await costs(path("annes"), sent)]).toEqual([path("ID"), await costs(path("nobodys"), sent)]);
    expect(await costs(`/api/files/${scene.blob}`, {})).toEqual(await costs(`/api/files/${none}`, {}));
    expect(asked.length).toBeGreaterThan(requests.length);
  });

  it("is not found in lists, searches and page cursors, and hints of it reach no other scope", async () => {
    const scene = await garden();
    const lists = ["/api/sessions", "/api/sessions?search=canary", "/api/sessions?before=9999999999999.annes", "/api/sessions?limit=200"];
    for (const path of lists) expect(JSON.stringify((await scene.ask(path, { headers: ben })).body)).not.toMatch(/annes|canary/);
    const stream = await scene.send("/api/notifications", { headers: ben });
    await scene.ask("/api/sessions/annes", { method: "PATCH", json: { title: "more canary" }, headers: anne });
    scene.server.notify("garden", { type: "job_progress", data: { secret: "canary" } });
    await scene.ask("/api/sessions/bens", { method: "PATCH", json: { title: "mine" }, headers: ben });
    const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes('"bens"')) text += (await reader.read()).value ?? "";
    expect(text).not.toMatch(/annes|canary/);
    await reader.cancel();
  });

  it("keeps its names to itself: the same id and the same key are another session's in another scope", async () => {
    const scene = await garden();
    expect((await scene.ask("/api/sessions", { json: { id: "annes" }, headers: ben })).status).toBe(201);
    expect((await scene.ask("/api/sessions/annes", { headers: ben })).body).not.toHaveProperty("title");
    const sent = { json: { context: {}, input: "Hi" }, headers: { "Idempotency-Key": "same" } };
    const ids = await Promise.all(
      [anne, ben].map(async (who) => {
        const response = await scene.send("/api/agent/execute", { ...sent, headers: { ...sent.headers, ...who } });
        await response.text();
        return response.headers.get("X-Session-Id");
      }),
    );
    expect(new Set(ids).size).toBe(2);
  });
});

describe("T04, T05: an id that is almost one", () => {
  it.each([
    "ANNES",
    "annes%00",
    "annes.",
    "annes%20",
    "annes%2f",
    "..%2fgarden%2fannes",
    "garden%2fannes",
    "garden:annes",
    "an*es",
    "anne?",
    "[a-z]nnes",
    "annes%0d%0aFLUSHALL",
    "ann%65s%00",
    "%ff",
    "a".repeat(10_000),
  ])("such as %s is not found, by any caller", async (id) => {
    const scene = await garden();
    for (const who of [anne, ben])
      for (const path of [`/api/sessions/${id}`, `/api/sessions/${id}/events`, `/api/agent/session/${id}`]) {
        const response = await scene.send(path, { headers: who });
        expect(response.status).toBe(404);
        expect(await response.json()).toMatchObject({ code: expect.stringMatching(/^(?:SESSION|ROUTE)_NOT_FOUND$/) });
      }
    if (id.length < 150) expect((await scene.send(`/api/notifications?session=${id}`, { headers: anne })).status).toBe(404);
  });

  it("is refused where it would name something new", async () => {
    const { refused, writes } = await payloadScene({ authenticate: people });
    for (const id of ["A", "a:b", "a}{b", "*", "?", "[a-z]", "\r\nFLUSHALL\r\n", "", "..", "a/b", "é", "a".repeat(65)])
      expect(await refused("/api/sessions", { json: { id }, headers: anne })).toMatchObject({
        status: 400,
        detail: expect.stringContaining("`id`"),
      });
    for (const scope of ["a:b", "a}{b", "*", "garden/annes", "__proto__", "a".repeat(65)]) {
      const scene = await payloadScene({ authenticate: () => ({ user: "anne", scope }) });
      expect(await scene.refused("/api/sessions", { json: {} })).toMatchObject({ status: 403, code: "FORBIDDEN" });
    }
    expect(writes).toEqual([]);
  });
});
