import { describe, expect, test } from "vitest";
import { levelOfEnvironment, levelOfFlags } from "../config/config-level.ts";
import { configure } from "../config/configure.ts";
import { type AgentFlags, agentFlags, chosenAgent } from "./chosen-agent.ts";

const chosen = (flags: AgentFlags, environment: Record<string, string> = {}): ReturnType<typeof chosenAgent> =>
  chosenAgent(configure([levelOfFlags(flags), levelOfEnvironment(environment)]).values);

describe("the agent that answers", () => {
  test("is the assistant, unless a flag or a variable names another; the flag wins", () => {
    const web = { LOOPWRIGHT_WEB: "http://localhost:8888" };
    expect(chosen({})).toEqual({ agentName: "assistant", webUrl: undefined });
    expect(chosen({}, { ...web, LOOPWRIGHT_AGENT: "research" }).agentName).toBe("research");
    expect(chosen({ agent: "assistant", web: "http://localhost:1" }, { ...web, LOOPWRIGHT_AGENT: "research" })).toEqual({
      agentName: "assistant",
      webUrl: "http://localhost:1",
    });
  });

  test.each([
    ["an agent that does not exist", { agent: "pirate" }, /There is no agent `pirate`/],
    ["a research without a web", { agent: "research" }, /no web to search/],
    ["a web that is no address", { web: "localhost:8888" }, /no http or https address/],
  ])("is refused: %s", (_, flags, message) => {
    expect(() => chosen(flags)).toThrow(message);
  });

  test("stands in the command that continues its session", () => {
    expect(agentFlags({ agentsFile: undefined, agentName: "assistant", webUrl: "http://a" })).toBe("");
    expect(agentFlags({ agentsFile: undefined, agentName: "research", webUrl: "http://a" })).toBe(" --agent research --web http://a");
  });
});
