/*
 * Owns: a tool that runs on this side: how it crosses the wire, and one run of it, from the arguments to the message that answers the call.
 * Never rejects: what goes wrong is an answer that the model can read.
 */
import type { StandardSchema } from "@loopwright/core";
import type {
  DeclaredTool,
  Json,
  JsonSchema,
  Message,
  PendingToolCall,
  ResultPart,
  Tool,
  ToolResultMessage,
} from "@loopwright/core/protocol";
import { clientError, isKnownError } from "../client-error.ts";
import { clientLimits } from "../client-limits.ts";
import type { ClientScene } from "../client-scene.ts";

/** A tool, whatever its arguments and resources are. */
export type AnyTool = Tool<never, never>;

const standardOf = (schema: AnyTool["parameters"]): StandardSchema["~standard"] | undefined =>
  "~standard" in schema ? (schema as StandardSchema)["~standard"] : undefined;

/** The tool as it crosses the wire: what it does stays here. @throws AgentError CONFIG_INVALID when its schema has no JSON Schema form */
export function declaredTool({ name, description, label, timeoutMs, parameters }: AnyTool): DeclaredTool {
  const standard = standardOf(parameters);
  const schema = standard ? standard.jsonSchema?.input({ target: "draft-2020-12" }) : parameters;
  if (!schema)
    throw clientError("CONFIG_INVALID", {
      message: `Tool \`${name}\`: its schema has no JSON Schema form.`,
      fix: "Use zod 4.2 or later, or pass a JSON Schema.",
    });
  return {
    name,
    description,
    parameters: schema as JsonSchema,
    ...(label === undefined ? {} : { label }),
    ...(timeoutMs ? { timeoutMs } : {}),
  };
}

export interface ClientCall {
  readonly tool: AnyTool;
  readonly call: PendingToolCall;
  /** Aborted when the run is. */
  readonly signal: AbortSignal;
  readonly session: { readonly id: string; messages(): readonly Message[] };
}

/** The answer of the tool to the call. A tool that ignores its signal is left behind. */
export async function runClientTool(scene: ClientScene, { tool, call, signal, session }: ClientCall): Promise<ToolResultMessage> {
  const { toolCallId, callKey, toolName, deadline } = call;
  const answer = { role: "tool_result", toolCallId, callKey, toolName } as const;
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const cancel = deadline === undefined ? () => {} : scene.clock.after(Math.max(0, deadline - scene.clock.now()), () => ending.abort());
  const context = {
    callId: toolCallId,
    callKey,
    idempotencyKey: callKey,
    attempt: 1,
    signal: either,
    deadline,
    access: { user: "local", scope: "local" },
    progress: () => ({ update() {}, end() {} }),
    addUsage() {},
    files: undefined,
    session,
    resources: undefined as never,
  };
  try {
    const args = await checkedArgs(tool, call.args);
    const stopped = new Promise<never>((_, reject) => {
      either.addEventListener("abort", () => reject(clientError("TOOL_FAILED", { message: "It was stopped.", fix: "" })), { once: true });
    });
    const max = tool.outputMax ?? clientLimits.toolOutputChars;
    const { output, details } = await Promise.race([collect(tool.execute?.(args as never, context), max), stopped]);
    return { ...answer, content: partsFrom(output, max), outcome: "ok", ...(details === undefined ? {} : { details: asJson(details) }) };
  } catch (error) {
    const said = error instanceof Error ? error.message : typeof error === "string" ? error : "";
    const text = isKnownError(error)
      ? `${error.code}: ${said} ${error.fix}`
      : `TOOL_FAILED: The tool \`${toolName}\` failed${said === "" ? "." : `: ${said}`}`;
    return { ...answer, content: text.trim(), isError: true, outcome: "error" };
  } finally {
    cancel();
    ending.abort();
  }
}

async function checkedArgs(tool: AnyTool, args: unknown): Promise<unknown> {
  const result = await standardOf(tool.parameters)?.validate(args);
  if (!result) return args;
  if (!result.issues) return result.value;
  const issues = result.issues.map(({ message, path = [] }) => {
    const at = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
    return `\n- ${at === "" ? message : `\`${at}\`: ${message}`}`;
  });
  throw clientError("TOOL_ARGUMENTS", { message: `The arguments do not fit the tool's schema:${issues.slice(0, 10).join("")}`, fix: "" });
}

interface Completion {
  readonly output?: unknown;
  readonly details?: unknown;
}

/** What was completed or returned, else the text of the deltas. */
async function collect(returned: unknown, max: number): Promise<Completion> {
  const value = await returned;
  if (typeof value !== "object" || value === null || !(Symbol.asyncIterator in value)) return completionOf(value);
  const iterator = (value as AsyncIterable<unknown, unknown>)[Symbol.asyncIterator]();
  let completion: Completion | undefined;
  let text = "";
  for (let step = await iterator.next(); ; step = await iterator.next()) {
    if (step.done) return completion ?? (step.value === undefined ? { output: text } : completionOf(step.value));
    const event = step.value as { readonly type?: unknown; readonly delta?: unknown };
    if (event.type === "delta" && text.length <= max) text += String(event.delta);
    else if (event.type === "complete") completion ??= completionOf(event);
  }
}

function completionOf(value: unknown): Completion {
  const isCompletion = typeof value === "object" && value !== null && "type" in value && value.type === "complete" && "output" in value;
  return isCompletion ? value : { output: value };
}

const partTypes: ReadonlySet<unknown> = new Set(["text", "json", "image", "file"]);

const isPart = (value: unknown): value is ResultPart =>
  typeof value === "object" && value !== null && "type" in value && partTypes.has(value.type);

/** Text and JSON over the limit are cut, with a note. */
function partsFrom(output: unknown, max: number): string | readonly ResultPart[] {
  if (output === undefined || output === "") return "(no output)";
  if (typeof output === "string") return cut(output, max);
  const value = asJson(output);
  if (Array.isArray(value) && value.length > 0 && value.every(isPart)) return value;
  const text = JSON.stringify(value);
  return text.length > max ? cut(text, max) : [{ type: "json", value }];
}

const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max)}\n[output cut: ${text.length - max} of ${text.length} characters left out]` : text;

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? "null") as Json;
