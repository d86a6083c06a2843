import type { ViewCall, ViewMessage, ViewProgress } from "@loopwright/client";
import {
  type CallOutcome,
  type CallState,
  type Json,
  type JsonObject,
  partsOf,
  type ResultPart,
  type ToolCallPart,
} from "@loopwright/core/protocol";

/** How a call stands, in the words of the page. */
export type ShownState = "writing" | Exclude<CallState, "done"> | CallOutcome;

/** A call as its card shows it, whether it is being written, runs, or ended long ago. */
export interface ShownCall {
  readonly key: string;
  readonly name: string;
  readonly label?: string;
  readonly state: ShownState;
  /** Absent while it is being written and where they cannot be read: then there is `argsText`. */
  readonly args?: JsonObject;
  readonly argsText?: string;
  readonly startedAt?: number;
  readonly durationMs?: number;
  readonly deadline?: number;
  readonly written: string;
  readonly progress: readonly ViewProgress[];
  readonly output: readonly ResultPart[];
  readonly details?: Json;
}

/** The call of a message, from what the view has seen of it and from its result. */
export function shownCall(part: ToolCallPart, call: ViewCall | undefined, result: ViewMessage | undefined): ShownCall {
  const base = { key: part.callKey, name: part.name, written: "", progress: [], output: [] };
  const args = part.problem === undefined ? { args: call?.args ?? part.args } : { argsText: part.argsText ?? "" };
  if (call && call.state !== "done") {
    const { label, state, startedAt, deadline, written, progress } = call;
    return {
      ...base,
      ...args,
      state,
      written,
      progress,
      ...(label === undefined ? {} : { label }),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(deadline === undefined ? {} : { deadline }),
    };
  }
  const spoken = result?.message.role === "tool_result" ? result.message : undefined;
  if (!call && !spoken) return { ...base, ...args, state: "pending" };
  const durationMs = call?.durationMs ?? spoken?.durationMs;
  const details = call?.details ?? spoken?.details;
  return {
    ...base,
    ...args,
    state: call?.outcome ?? spoken?.outcome ?? (spoken?.isError ? "error" : "ok"),
    output: call?.output ?? partsOf(spoken?.content ?? ""),
    progress: spoken?.progress ?? call?.progress ?? [],
    ...(call?.label === undefined ? {} : { label: call.label }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(details === undefined ? {} : { details }),
  };
}

/** A call whose arguments the model still writes. */
export function writtenCall(
  key: string,
  name: string,
  { argsText, ended }: { readonly argsText: string; readonly ended: boolean },
): ShownCall {
  return { key, name, state: ended ? "pending" : "writing", argsText, written: "", progress: [], output: [] };
}

const lineCharactersMax = 90;

/** The arguments in one line: the value of a single text, else names and values. */
export function argsLine({ args, argsText }: Pick<ShownCall, "args" | "argsText">): string {
  const values = args ? Object.entries(args) : [];
  const first = values[0]?.[1];
  const line =
    args === undefined
      ? (argsText ?? "")
      : values.length === 1 && typeof first === "string"
        ? first
        : values.map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ");
  const flat = line
    .slice(0, lineCharactersMax * 4)
    .replaceAll(/\s+/g, " ")
    .trim();
  return flat.length > lineCharactersMax ? `${flat.slice(0, lineCharactersMax - 1)}…` : flat;
}
