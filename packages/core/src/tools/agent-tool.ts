import { AgentError } from "../errors.ts";
import type { JsonObject, JsonSchema } from "../message/json.ts";
import type { UserMessage } from "../message/message.ts";
import type { ChildAgent, ChildOptions, SpawnedChild } from "./child-agent.ts";
import { type ArgsOf, defineTool } from "./define-tool.ts";
import type { StandardSchema } from "./standard-schema.ts";
import type { Tool, ToolEvent } from "./tool.ts";

/** How an agent is offered to another agent as a tool. */
export interface AgentToolOptions<Schema extends StandardSchema | JsonSchema = JsonSchema>
  extends Pick<ChildOptions, "budget">,
    Pick<Tool<ArgsOf<Schema>>, "label" | "timeoutMs" | "outputMax" | "sequential" | "counts" | "approval" | "enabled"> {
  /** The agent that runs, made by `createAgent`. */
  readonly agent: ChildAgent<unknown>;
  /** True: the call returns at once, and the end of the child becomes an input of the session. Default false: the call waits. */
  readonly background?: boolean;
  /** Default: the name of the agent. */
  readonly name?: string;
  /** For the model: what the agent does and when to use it. Default: a sentence with its name. */
  readonly description?: string;
  /** The arguments. Default: `{ task: string }`. */
  readonly parameters?: Schema;
  /** The child's input. Default: `task`, or the arguments as JSON text if they have none. Must be the same for the same arguments. */
  readonly input?: { make(args: ArgsOf<Schema>): string | UserMessage }["make"];
}

const taskSchema: JsonSchema = {
  type: "object",
  properties: { task: { type: "string", description: "The whole task: the agent sees nothing else of this conversation." } },
  required: ["task"],
  additionalProperties: false,
};

/**
 * Makes a tool whose call runs an agent as a child, in its own session; a crash interrupts the child and does not repeat it. The model reads the child's
 * answer, or its typed output if it has one; `details` of the result name the session and its usage. A child that failed is an error result. The only time
 * limit is `timeoutMs`.
 * @throws AgentError CONFIG_INVALID
 * @example agentTool({ agent: researcher, description: "Researches one question on the web." })
 */
export function agentTool<const Schema extends StandardSchema | JsonSchema = JsonSchema>(
  options: AgentToolOptions<Schema>,
): Tool<ArgsOf<Schema>> {
  const { agent, budget, background = false, input = taskOf, name = agent?.name, ...more } = options ?? {};
  if (typeof agent?.name !== "string")
    throw new AgentError("CONFIG_INVALID", { message: "The tool has no agent.", fix: "Pass what `createAgent` returned as `agent`." });
  const {
    description = `Gives a task to the agent \`${agent.name}\` and returns ${background ? "at once; its answer comes later, as a message" : "its answer"}.`,
    parameters = taskSchema as Schema,
    ...tool
  } = more;
  return defineTool<Schema>({
    ...{ timeoutMs: 0, ...tool },
    ...{ name: String(name), description, parameters },
    // The same call finds the same child, so running it again is safe whatever the child does.
    replay: "idempotent",
    agents: [agent],
    async execute(args, { child, spawn }): Promise<Extract<ToolEvent, { type: "complete" }>> {
      if (background) return startedBy(agent.name, await spawn("agent", agent, input(args), budget ? { budget } : {}));
      const end = await child("agent", agent, input(args), { suspends: true, ...(budget ? { budget } : {}) });
      if (end.error) throw end.error;
      const { session, text, output, toolCallCount, usage, cost, limit } = end;
      const spent = { toolCallCount, ...(usage ? { usage } : {}), ...(cost ? { cost } : {}), ...(limit ? { limit } : {}) };
      return { type: "complete", output: output === undefined ? text : output, details: { agent: agent.name, session, ...spent } };
    },
  });
}

const startedBy = (agent: string, { session }: SpawnedChild): Extract<ToolEvent, { type: "complete" }> => ({
  type: "complete",
  output: `The agent \`${agent}\` works in the background now (session \`${session}\`). Its report will come as a message; do not wait for it.`,
  details: { agent, session, background: true },
});

function taskOf(args: unknown): string {
  const { task } = args as JsonObject;
  return typeof task === "string" ? task : JSON.stringify(args);
}
