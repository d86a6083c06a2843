import { expect, it } from "vitest";
import { createAgent, createSession, defineTool, execute } from "../src/index.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";
import { manualClock } from "../src/memory/manual-clock.ts";
import { calm } from "./harness.ts";

it("a client call that was allowed waits for its answer beyond the deadline of the approval", async () => {
  const clock = manualClock();
  const pick = defineTool({ name: "pick", description: "Asks the person.", parameters: { type: "object" } });
  const agent = createAgent({
    name: "a",
    provider: scripted([{ calls: [{ name: "pick" }] }, { text: "Red it is." }]),
    tools: [pick],
    hooks: [{ name: "approve", gate: () => ({ action: "ask", timeoutMs: 60_000 }) }],
  });
  const session = createSession({ agent, store: memoryStore({ clock }), clock });
  await execute(session, "Pick one.").result();
  const [approval] = session.pendingApprovals;
  expect(approval?.deadline).toBe(clock.now() + 60_000);
  await session.decide(approval?.callKey ?? "", { decision: "allow" });
  await calm();
  expect(session.pendingToolCalls).toMatchObject([{ toolName: "pick" }]);
  expect(session.pendingToolCalls[0]).not.toHaveProperty("deadline");
  clock.advance(120_000);
  await calm();
  expect(session.pendingToolCalls).toMatchObject([{ toolName: "pick" }]);
  const { stream } = await session.answer(session.pendingToolCalls[0]?.callKey ?? "", "red");
  expect((await stream().result()).text).toBe("Red it is.");
});
