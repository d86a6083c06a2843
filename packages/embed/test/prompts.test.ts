import { type AgentPrompt, createAgent, createSession, execute, type PromptLayer, systemText } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import type { SystemPart } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { activeModuleContext, compose, fromStatic, fromTeam } from "../src/index.ts";

const access = { user: "ann", scope: "team-a" };
const modules = { invoices: { prompt: "The user looks at invoices." } };

/** The system prompts of one request each, for inputs with these labels. */
async function systemsOf(
  prompt: AgentPrompt,
  labels: readonly { readonly [name: string]: string }[] = [{}],
): Promise<(readonly SystemPart[] | undefined)[]> {
  const provider = scripted(() => ({ text: "ok" }));
  const session = createSession({ agent: createAgent({ name: "helper", provider, prompt }), access });
  for (const one of labels) await execute(session, "Hi", { labels: one }).result();
  return provider.requests.map(({ system }) => system);
}

describe("a composed prompt", () => {
  it("A18: has the layers of platform, team and module in this order, and only those with a text", async () => {
    const teams: Record<string, string | undefined> = { "team-a": "Ann's team sells tulips." };
    const prompt = compose(
      fromStatic("Be brief."),
      fromTeam(({ scope }) => teams[scope]),
      activeModuleContext(modules),
    );
    const [both] = await systemsOf(prompt, [{ activeModule: "invoices" }]);
    expect(both?.map(({ source, text }) => `${source}: ${text}`)).toEqual([
      "platform: Be brief.",
      "team: Ann's team sells tulips.",
      "module: The user looks at invoices.",
    ]);
    teams["team-a"] = undefined;
    const [module, alone] = await systemsOf(prompt, [{ activeModule: "invoices" }, {}]);
    expect(systemText(module)).toBe("Be brief.\n\nThe user looks at invoices.");
    expect(systemText(alone)).toBe("Be brief.");
  });

  it("A19: asks its builders at the same time, keeps the order of the list and leaves blank texts out", async () => {
    const ends: ((text: string) => void)[] = [];
    const slow: PromptLayer = { text: () => new Promise<string>((resolve) => ends.push(resolve)) };
    const asked = systemsOf(compose(slow, fromStatic("Between."), slow, fromStatic(" \n"), slow));
    await expect.poll(() => ends.length, { interval: 1 }).toBe(3);
    // The last one first.
    ends[2]?.("Third.");
    ends[0]?.("First.");
    ends[1]?.("");
    expect((await asked).map((system) => systemText(system))).toEqual(["First.\n\nBetween.\n\nThird."]);
  });

  it("marks the stable layers before the first one of a session for the vendor's cache, and none behind it", async () => {
    const [system] = await systemsOf(compose("Be brief.", fromStatic("Of the shop."), ({ sessionId }) => `In ${sessionId}.`, "Last."));
    expect(system?.map(({ cache }) => cache)).toEqual(["stable", "stable", "session", "session"]);
  });

  it("takes prompts of agents, whole lists of layers and nothing", async () => {
    const layers: AgentPrompt = [{ text: "One.", source: "one" }, { text: () => "Two." }];
    const [system] = await systemsOf(compose(undefined, layers, fromStatic("Three.", "three")));
    expect(system?.map(({ source, text }) => [source, text])).toEqual([
      ["one", "One."],
      ["agent", "Two."],
      ["three", "Three."],
    ]);
  });
});
