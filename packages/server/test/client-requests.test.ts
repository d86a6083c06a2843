import { createClient, type NotificationEvent } from "@loopwright/client";
import { systemClock } from "@loopwright/core/memory";
import { isAgentError, type SessionEvent } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { clientOf, clientScene } from "./client-scene.ts";
import { fromHere, testServer } from "./test-server.ts";

const answers = Array.from({ length: 20 }, (_, i) => ({ text: `Answer ${i}.` }));

describe("the requests of a client", () => {
  it("create, read, name, list, search and remove sessions", async () => {
    await using scene = clientScene({ script: answers });
    const { sessions } = scene.client;
    const created = await sessions.create({ id: "s1", title: "Rivers", metadata: { of: "Europe" } });
    expect([created.sessionId, created.agent, created.title]).toEqual(["s1", "tester", "Rivers"]);
    await expect(sessions.create({ id: "s1" })).rejects.toSatisfy((error) => isAgentError(error, "SESSION_EXISTS"));
    expect((await sessions.change("s1", { title: "Lakes" })).title).toBe("Lakes");
    await sessions.create({ id: "s2" });
    const page = await sessions.list({ limit: 1 });
    const next = await sessions.list({ limit: 1, before: page.next ?? "" });
    expect([...page.sessions, ...next.sessions].map(({ id }) => id).sort()).toEqual(["s1", "s2"]);
    const { hits, more } = await sessions.search("lakes");
    expect([hits.map(({ session }) => session.id), more]).toEqual([["s1"], undefined]);
    await sessions.change("s2", { title: "Deep lakes" });
    const found = await sessions.search("lakes", { limit: 1 });
    expect([found.hits.length, found.more]).toEqual([1, true]);
    await sessions.remove("s1");
    await expect(sessions.get("s1")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND", details: { status: 404 } });
  });

  it("keep a file, list it and read its bytes", async () => {
    await using scene = clientScene({ script: answers });
    const { blob } = await scene.client.uploadFile(new Blob(["Roses"], { type: "text/plain" }), "roses.txt");
    expect((await scene.client.files()).files).toMatchObject([{ blob, name: "roses.txt", sizeBytes: 5 }]);
    const { bytes, mediaType } = await scene.client.readFile(blob);
    expect([new TextDecoder().decode(bytes), mediaType]).toEqual(["Roses", "text/plain"]);
    await expect(scene.client.readFile("upload-none")).rejects.toMatchObject({ code: "BLOB_UNKNOWN" });
  });

  it("begin a session once, though a busy store refuses the request and the answer of the next one is lost", async () => {
    const { server, ask } = testServer();
    const keys: (string | null)[] = [];
    const client = createClient({
      url: "http://localhost",
      clock: { ...systemClock, after: (_, run) => systemClock.after(0, run) },
      fetch: async (request) => {
        keys.push(request.headers.get("Idempotency-Key"));
        if (keys.length === 1) return Response.json({ code: "STORE_UNAVAILABLE", error: "Busy.", retryable: true }, { status: 503 });
        const answer = await server.fetch(request, fromHere);
        if (keys.length === 2) throw new TypeError("fetch failed");
        return answer;
      },
    });
    const created = await client.sessions.create({ title: "Rivers" });
    expect(created.title).toBe("Rivers");
    expect(new Set(keys)).toEqual(new Set([expect.stringMatching(/./)]));
    expect(keys).toHaveLength(3);
    expect((await ask<{ sessions: readonly { id: string }[] }>("/api/sessions")).body.sessions.map(({ id }) => id)).toEqual([
      created.sessionId,
    ]);
    await server.close();
  });

  it("record an input once, and return its outcome", async () => {
    await using scene = clientScene({ script: answers });
    const { sessions } = scene.client;
    await sessions.create({ id: "s1" });
    const first = await sessions.submit("s1", "hello", { idempotencyKey: "k1" });
    const again = await sessions.submit("s1", "hello", { idempotencyKey: "k1" });
    expect([again.runId, again.replayed]).toEqual([first.runId, true]);
    await scene.client.execute("hello", { sessionId: "s1", idempotencyKey: "k1" }).result();
    const { events, cursor } = await sessions.events("s1");
    expect(cursor).toBe(`${events.at(-1)?.seq}.${events.at(-1)?.k}`);
    expect((await sessions.events("s1", { after: cursor })).events).toEqual([]);
    expect((await sessions.run("s1", first.runId)).events).toEqual(events.filter(({ runId }) => runId === first.runId));
    const { messages } = await sessions.get("s1");
    await sessions.submit("s1", { regenerate: messages[0]?.id ?? "" });
    expect((await sessions.moveHead("s1", messages[1]?.id ?? "")).sessionId).toBe("s1");
    expect(await sessions.abort("s1").then((aborting) => typeof aborting)).toBe("boolean");
    expect(scene.model.requests.length).toBeLessThanOrEqual(2);
  });

  it("keep files, and show agents and tools", async () => {
    await using scene = clientScene({ script: answers });
    const { client } = scene;
    const file = await client.uploadFile(new Blob(["Grüße"], { type: "text/plain" }), "grüße.txt");
    expect(file).toMatchObject({ mediaType: "text/plain", sizeBytes: 7, name: "grüße.txt" });
    const kept = await scene.server.fetch(new Request(client.fileUrl(file.blob)), fromHere);
    expect(await kept.text()).toBe("Grüße");
    expect(await client.agents()).toMatchObject({ agents: [{ name: "tester", model: "scripted-1" }], default: "tester" });
    expect(await client.tools({ agent: "tester" })).toEqual([]);
    await expect(client.tools({ agent: "nobody" })).rejects.toMatchObject({ code: "AGENT_NOT_FOUND" });
  });
});

describe("several sessions over one connection", () => {
  it("deliver each durable event of the named ones once and in order whatever is cut, hints of the others, and notifications of the product", async () => {
    let connections = 0;
    for (let seed = 1; seed <= 12; seed++) {
      await using scene = clientScene({ script: answers, cuts: seed });
      const { client, server } = scene;
      const local = clientOf(scene);
      await local.sessions.create({ id: "a" });
      await local.sessions.create({ id: "b" });
      await local.sessions.create({ id: "c" });
      const seen: NotificationEvent[] = [];
      const stop = new AbortController();
      const ends = { a: 0, b: 0 };
      const watching = (async () => {
        for await (const batch of client.notifications({ sessions: { a: "", b: "" }, signal: stop.signal })) {
          seen.push(...batch);
          for (const event of batch) if (event.type === "run_end") ends[event.sessionId as "a" | "b"] += 1;
          if (ends.a === 2 && ends.b === 2) stop.abort();
        }
      })();
      for (const text of ["one", "two"]) for (const id of ["a", "b", "c"]) await local.execute(text, { sessionId: id }).result();
      server.notify("local", { type: "job_progress", data: { percent: 40 } });
      await watching;
      for (const id of ["a", "b"]) {
        const durable = seen.filter((event) => "seq" in event && "k" in event && event.sessionId === id) as readonly SessionEvent[];
        expect(durable).toEqual((await local.sessions.events(id)).events);
      }
      connections += scene.asked.filter((asked) => asked === "GET /api/notifications").length;
    }
    expect(connections).toBeGreaterThan(24);
  });

  it("bring hints and notifications", async () => {
    await using scene = clientScene({ script: answers });
    const { client, server } = scene;
    await client.sessions.create({ id: "c" });
    const stop = new AbortController();
    const types = new Set<string>();
    const open = Promise.withResolvers<void>();
    const onState = ({ state }: { readonly state: string }): void => void (state === "open" && open.resolve());
    const watching = (async () => {
      for await (const batch of client.notifications({ signal: stop.signal, onState })) {
        for (const { type } of batch) types.add(type);
        if (types.size === 2) stop.abort();
      }
    })();
    await open.promise;
    server.notify("local", { type: "job_progress" });
    await client.execute("hello", { sessionId: "c" }).result();
    await watching;
    expect([...types].sort()).toEqual(["notification", "session_hint"]);
  });
});
