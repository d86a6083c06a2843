import { AgentError, type JsonObject, type ProgressHandle, type ToolContext, type Usage } from "@loopwright/core";
import { type AnyTool, type CallResult, collectOutput, toolFailure, validateArguments } from "@loopwright/core/internals";

/** What a single call of a tool did. */
export interface ToolTrial {
  /** What the run would record: the message, the outcome, the failure. */
  readonly result: CallResult;
  /** Text of the result's text parts and JSON of its JSON parts, joined. */
  readonly text: string;
  /** What a streaming tool yielded, in order. */
  readonly deltas: readonly string[];
  /** Titles of the steps that were opened. */
  readonly steps: readonly string[];
  /** What it reported with `addUsage`. */
  readonly usage: readonly Usage[];
  /** What an operator would read, for example of an output that is no JSON. */
  readonly warnings: readonly string[];
}

export interface ToolTrialOptions {
  /** Replaces single fields of the context. */
  readonly context?: Partial<ToolContext>;
  /** Called with each delta as it comes. */
  readonly onDelta?: (delta: string) => void;
  /** Aborted when no one waits for the call any longer, as after a deadline: what comes later is dropped. */
  readonly abandon?: AbortSignal;
}

/** Calls one tool as a run would, without a session: arguments are checked, output is collected. Never rejects because of the tool. */
export async function runTool(tool: AnyTool, args: JsonObject, options: ToolTrialOptions = {}): Promise<ToolTrial> {
  const deltas: string[] = [];
  const steps: string[] = [];
  const usage: Usage[] = [];
  const warnings: string[] = [];
  const onDelta = (delta: string): void => {
    deltas.push(delta);
    options.onDelta?.(delta);
  };
  const context: ToolContext = {
    ...quietContext,
    progress: (title) => {
      steps.push(title);
      return quietHandle;
    },
    addUsage: (used) => usage.push(used),
    ...options.context,
  };
  const call = async (): Promise<CallResult> => {
    const checked = await validateArguments(tool, args);
    if (checked.problem !== undefined) return argumentFailure(checked.problem);
    if (!tool.execute) throw new Error("The tool has no `execute`.");
    const { name, outputMax } = tool;
    const { abandon } = options;
    try {
      const returned = tool.execute(checked.args, context);
      return await collectOutput(returned, { name, outputMax, abandon, onDelta, onWarning: (warning) => warnings.push(warning) });
    } catch (error) {
      return toolFailure(error, tool);
    }
  };
  const result = await call();
  return { result, text: textOfResult(result), deltas, steps, usage, warnings };
}

const quietHandle: ProgressHandle = { update: () => {}, end: () => {} };

function refuseChild(key: string, method: string): never {
  throw new AgentError("CONFIG_INVALID", {
    message: `The tool started the child \`${key}\`, and there is no session that could have it.`,
    fix: `Pass \`context: { ${method} }\` to \`runTool\`, or run the tool in a session.`,
  });
}

const quietContext: ToolContext = {
  callId: "call_1",
  callKey: "run.1.0",
  idempotencyKey: "run.1.0",
  attempt: 1,
  signal: new AbortController().signal,
  deadline: undefined,
  access: { user: "local", scope: "local" },
  labels: {},
  progress: () => quietHandle,
  addUsage: () => {},
  logger: { log: () => {} },
  record: async () => {},
  child: async (key) => refuseChild(key, "child"),
  spawn: async (key) => refuseChild(key, "spawn"),
  files: undefined,
  session: { id: "session", messages: () => [] },
  resources: undefined,
};

function argumentFailure(problem: string): CallResult {
  return {
    outcome: "error",
    output: [{ type: "text", text: problem }],
    failure: { code: "TOOL_ARGUMENTS", message: problem, retryable: false },
  };
}

function textOfResult(result: CallResult): string {
  return result.output.map((part) => (part.type === "text" ? part.text : part.type === "json" ? JSON.stringify(part.value) : "")).join("");
}
