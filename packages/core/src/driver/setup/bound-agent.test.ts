import { expect, it } from "vitest";
import { createAgent } from "../../agent/agent.ts";
import { emptyState } from "../../loop/state.ts";
import { scripted } from "../../memory/scripted-provider.ts";
import { bindAgent } from "./bound-agent.ts";

const agent = createAgent({ name: "tester", provider: scripted([]), prompt: "Be kind." });
const tools = [{ name: "choose", description: "Lets the person choose.", parameters: { type: "object" } }];
const opened = { ...emptyState, status: "open", agent: "tester", tools, prompt: "Be brief." } as const;

it("the agent has the tools and the prompt of the log, and its own again where the log is gone", () => {
  const bound = bindAgent({ agent }, "s1");
  const { digest } = bound;
  bound.bind(opened);
  const prompt = [{ text: "Be brief.", source: "session", cache: "session" }];
  expect([bound.agent.prompt, bound.registry.tools.map(({ name }) => name)]).toEqual([prompt, ["choose"]]);
  expect(bound.digest).not.toBe(digest);
  bound.bind(emptyState);
  expect([bound.agent.prompt, bound.registry.tools, bound.digest]).toEqual(["Be kind.", [], digest]);
});

it("the agent is made once for one opening", () => {
  const bound = bindAgent({ agent, tools, prompt: "Be brief." }, "s1");
  const { agent: first } = bound;
  bound.bind(emptyState);
  bound.bind({ ...opened, tools: bound.given.tools ?? [] });
  expect(bound.agent).toBe(first);
});
