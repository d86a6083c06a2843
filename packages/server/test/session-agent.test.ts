import { describe, expect, it } from "vitest";
import { scriptedAgent, testServer } from "./test-server.ts";

const lawyer = () => scriptedAgent([{ text: "One." }, { text: "Two." }, { text: "Three." }], { name: "lawyer" });
const clown = () => scriptedAgent([{ text: "Honk." }], { name: "clown" });
const path = "/api/agent/execute";

describe("a session that has begun with one agent", () => {
  it("refuses an input for another one, and records nothing of it", async () => {
    const { ask, send, refused } = testServer({ agents: [lawyer(), clown()] });
    const begun = await send(path, { json: { sessionId: "s1", agent: "lawyer", input: "hello" } });
    await begun.text();
    const before = (await ask("/api/sessions/s1")).body;
    const problem = await refused(path, { json: { sessionId: "s1", agent: "clown", input: "hi" } });
    expect(problem).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    expect(JSON.stringify(problem)).toMatch(/lawyer.*clown/);
    expect((await ask("/api/sessions/s1")).body).toEqual(before);
  });

  it("answers an input that names its agent again, or none", async () => {
    const { send } = testServer({ agents: [lawyer(), clown()] });
    await (await send(path, { json: { sessionId: "s1", agent: "lawyer", input: "hello" } })).text();
    expect(await (await send(path, { json: { sessionId: "s1", agent: "lawyer", input: "hi" } })).text()).toContain("Two.");
    expect(await (await send(path, { json: { sessionId: "s1", input: "hi again" } })).text()).toContain("Three.");
  });
});
