import {
  type AssistantMessage,
  type Json,
  type JsonObject,
  pathOf,
  type SessionSnapshot,
  type SnapshotMessage,
  type ToolCallPart,
  type ToolResultMessage,
} from "@loopwright/core/protocol";
import { errorTextOf, fileOf, outputOf, userPartsOf } from "./ui-parts.ts";

/** A message as pages of the AI SDK show it. */
export interface UiMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly JsonObject[];
}

/**
 * The messages of the path that people see. The turns of a run are one message of the assistant, known by the id of the run; that of a run that is under way is left out, because a page
 * gets it whole when it resumes the stream.
 */
export function uiMessagesOf(session: SessionSnapshot): readonly UiMessage[] {
  const path = pathOf(session);
  const results = new Map<string, ToolResultMessage>();
  for (const { message } of path)
    if (message.role === "tool_result" && message.callKey !== undefined) results.set(message.callKey, message);
  const shown: { readonly id: string; readonly role: UiMessage["role"]; readonly parts: JsonObject[] }[] = [];
  const running = session.status === "running" ? session.run?.runId : undefined;
  for (const one of path) {
    const id = one.runId ?? one.id;
    const open = shown.at(-1);
    const answer = open?.role === "assistant" && open.id === id ? open : undefined;
    if (one.message.role === "user") {
      const parts = userPartsOf(one.message).map((part) => ({ ...part }));
      if (answer) answer.parts.push({ type: "steering-message", id: one.id, parts });
      else shown.push({ id: one.id, role: "user", parts });
    } else if (one.message.role === "assistant" && (running === undefined || one.runId !== running)) {
      const parts = partsOfAnswer(one, { results, session });
      if (answer) answer.parts.push(...parts);
      else shown.push({ id, role: "assistant", parts: [...parts] });
    }
  }
  return shown;
}

interface CallsOfSession {
  readonly results: ReadonlyMap<string, ToolResultMessage>;
  readonly session: SessionSnapshot;
}

function partsOfAnswer({ message }: SnapshotMessage, calls: CallsOfSession): readonly JsonObject[] {
  const parts = (message as AssistantMessage).content.flatMap((part): readonly JsonObject[] => {
    if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text, state: "done" }];
    if (part.type === "thinking") return part.text === "" ? [] : [{ type: "reasoning", text: part.text, state: "done" }];
    if (part.type === "image") return [{ ...fileOf(part) }];
    return part.type === "tool_call" ? [callPart(part, calls)] : [];
  });
  return [{ type: "step-start" }, ...parts];
}

function callPart(part: ToolCallPart, { results, session: { run } }: CallsOfSession): JsonObject {
  const { callKey, name, args, argsText, problem } = part;
  const input: Json = problem === undefined ? args : (argsText ?? "");
  const call = { type: `tool-${name}`, toolCallId: callKey, input };
  const result = results.get(callKey);
  if (result) return { ...call, ...endOf(callKey, result) };
  const asked = run?.pendingApprovals?.find((one) => one.callKey === callKey);
  if (!asked) return { ...call, state: "input-available" };
  const requestReason = asked.reason === undefined ? {} : { requestReason: asked.reason };
  return { ...call, state: "approval-requested", approval: { id: callKey, ...requestReason } };
}

function endOf(callKey: string, result: ToolResultMessage): JsonObject {
  const { outcome = result.isError ? "error" : "ok" } = result;
  if (outcome === "ok") return { state: "output-available", output: outputOf(result.content) };
  if (outcome === "denied") return { state: "output-denied", approval: { id: callKey, approved: false } };
  return { state: "output-error", errorText: errorTextOf(result) };
}
