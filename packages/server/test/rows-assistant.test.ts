import { createAgent, defineTool, type SessionSnapshot } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { openCommandedScene } from "./commanded-scene.ts";
import { eventsOf, scriptedAgent, testServer } from "./test-server.ts";

interface Listed {
  readonly sessions: readonly { readonly id: string; readonly title?: string }[];
}

/** A model that waits for the test before it answers with this text. */
function waitingModel(delta: string): { readonly provider: ModelProvider; answer(): void } {
  let answer = (): void => {};
  const given = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const provider: ModelProvider = {
    name: "waiting",
    defaultModel: "waiting-1",
    capabilities: () => ({ streaming: true, tools: true, vision: false, promptCaching: false }),
    async *stream() {
      await given;
      yield [
        { type: "text", index: 0, delta },
        { type: "end", stopReason: "stop", raw: "stop" },
      ];
    },
  };
  return { provider, answer: () => answer() };
}

describe("a conversation over HTTP", () => {
  it("A07: is streamed in pieces before its run ends, and together they are the answer", async () => {
    const scene = await openCommandedScene();
    const watching = await scene.watch({ path: "/api/sessions/s/events?after=" });
    await scene.say("Count");
    const pieces = ["One ", "two ", "three ", "four ", "five."];
    for (const [at, piece] of pieces.entries()) {
      scene.model.say(piece);
      await watching.got("text_delta", at + 1);
    }
    scene.model.end();
    await watching.got("run_end");
    const events = watching.frames.map(({ event }) => event);
    expect(events.lastIndexOf("text_delta")).toBeLessThan(events.indexOf("run_end"));
    const deltas = watching.frames
      .filter(({ event }) => event === "text_delta")
      .map(({ data }) => (JSON.parse(data) as { readonly delta: string }).delta);
    expect(deltas.length).toBeGreaterThanOrEqual(2);
    expect(deltas.join("")).toBe(pieces.join(""));
    await watching.connection.cut();
  });

  it("A02: already has an answer when a reader of its stream gets the end of that answer", async () => {
    const server = testServer();
    await server.ask("/api/sessions", { json: { id: "a" } });
    const stream = await server.send("/api/sessions/a/events?from=now");
    await server.ask("/api/sessions/a/messages", { json: { input: "Hi" } });
    const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    // The first end is that of the question.
    while (text.split("event: message_end").length <= 2) text += (await reader.read()).value ?? "";
    const { messages } = (await server.ask<SessionSnapshot>("/api/sessions/a")).body;
    expect(messages.map(({ message }) => message)).toMatchObject([
      { role: "user", content: "Hi" },
      { role: "assistant", content: [{ type: "text", text: "Hello." }] },
    ]);
    await reader.cancel();
    await server.server.close();
  });

  it("A11: accepts an input at once, with the id of its run, while the model has not begun to answer", async () => {
    const { provider, answer } = waitingModel("Done.");
    const server = testServer({ agents: [createAgent({ name: "helper", provider })] });
    await server.ask("/api/sessions", { json: { id: "a" } });
    const accepted = await server.ask<{ readonly runId: string }>("/api/sessions/a/messages", { json: { input: "Take your time" } });
    expect(accepted).toMatchObject({ status: 202, body: { runId: expect.any(String) } });
    expect((await server.ask<SessionSnapshot>("/api/sessions/a")).body.status).toBe("running");
    answer();
    const text = await eventsOf(server, "a");
    expect(text).toContain(`"runId":"${accepted.body.runId}"`);
    expect(text).toContain('"text":"Done."');
  });

  it("A09: is there with its turns and their tools at a server that starts over the same store while the first one is in the middle of a third", async () => {
    const store = memoryStore();
    const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "seen" });
    const turn = (text: string) => [{ calls: [{ name: "look", id: `of ${text}` }] }, { text }];
    const agents = [scriptedAgent([...turn("One."), ...turn("Two."), { hang: true }], { tools: [look] })];
    const first = testServer({ agents, store });
    await first.ask("/api/sessions", { json: { id: "a" } });
    for (const input of ["First", "Second"]) {
      await first.ask("/api/sessions/a/messages", { json: { input } });
      await eventsOf(first, "a");
    }
    await first.ask("/api/sessions/a/messages", { json: { input: "Third" } });
    // The first server neither ends nor hands over, as one that was killed.
    const later = testServer({ agents, store });
    const messages = async () => (await later.ask<SessionSnapshot>("/api/sessions/a")).body.messages.map(({ message }) => message);
    await expect.poll(async () => (await messages()).length, { timeout: 30_000 }).toBe(9);
    const answered = (text: string) => [
      { role: "assistant", content: [{ type: "tool_call", id: `of ${text}` }] },
      { role: "tool_result", toolCallId: `of ${text}`, outcome: "ok", content: [{ type: "text", text: "seen" }] },
      { role: "assistant", content: [{ type: "text", text }] },
    ];
    const user = (content: string) => ({ role: "user", content });
    expect(await messages()).toMatchObject([...[user("First"), ...answered("One."), user("Second"), ...answered("Two.")], user("Third")]);
    await later.server.close();
    await first.server.close();
  });

  it("A14: needs no service beside the process: its events arrive without any configuration", async () => {
    const server = testServer();
    await server.ask("/api/sessions", { json: { id: "a" } });
    await server.ask("/api/sessions/a/messages", { json: { input: "Hi" } });
    expect(await eventsOf(server, "a")).toContain('"type":"run_end"');
  });

  it("A33: is listed without its messages, read, deleted, and then absent", async () => {
    const server = testServer();
    for (const id of ["a", "b"]) {
      await server.ask("/api/sessions", { json: { id } });
      await server.ask(`/api/sessions/${id}/messages`, { json: { input: `Hello from ${id}` } });
      await eventsOf(server, id);
    }
    const list = async (): Promise<Listed["sessions"]> => (await server.ask<Listed>("/api/sessions")).body.sessions;
    const listed = await list();
    expect(listed.map(({ id }) => id).sort()).toEqual(["a", "b"]);
    for (const summary of listed) expect(summary).not.toHaveProperty("messages");
    expect((await server.send("/api/sessions/a", { method: "DELETE" })).status).toBe(204);
    expect((await list()).map(({ id }) => id)).toEqual(["b"]);
    expect(await server.refused("/api/sessions/a")).toMatchObject({ status: 404 });
  });

  it("A34: of one team is, for the same user under another team, what a conversation is that never was", async () => {
    const store = memoryStore();
    const authenticate = (request: Request) => {
      const [user, scope] = (request.headers.get("Authorization") ?? "").replace("Bearer ", "").split("@");
      return user && scope ? { user, scope } : undefined;
    };
    const server = testServer({ store, authenticate });
    const as = (scope: string) => ({ headers: { Authorization: `Bearer ann@${scope}` } });
    await server.ask("/api/sessions", { json: { id: "plans" }, ...as("team-a") });
    await server.ask("/api/sessions/plans/messages", { json: { input: "Our secret plan" }, ...as("team-a") });
    const answers = await Promise.all(
      ["plans", "never"].map(async (id) => {
        const { headers: _, ...problem } = await server.refused(`/api/sessions/${id}`, as("team-b"));
        return JSON.parse(JSON.stringify(problem).replaceAll(id, "<id>")) as { readonly requestId?: string };
      }),
    );
    const [foreign, absent] = answers.map(({ requestId: _, ...problem }) => problem);
    expect(foreign).toEqual(absent);
    expect(foreign).toMatchObject({ status: 404 });
    expect((await server.ask<Listed>("/api/sessions", as("team-b"))).body.sessions).toEqual([]);
    expect((await server.ask<Listed>("/api/sessions", as("team-a"))).body.sessions.map(({ id }) => id)).toEqual(["plans"]);
  });
});
