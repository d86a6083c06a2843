import type { Agent, Tool } from "@loopwright/core";

const stands = new WeakMap<Tool, Tool>();
const mocks = new WeakSet<Tool>();

/** The tool, which never runs: a call of it gets a text in place of its result, without an approval. A tool that its caller runs stays as it is. */
function mockOf(tool: Tool): Tool {
  if (!tool.execute || mocks.has(tool)) return tool;
  const known = stands.get(tool);
  if (known) return known;
  const { approval: _, ...shown } = tool;
  const mock: Tool = { ...shown, execute: () => `\`${tool.name}\` was not run: the tools of this server are mocked.` };
  stands.set(tool, mock);
  mocks.add(mock);
  return mock;
}

/** The agent, none of whose tools runs, not those that its hooks bring, and not those of agents that it starts. */
export function withMockTools(agent: Agent): Agent {
  const hook = {
    name: "mock tools",
    isInherited: true,
    prepare: ({ tools }: { readonly tools: readonly Tool[] }) => {
      const mocked = tools.map(mockOf);
      return mocked.every((tool, at) => tool === tools[at]) ? undefined : { tools: mocked };
    },
  } as const;
  return Object.freeze({ ...agent, tools: Object.freeze(agent.tools.map(mockOf)), hooks: Object.freeze([...agent.hooks, hook]) });
}
