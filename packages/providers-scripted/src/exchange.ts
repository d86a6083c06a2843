import { callsOf, type Message, textOf } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";

/** A result of a tool. */
export type ToolResult = Extract<Message, { readonly role: "tool_result" }>;

/** What came since the last message of the user. */
export interface Exchange {
  /** The user's last message. */
  readonly text: string;
  /** Names of the tools called since then. */
  readonly done: readonly string[];
  readonly results: readonly { readonly name: string; readonly args: unknown; readonly result: ToolResult }[];
}

/** What came since the last message of the user, results with the names and arguments of their calls. */
export function lastExchange(messages: ModelRequest["messages"]): Exchange {
  const from = messages.findLastIndex((message) => message.role === "user");
  const calls = new Map<string, { readonly name: string; readonly args: unknown }>();
  const results: Exchange["results"][number][] = [];
  const done: string[] = [];
  for (const message of messages.slice(from + 1)) {
    if (message.role === "assistant") {
      for (const call of callsOf(message)) {
        done.push(call.name);
        calls.set(call.id, call).set(call.callKey, call);
      }
    } else if (message.role === "tool_result") {
      const call = calls.get(message.callKey ?? message.toolCallId) ?? calls.get(message.toolCallId);
      results.push({ name: call?.name ?? message.toolName ?? "tool", args: call?.args, result: message });
    }
  }
  const user = messages[from];
  return { text: user ? textOf(user) : "", done, results };
}

/** The output of a tool as text. */
export function shown({ content }: ToolResult): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : part.type === "json" ? JSON.stringify(part.value) : `[${part.type}]`))
    .join("\n");
}

/** Whether the tool gave no result. */
export const hasFailed = (result: ToolResult): boolean => result.isError || (result.outcome !== undefined && result.outcome !== "ok");
