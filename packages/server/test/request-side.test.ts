import { createAgent, systemText } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import type { StreamDialect } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { testServer } from "./test-server.ts";

const otherUser = { authenticate: () => ({ scope: "garden", user: "eve" }) };

function serverWith(options: Parameters<typeof testServer>[0] = {}) {
  const provider = scripted(() => ({ text: "Hello." }));
  return { provider, ...testServer({ agents: [createAgent({ name: "helper", provider, prompt: "The agent's." })], ...options }) };
}

describe("B106: a system prompt for one run", () => {
  it("takes the place of the agent's prompt for a trusted caller, for this run alone, by both routes", async () => {
    const { provider, ask, send } = serverWith();
    await ask("/api/sessions", { json: { id: "a" } });
    const options = { systemPrompt: "Mine." };
    for (const json of [
      { sessionId: "a", input: "Hi", options },
      { sessionId: "a", input: "Hi" },
    ])
      await (await send("/api/agent/execute", { json })).text();
    expect(provider.requests.map(({ system }) => systemText(system))).toEqual(["Mine.", "The agent's."]);
    expect((await ask("/api/sessions/a/messages", { json: { input: "Hi", options } })).status).toBe(202);
    await expect.poll(() => provider.requests.map(({ system }) => systemText(system)).at(2)).toBe("Mine.");
  });

  it("is refused with 403 for any other caller, and nothing is recorded", async () => {
    const { provider, ask, refused } = serverWith(otherUser);
    await ask("/api/sessions", { json: { id: "a" } });
    const before = (await ask("/api/sessions/a")).body;
    const options = { systemPrompt: "Mine." };
    for (const [path, json] of [
      ["/api/agent/execute", { sessionId: "a", input: "Hi", options }],
      ["/api/agent/execute", { context: {}, input: "Hi", options }],
      ["/api/sessions/a/messages", { input: "Hi", options }],
    ] as const)
      expect(await refused(path, { json })).toMatchObject({
        status: 403,
        code: "FORBIDDEN",
        detail: expect.stringContaining("systemPrompt"),
      });
    expect(provider.requests).toEqual([]);
    expect((await ask("/api/sessions/a")).body).toEqual(before);
  });
});

/** A dialect that numbers its frames over the whole stream. */
const numbered = (name: string): StreamDialect => ({
  name,
  open() {
    let count = 0;
    return {
      events: (session, events) => events.map(({ type }) => ({ event: name, data: { session, type, at: ++count } })),
      notification: () => [],
    };
  },
});
const versions = { dialects: [numbered("plain"), numbered("rich")], streamVersions: { 1: "plain", 2: "rich" } };

describe("B64, B106: the stream version of a request", () => {
  it.each([
    [1, "plain"],
    [2, "rich"],
  ])(
    "%i streams the run in the frames of its dialect, `%s`, between the first and the last frame of an execution",
    async (streamVersion, name) => {
      const { send } = serverWith(versions);
      const response = await send("/api/agent/execute", { json: { context: {}, input: "Hi", streamVersion } });
      expect(response.status).toBe(200);
      const frames = (await response.text()).split("\n\n").filter((frame) => frame.includes("data: "));
      const names = frames.map((frame) => /event: (.*)/.exec(frame)?.[1]);
      expect(names.at(0)).toBe("session_start");
      expect(names.at(-1)).toBe("execute_complete");
      expect([...new Set(names.slice(1, -1))]).toEqual([name]);
      const data = frames.slice(1, -1).map((frame) => JSON.parse(/data: (.*)/.exec(frame)?.[1] ?? "") as { type: string; at: number });
      expect(data.map(({ at }) => at)).toEqual(data.map((_, index) => index + 1));
      expect(data.map(({ type }) => type)).toEqual(expect.arrayContaining(["run_start", "text_delta", "message_end", "run_end"]));
      expect(frames.some((frame) => frame.includes("id: "))).toBe(false);
    },
  );

  it("names the dialect of the notifications where an input is only accepted", async () => {
    const { ask } = serverWith(versions);
    await ask("/api/sessions", { json: { id: "a" } });
    const { status, body } = await ask("/api/sessions/a/messages", { json: { input: "Hi", streamVersion: 2 } });
    expect([status, body["dialect"]]).toEqual([202, "rich"]);
  });

  it("that the server does not have is refused with its number, and so is a name without a dialect", async () => {
    const { ask, refused } = serverWith(versions);
    await ask("/api/sessions", { json: { id: "a" } });
    const wanted = {
      status: 400,
      code: "INPUT_INVALID",
      detail: expect.stringContaining("stream version 3"),
      fix: expect.stringContaining("1 or 2"),
    };
    expect(await refused("/api/agent/execute", { json: { sessionId: "a", input: "Hi", streamVersion: 3 } })).toMatchObject(wanted);
    expect(await refused("/api/sessions/a/messages", { json: { input: "Hi", streamVersion: 3 } })).toMatchObject(wanted);
    const bare = serverWith();
    expect(await bare.refused("/api/agent/execute", { json: { context: {}, input: "Hi", streamVersion: 1 } })).toMatchObject({
      status: 400,
    });
    expect(() => serverWith({ streamVersions: { 1: "missing" } })).toThrow(/`dialects` does not have/);
  });
});
