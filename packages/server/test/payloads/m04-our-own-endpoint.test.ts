import { randomIds } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { scriptedAgent } from "../test-server.ts";
import { framesOf } from "./frames-of.ts";
import { annesToken, bearer, bensToken, payloadScene, people } from "./payload-scene.ts";
import { json } from "./raw-exchange.ts";

const anne = bearer(annesToken);
const ben = bearer(bensToken);

describe("M04: our own endpoint", () => {
  it("gives a guessed id the answer of one that does not exist, and its own ids cannot be counted up", async () => {
    const { ask, refused } = await payloadScene({ authenticate: people });
    const made = await Promise.all(
      Array.from({ length: 20 }, async () => String((await ask("/api/sessions", { json: {}, headers: anne })).body["sessionId"])),
    );
    // The time at the beginning of an id may be guessed; the rest is random.
    for (const id of made) {
      const guesses = [`${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`, id.slice(0, -1), `${id}0`];
      for (const guess of guesses)
        expect(await refused(`/api/sessions/${guess}`, { headers: anne })).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
    }
    expect(new Set(made.map((id) => id.slice(-12))).size).toBe(20);
    expect(randomIds.next()).toMatch(/^[0-9a-v]{26}$/);
  });

  it("reads a `Last-Event-ID` of another session as a place in the session that is asked for, and gives nothing of the other", async () => {
    const agent = scriptedAgent([{ text: "canary" }]);
    const { ask, send } = await payloadScene({ authenticate: people, agents: [agent] });
    await ask("/api/sessions/", { json: { id: "annes" }, headers: anne });
    for (const id of ["long", "short"]) await ask("/api/sessions", { json: { id }, headers: anne });
    await ask("/api/sessions", { json: { id: "bens" }, headers: ben });
    for (let turn = 0; turn < 3; turn++) {
      await ask("/api/sessions/long/messages", { json: { input: "canary" }, headers: anne });
      await framesOf(await send("/api/sessions/long/events", { headers: anne }));
    }
    const frames = await framesOf(await send("/api/sessions/long/events", { headers: anne }));
    const cursor = frames.findLast(({ id }) => id !== undefined)?.id ?? "";
    expect(cursor).toMatch(/^\d+\.\d+$/);
    for (const [path, headers] of [
      ["/api/sessions/short/events", anne],
      ["/api/sessions/bens/events", ben],
    ] as const) {
      const answer = await send(path, { headers: { ...headers, "Last-Event-ID": cursor } });
      const text = await answer.text();
      expect([path, answer.status]).toEqual([path, 409]);
      expect(text).not.toMatch(/canary|long|annes/);
    }
    const foreign = await send("/api/sessions/long/events", { headers: { ...ben, "Last-Event-ID": cursor } });
    expect(foreign.status).toBe(404);
  });

  it("takes no batch: ten thousand requests in one body are refused before anything is kept", async () => {
    const { refused, writes } = await payloadScene({ authenticate: people });
    const batch = Array.from({ length: 10_000 }, (_, id) => ({ jsonrpc: "2.0", id, method: "tools/call", input: "Hi", context: {} }));
    for (const path of ["/api/agent/execute", "/api/sessions"])
      expect(await refused(path, { body: JSON.stringify(batch), headers: { ...json, ...anne } })).toMatchObject({
        status: 400,
        code: "INPUT_INVALID",
      });
    expect(writes).toEqual([]);
  });

  it("without an `Origin` serves programs with a token, and nothing that a browser's cookies alone would pay for", async () => {
    const { refused, ask } = await payloadScene({ authenticate: people });
    expect((await ask("/api/sessions", { json: {}, headers: anne })).status).toBe(201);
    expect(
      await refused("/api/sessions", { json: {}, headers: { Cookie: `token=${annesToken}; loopwright=${annesToken}` } }),
    ).toMatchObject({
      status: 401,
    });
    for (const Origin of ["null", "https://evil.example"])
      expect(await refused("/api/sessions", { json: {}, headers: { ...anne, Origin } })).toMatchObject({ status: 403 });
  });
});
