import { describe, expect, it } from "vitest";
import { agentTool, createAgent, createSession, execute, type RunLimits } from "../src/index.ts";
import { memoryStore, type ScriptedStep, scripted } from "../src/memory/index.ts";

/** A model that starts this many helpers in each answer, as long as it has tools. */
function runaway(helpersOfAnswer: number, limits: Partial<RunLimits>) {
  const store = memoryStore();
  let [running, most] = [0, 0];
  const answer: ScriptedStep = () => {
    most = Math.max(most, ++running);
    const after = new Promise<void>((resolve) => {
      setImmediate(() => {
        running--;
        resolve();
      });
    });
    return { text: "found", after };
  };
  const helper = createAgent({ name: "helper", provider: scripted(Array.from({ length: 2_000 }, () => answer)) });
  const always: ScriptedStep = ({ tools }) =>
    tools
      ? { calls: Array.from({ length: helpersOfAnswer }, (_, at) => ({ name: "helper", args: { task: `Part ${at}.` }, id: `c${at}` })) }
      : { text: "Enough." };
  const provider = scripted(Array.from({ length: 50 }, () => always));
  const agent = createAgent({ name: "main", provider, tools: [agentTool({ agent: helper })], limits });
  const session = createSession({ agent, store });
  const started = async (): Promise<number> =>
    (await store.log.read({ scope: "local", session: session.id })).filter(({ type }) => type === "child.linked").length;
  return { session, started, most: () => most };
}

describe("M10: a model that starts a thousand helpers", () => {
  it("gets as many as the limit of tool calls, at most sixteen of them at once, and must answer then", async () => {
    const { session, started, most } = runaway(1_000, { toolCallsMax: 25 });
    const result = await execute(session, "Go.").result();
    expect(result).toMatchObject({ status: "completed", text: "Enough.", limit: { which: "toolCalls", value: 25 } });
    expect(await started()).toBe(25);
    expect(most()).toBeGreaterThan(1);
    expect(most()).toBeLessThanOrEqual(16);
  });

  it("and one more in one answer has the answer refused whole, and none is started", async () => {
    const { session, started } = runaway(1_001, {});
    const result = await execute(session, "Go.").result();
    expect(result).toMatchObject({ status: "error", error: { code: expect.stringMatching(/^MODEL_/) } });
    expect(await started()).toBe(0);
  });
});
