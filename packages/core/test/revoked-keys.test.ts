import { describe, expect, it } from "vitest";
import { AgentError, defineTool, execute } from "../src/index.ts";
import { world } from "./harness.ts";

const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "seen" });
const refused = new AgentError("MODEL_AUTH", { message: "The vendor answered with status 401: key revoked." });

describe("F9: a key that is revoked in the middle of a run", () => {
  it("fails the run after the turns that it paid for, with no further attempt, and keeps what was done", async () => {
    const { session, provider, facts } = world([{ calls: [{ name: "look" }] }, { error: refused }, { text: "never" }], { tools: [look] });
    const { status, error } = await execute(session, "go").result();
    expect([status, error?.code, provider.requests.length]).toEqual(["error", "MODEL_AUTH", 2]);
    const types = (await facts()).map(({ type }) => type);
    expect(types).not.toContain("wait.scheduled");
    expect(types.filter((type) => type === "tool.finished")).toHaveLength(1);
  });

  it("is asked for anew once it was rotated: however often it was refused, no circuit opens", async () => {
    let key = "old";
    const { session } = world((() => (key === "old" ? { error: refused } : { text: "welcome" })) as never);
    for (let call = 0; call < 12; call++) expect((await execute(session, "x").result()).error?.code).toBe("MODEL_AUTH");
    key = "new";
    expect((await execute(session, "x").result()).text).toBe("welcome");
  });
});
