import { createAgent, createSession, defineTool, execute, type Tool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { describe, expect, it } from "vitest";
import { embedOptions, type Modules, platformTools, withModules } from "../src/index.ts";

const tool = (name: string, execute: Tool["execute"] = () => `ran ${name}`): Tool =>
  defineTool({ name, description: `Does ${name}.`, parameters: { type: "object" }, execute });
const modules: Modules = {
  invoices: { prompt: "Invoices.", title: "Invoices", tools: [tool("open_invoices")], hints: { icon: "bill" } },
  orders: { prompt: "Orders.", tools: [tool("open_orders")] },
};
const team = ({ scope }: { readonly scope: string }) => (scope === "garden" ? { name: "Garden", members: ["anne", "ben"] } : undefined);

describe("tools of three sources", () => {
  it("A24: the model has those of the platform, of the named module and of the agent, and each call runs the right one", async () => {
    const names = ["_platform_inspect_team", "_platform_list_modules", "open_invoices", "search", "open_orders"];
    const provider = scripted([{ calls: names.map((name) => ({ name })) }, { text: "Done." }, { text: "Done." }]);
    const agent = createAgent({ name: "helper", provider, tools: [tool("search"), ...platformTools({ team, modules })] });
    const session = createSession({ agent: withModules(agent, modules), access: { user: "anne", scope: "garden" } });
    await execute(session, "All.", { labels: { activeModule: "invoices" } }).result();
    const shown = (at: number): readonly string[] => (provider.requests[at]?.tools ?? []).map(({ name }) => name).toSorted();
    expect(shown(0)).toEqual(["_platform_inspect_team", "_platform_list_modules", "open_invoices", "search"]);
    const results = session.messages.flatMap((message) =>
      message.role === "tool_result" ? [[message.toolName, JSON.stringify(message.content)] as const] : [],
    );
    const resultOf = (name: string): string | undefined => results.find(([one]) => one === name)?.[1];
    expect(resultOf("_platform_inspect_team")).toContain("Garden");
    expect(resultOf("_platform_list_modules")).toContain("open_orders");
    expect([resultOf("open_invoices"), resultOf("search")]).toEqual([
      expect.stringContaining("ran open_invoices"),
      expect.stringContaining("ran search"),
    ]);
    expect(resultOf("open_orders")).toContain("TOOL_UNKNOWN");
    await execute(session, "Without a module.").result();
    expect(shown(2)).toEqual(["_platform_inspect_team", "_platform_list_modules", "search"]);
  });

  it("A24: a module cannot take a name of the platform, nor one of another module", () => {
    const agent = createAgent({ name: "helper", provider: scripted([]) });
    for (const name of ["_platform_inspect_team", "_platform_other", "_platformer"])
      expect(() => withModules(agent, { m: { prompt: "", tools: [tool(name)] } })).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID" }),
      );
    // A dot is in no name of a tool, so `_platform.` cannot be taken either.
    expect(() => tool("_platform.inspect_team")).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    const twice = { a: { prompt: "", tools: [tool("open")] }, b: { prompt: "", tools: [tool("open")] } };
    expect(() => embedOptions({ agents: [agent], modules: twice })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  it("A25: a tool of the platform gives each caller the own team alone, also where two ask at once", async () => {
    const answerFor = async (user: string, scope: string): Promise<string> => {
      const provider = scripted([{ calls: [{ name: "_platform_inspect_team" }] }, { text: "Done." }]);
      const session = createSession({
        agent: createAgent({ name: "helper", provider, tools: platformTools({ team }) }),
        access: { user, scope },
      });
      await execute(session, "Who am I?").result();
      return JSON.stringify(session.messages.find(({ role }) => role === "tool_result"));
    };
    const [anne, carl] = await Promise.all([answerFor("anne", "garden"), answerFor("carl", "kitchen")]);
    expect([anne.includes("Garden"), anne.includes("carl"), carl.includes("Garden"), carl.includes("carl")]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  it("the page gets titles and hints of the modules, and no prompt", async () => {
    const { agents, ...options } = embedOptions({ agents: [createAgent({ name: "helper", provider: scripted([]) })], modules });
    const server = createServer({ runtime: createRuntime({ agents }), ...options });
    const answer = await server.fetch(new Request("http://localhost/api/modules"), { remoteAddress: "127.0.0.1" });
    expect(await answer.json()).toEqual({
      modules: [
        { id: "invoices", title: "Invoices", hints: { icon: "bill" } },
        { id: "orders", title: "orders" },
      ],
    });
    await server.close();
  });
});
