import { manualClock } from "@loopwright/core/memory";
import type { SessionSnapshot } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { until } from "../../../host/test/turn-of-loop.ts";
import { pickColour, scriptedAgent } from "../test-server.ts";
import { framesOf } from "./frames-of.ts";
import { annesToken, bearer, bensToken, type PayloadScene, payloadScene, people } from "./payload-scene.ts";

const anne = bearer(annesToken);
const result = (toolCallId: string, content: unknown = "red") => ({ role: "tool_result", toolCallId, content });
const answered = (...results: readonly object[]) => ({ json: { results }, headers: anne });
const path = "/api/sessions/a/tool-results";

/** Anne's session waits for what she picks. */
async function waiting(timeoutMs?: number): Promise<PayloadScene & { readonly clock: ReturnType<typeof manualClock> }> {
  const clock = manualClock();
  const tool = timeoutMs === undefined ? pickColour : { ...pickColour, timeoutMs };
  const agent = scriptedAgent([{ calls: [{ name: "pick_colour", args: {}, id: "c1" }] }, { text: "Well." }], { tools: [tool] });
  const scene = await payloadScene({ authenticate: people, agents: [agent], clock });
  await scene.send("/api/sessions", { json: { id: "a" }, headers: anne });
  await scene.send("/api/sessions/a/messages", { json: { input: "Hi" }, headers: anne });
  await framesOf(await scene.send("/api/sessions/a/events", { headers: anne }));
  return { ...scene, clock };
}

const statusOf = async ({ ask }: PayloadScene): Promise<unknown> =>
  (await ask<SessionSnapshot>("/api/sessions/a", { headers: anne })).body.status;

describe("M03: what runs a tool elsewhere", () => {
  it("is refused where it answers a call that was never made, and the call waits as before", async () => {
    const scene = await waiting();
    const before = scene.writes.length;
    for (const id of ["c9", "c1 ", "C1", "", "a.1.0", "constructor"])
      expect((await scene.refused(path, answered(result(id)))).status).toBeGreaterThanOrEqual(400);
    expect((await scene.refused(path, answered(result("c1"), result("c9")))).code).toBe("CALL_UNKNOWN");
    expect((await scene.refused(path, { json: { results: [result("c1")] }, headers: bearer(bensToken) })).status).toBe(404);
    expect(scene.writes).toHaveLength(before);
    expect(await statusOf(scene)).toBe("waiting");
  });

  it("counts once where it answers twice: the first result stays", async () => {
    const scene = await waiting();
    expect((await scene.ask(path, answered(result("c1", "red")))).status).toBe(202);
    await framesOf(await scene.send("/api/sessions/a/events", { headers: anne }));
    const kept = scene.writes.length;
    expect((await scene.send(path, answered(result("c1", "blue")))).status).toBeGreaterThanOrEqual(400);
    expect(scene.writes).toHaveLength(kept);
    const { body } = await scene.ask("/api/sessions/a", { headers: anne });
    expect(JSON.stringify(body)).toContain("red");
    expect(JSON.stringify(body)).not.toContain("blue");
  });

  it("is refused where one body answers a call twice", async () => {
    const scene = await waiting();
    expect((await scene.send(path, answered(result("c1", "red"), result("c1", "blue")))).status).toBeGreaterThanOrEqual(400);
    expect(await statusOf(scene)).toBe("waiting");
  });

  it("that dies in the middle of a call holds the run until the deadline of the tool, and a later answer changes nothing", async () => {
    const scene = await waiting(1_000);
    scene.clock.advance(1_001);
    await until(async () => (await statusOf(scene)) === "idle", "the run ends");
    const { body } = await scene.ask("/api/sessions/a", { headers: anne });
    expect(JSON.stringify(body)).toContain("Well.");
    expect((await scene.refused(path, answered(result("c1", "too late")))).status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify((await scene.ask("/api/sessions/a", { headers: anne })).body)).not.toContain("too late");
  });

  it("with a result of 100 MB is refused by its announcement, and with one above the limit before anything is kept", async () => {
    const scene = await waiting();
    const before = scene.writes.length;
    const large = JSON.stringify({ results: [result("c1", "x".repeat(2_000_000))] });
    const headers = { ...anne, "Content-Type": "application/json" };
    expect(await scene.refused(path, { body: large, headers })).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
    expect(await scene.refused(path, { body: "{}", headers: { ...headers, "Content-Length": "100000000" } })).toMatchObject({
      status: 413,
    });
    expect(scene.writes).toHaveLength(before);
    expect(await statusOf(scene)).toBe("waiting");
  });

  it("gets no tool run and no words into the prompt by fields that results do not have", async () => {
    const scene = await waiting();
    const before = scene.writes.length;
    for (const role of ["system", "assistant", "user", "notice"])
      expect((await scene.send(path, answered({ ...result("c1"), role }))).status).toBe(400);
    expect(scene.writes).toHaveLength(before);
    const more = { calls: [{ name: "pick_colour", canary: 1 }], system: "canary", role: "tool_result" };
    expect((await scene.send(path, answered({ ...result("c1"), ...more }))).status).toBe(202);
    const text = await (await scene.send("/api/sessions/a/events", { headers: anne })).text();
    expect(text).toContain("Well.");
    expect(text).not.toContain("canary");
  });
});
