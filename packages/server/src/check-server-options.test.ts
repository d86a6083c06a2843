import { type Agent, defineTool, type Tool } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { type ServeOptions, serve, work } from "../test/serve.ts";
import { scriptedAgent } from "../test/test-server.ts";

const any = (value: unknown): never => value as never;
const agent = scriptedAgent();
const tool = defineTool({ name: "act", description: "Acts.", parameters: { type: "object" } });
const byHand = (...tools: readonly Tool[]): readonly Agent[] => [agent, { ...agent, name: "other", tools }];
const picky: Agent = {
  ...agent,
  tools: [tool],
  provider: {
    ...scripted([]),
    checkTools() {
      throw new TypeError("Never.");
    },
  },
};

const agents: { readonly [what: string]: readonly Agent[] } = {
  "a tool whose name no vendor takes": byHand({ ...tool, name: "not a name" }),
  "two tools of one name": byHand(tool, { ...tool, description: "Acts too." }),
  "a tool whose schema is no object's": byHand({ ...tool, parameters: { type: "string" } }),
  "a tool that is nothing": byHand(any(undefined)),
  "tools that are no list": [{ ...agent, tools: any({}) }],
  "no model": [{ ...agent, model: "" }],
  "what is no agent": [any(null)],
  "no agent at all": [],
};

describe("a server and a worker do not start with", () => {
  const made: { readonly [what: string]: (options: ServeOptions) => unknown } = { server: serve, worker: work };

  it.each(Object.keys(agents))("%s", (what) => {
    for (const create of Object.values(made))
      expect(() => create({ agents: agents[what] ?? [], store: memoryStore() })).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID", fix: expect.stringMatching(/\w/) }),
      );
  });

  it("tools that the vendor of their agent does not take", () => {
    expect(() => serve({ agents: [picky], store: memoryStore() })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
