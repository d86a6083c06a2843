/*
 * Owns: a tool that runs on this side: how it crosses the wire, and one run of it, from the arguments to the message that answers the call.
 * Never rejects: what goes wrong is an answer that the model can read. What is too long is cut by the server, as for its own tools.
 */
import type {
  DeclaredTool,
  Json,
  JsonSchema,
  Message,
  PendingToolCall,
  ResultPart,
  StandardSchema,
  Tool,
  ToolResultMessage,
} from "@loopwright/core/protocol";
import type { ClientContext } from "../client-context.ts";
import { clientError, isKnownError } from "../client-error.ts";
import { toolAnswerMs, toolErrorChars, toolOutputChars } from "../client-limits.ts";

const standardOf = (schema: Tool["parameters"]): StandardSchema["~standard"] | undefined =>
  "~standard" in schema ? (schema as StandardSchema)["~standard"] : undefined;

/**
 * The declaration of the tool that is sent to the server; `execute` stays here. `runs`: this client runs the tool when the model calls it, so
 * the server may take a call without an answer after five minutes for lost; `timeoutMs: 0` lets it wait for ever. @throws AgentError
 * CONFIG_INVALID when its schema has no JSON Schema form
 */
export function declaredTool({ name, description, label, parameters, ...tool }: Tool, runs: boolean): DeclaredTool {
  const timeoutMs = tool.timeoutMs ?? (runs && tool.execute ? toolAnswerMs : 0);
  const standard = standardOf(parameters);
  const schema = standard ? standard.jsonSchema?.input({ target: "draft-2020-12" }) : parameters;
  if (!schema) throw clientError("CONFIG_INVALID", { message: `The schema of the tool \`${name}\` has no JSON Schema form.` });
  return {
    name,
    description,
    parameters: schema as JsonSchema,
    ...(label ? { label } : {}),
    ...(timeoutMs ? { timeoutMs } : {}),
  };
}

export interface ClientCall {
  readonly tool: Tool;
  readonly call: PendingToolCall;
  /** How long the tool may take. `undefined`: as long as it wants. */
  readonly timeMs: number | undefined;
  /** Aborted when the run is. */
  readonly signal: AbortSignal;
  readonly session: { readonly id: string; messages(): readonly Message[] };
}

/** The answer of the tool to the call. A tool that ignores its signal is left behind. */
export async function runClientTool(
  { clock }: Pick<ClientContext, "clock">,
  { tool, call, timeMs, signal, session }: ClientCall,
): Promise<ToolResultMessage> {
  const { toolCallId, callKey, toolName, deadline } = call;
  const answer = { role: "tool_result", toolCallId, callKey, toolName } as const;
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const end = (): void => ending.abort();
  const cancel = timeMs === undefined ? end : clock.after(timeMs, end);
  try {
    const args = await checkedArgs(tool, call.args);
    const stopped = new Promise<never>((_, reject) => {
      const stop = (): void => reject(new Error("it was stopped."));
      either.addEventListener("abort", stop);
      if (either.aborted) stop();
    });
    const context = {
      callId: toolCallId,
      callKey,
      idempotencyKey: callKey,
      attempt: 1,
      signal: either,
      deadline,
      access: { user: "local", scope: "local" },
      labels: {},
      progress: () => ({ update() {}, end() {} }),
      addUsage() {},
      logger: { log() {} },
      async record() {
        throw clientError("INPUT_INVALID", {
          message: "A tool that runs at the client cannot record notes.",
          fix: "Put them into its output.",
        });
      },
      child: async () => refuseChildren(),
      spawn: async () => refuseChildren(),
      files: undefined,
      session,
      resources: undefined,
    };
    const { output, details } = await Promise.race([collect(() => tool.execute?.(args, context)), stopped]);
    return { ...answer, content: contentOf(output), outcome: "ok", ...(details === undefined ? {} : { details: asJson(details) }) };
  } catch (error) {
    const written = error instanceof Error ? error.message : String(error);
    const content = isKnownError(error)
      ? `${error.code}: ${written} ${error.fix}`
      : `TOOL_FAILED: The tool \`${toolName}\` failed: ${written}`;
    return { ...answer, content, isError: true, outcome: "error" };
  } finally {
    cancel();
    end();
  }
}

function refuseChildren(): never {
  throw clientError("CONFIG_INVALID", {
    message: "A tool that runs at the client cannot start children.",
    fix: "Start them in a tool of the server.",
  });
}

async function checkedArgs(tool: Tool, args: unknown): Promise<unknown> {
  const result = await standardOf(tool.parameters)?.validate(args);
  if (!result) return args;
  if (!result.issues) return result.value;
  const issues = result.issues.map(({ message, path = [] }) => {
    const at = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
    return `\n- \`${at}\`: ${message}`;
  });
  const message = `The arguments do not fit the tool's schema:${issues.join("").slice(0, toolErrorChars)}`;
  throw clientError("TOOL_ARGUMENTS", { message, fix: "" });
}

interface Completion {
  readonly output?: unknown;
  readonly details?: unknown;
}

/** What was completed or returned, else the text of the deltas. */
async function collect(execute: () => unknown): Promise<Completion> {
  const value = await execute();
  if (typeof value !== "object" || value === null || !(Symbol.asyncIterator in value)) return completionOf(value);
  const iterator = (value as AsyncIterable<unknown, unknown>)[Symbol.asyncIterator]();
  let completion: Completion | undefined;
  let text = "";
  for (;;) {
    const step = await iterator.next();
    if (step.done) return completion ?? completionOf(step.value ?? text);
    const event = step.value as { readonly type?: unknown; readonly delta?: unknown };
    if (event.type === "complete") completion ??= completionOf(event);
    else if (text.length < toolOutputChars) text += String(event.delta);
  }
}

const completionOf = (value: unknown): Completion => (isOfType(value, ["complete"]) ? value : { output: value });

const isOfType = (value: unknown, types: readonly unknown[]): value is object =>
  typeof value === "object" && value !== null && "type" in value && types.includes(value.type);

const isPart = (value: unknown): value is ResultPart => isOfType(value, ["text", "json", "image", "file"]);

function contentOf(output: unknown): ToolResultMessage["content"] {
  if (output === undefined || typeof output === "string") return (output ?? "").slice(0, toolOutputChars);
  const value = asJson(output);
  if (Array.isArray(value) && value.length > 0 && value.every(isPart)) return value;
  const text = JSON.stringify(value);
  return text.length > toolOutputChars ? text.slice(0, toolOutputChars) : [{ type: "json", value }];
}

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? "null") as Json;
