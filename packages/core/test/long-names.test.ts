import { expect, it } from "vitest";
import { type AgentError, createAgent, createSession, defineTool, execute, isAgentError } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";

const long = "x".repeat(9_000);
const provider = scripted([{ text: "ok" }]);
const tool = { description: "Does.", parameters: { type: "object" }, execute: () => "done" } as const;

async function refusal(doing: () => unknown): Promise<AgentError> {
  try {
    await doing();
  } catch (error) {
    if (isAgentError(error)) return error;
    throw error;
  }
  throw new Error("It was not refused.");
}

it("names what was refused cut and once, however long it is", async () => {
  const session = createSession({ agent: createAgent({ name: "a", provider }) });
  await execute(session, "Hi").result();
  const twin = { ...tool, name: long };
  const refused: readonly (() => unknown)[] = [
    () => createAgent({ name: long, provider }),
    () => createAgent({ name: "a", provider, tools: [twin, twin] }),
    () => createAgent({ name: "a", provider, limits: { turnsMax: long as unknown as number } }),
    () => createAgent({ name: "a", provider, deadlines: { idleMs: long as unknown as number } }),
    () => defineTool({ ...tool, name: long }),
    () => createSession({ agent: createAgent({ name: "a", provider }), id: long }),
    () => session.moveHead(long),
    () => session.decide(long, { decision: "allow" }),
    () => execute(session, "Hi", { parent: long }).result(),
    () => execute(session, { regenerate: long }).result(),
    () => execute(session, [{ role: "tool_result", toolCallId: long, content: "a" }]).result(),
  ];
  for (const doing of refused) {
    const { message, fix, details } = await refusal(doing);
    const whole = JSON.stringify({ message, fix, details });
    expect(whole.length).toBeLessThan(600);
    expect(message.match(/x{20,}/g)?.length ?? 0, message).toBeLessThanOrEqual(1);
  }
});
