import { createAgent, type Tool, type ToolEvent } from "@loopwright/core";
import type { ExecuteUnderTest } from "../../src/execute/execute-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import { localExecution } from "./local-execution.ts";

type Completion = Extract<ToolEvent, { readonly type: "complete" }>;

/** Changes what tools complete with. */
const spoiledCompletion =
  (spoil: (completion: Completion) => Completion): Make<ExecuteUnderTest> =>
  async () => ({
    serve: (agent) => localExecution.serve(createAgent({ ...agent, tools: agent.tools.map((tool) => spoiledTool(tool, spoil)) })),
  });

function spoiledTool(tool: Tool, spoil: (completion: Completion) => Completion): Tool {
  const { execute } = tool;
  if (!execute) return tool;
  return {
    ...tool,
    async execute(args, context) {
      const returned: unknown = await execute(args, context);
      return isCompletion(returned) ? spoil(returned) : (returned as string);
    },
  };
}

const isCompletion = (value: unknown): value is Completion =>
  typeof value === "object" && value !== null && "type" in value && value.type === "complete";

export const executeHistorySaboteurs: readonly Saboteur<ExecuteUnderTest>[] = [
  {
    defect: "shows the whole output to later runs too",
    breaks: ["summary"],
    make: spoiledCompletion(({ summary: _, ...completion }) => completion),
  },
  {
    defect: "shows the summary in the run of the call already",
    breaks: ["summary"],
    make: spoiledCompletion((completion) => ({ ...completion, output: completion.summary ?? completion.output })),
  },
];
