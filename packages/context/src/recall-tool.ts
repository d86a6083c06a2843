import { AgentError, callsOf, defineTool, type Message, partsOf, type Tool, textOf } from "@loopwright/core";
import { headOf } from "./cut-message.ts";

export interface RecallOptions {
  /** Default `recall_conversation`. */
  readonly name?: string;
  /** Messages of one answer at most. Default 20. */
  readonly messagesMax?: number;
  /** Characters of one answer at most; the rest is for the next call. Default 16,000. */
  readonly charactersMax?: number;
}

/** What a model asks for. */
export interface RecallArguments {
  /** Words that a message must have, in any order and case. */
  readonly query?: string;
  /** The number of the first message. */
  readonly from?: number;
}

const description = [
  "Gives messages of this conversation as they were, also those that a summary or a shortened text stands for.",
  "`query` finds messages that have all its words, the newest first; `from` reads on from the message of this number.",
].join(" ");

const parameters = {
  type: "object",
  properties: {
    query: { type: "string", description: "Words that the messages must have." },
    from: { type: "integer", minimum: 1, description: "The number of the first message." },
  },
  additionalProperties: false,
} as const;

/**
 * A tool by which the model reads originals again after a compaction or a cut: the log has them. It only reads, so that it may be repeated after a
 * crash. Later runs read in place of its result which messages it gave. @throws AgentError CONFIG_INVALID
 */
export function recallTool(options: RecallOptions = {}): Tool<RecallArguments> {
  const { name = "recall_conversation", messagesMax = 20, charactersMax = 16_000 } = options;
  for (const [option, value] of Object.entries({ messagesMax, charactersMax }))
    if (!(Number.isInteger(value) && value > 0))
      throw new AgentError("CONFIG_INVALID", {
        message: `The recall tool: \`${option}\` is ${value}.`,
        fix: "Pass a whole number over 0.",
      });
  return defineTool({
    name,
    description,
    parameters,
    replay: "pure",
    onBadArguments: "defaults",
    outputMax: charactersMax + 2_000,
    execute(args: RecallArguments, { session }) {
      const { query, from } = args;
      const all = session.messages().map((message, at) => ({ number: at + 1, text: textFor(message) }));
      // What this tool gave before is not found again.
      const messages = all.filter((_, at) => !isOwn(session.messages()[at], name));
      const found = query === undefined ? messages.filter(({ number }) => number >= (from ?? 1)) : newestWith(messages, { query, from });
      const { shown, next } = fitting(found, { messagesMax, charactersMax });
      if (shown.length === 0) return "No message of this conversation has that.";
      const more = next === undefined ? [] : [query === undefined ? `More from message ${next} on.` : "More messages have these words."];
      return {
        type: "complete",
        output: [...shown.map(({ number, text }) => `[${number}] ${text}`), ...more].join("\n\n"),
        summary: `Recalled the messages ${shown.map(({ number }) => number).join(", ")} of this conversation.`,
      };
    },
  });
}

interface Numbered {
  readonly number: number;
  readonly text: string;
}

function newestWith(
  messages: readonly Numbered[],
  { query, from = 1 }: { readonly query: string; readonly from?: number | undefined },
): readonly Numbered[] {
  const words = query.toLowerCase().split(/\s+/);
  const has = ({ number, text }: Numbered): boolean => number >= from && words.every((word) => text.toLowerCase().includes(word));
  return messages.filter(has).reverse();
}

/** The first messages within the limits; the first one is cut where it alone is too long. */
function fitting(
  found: readonly Numbered[],
  { messagesMax, charactersMax }: Required<Omit<RecallOptions, "name">>,
): { readonly shown: readonly Numbered[]; readonly next?: number } {
  const shown: Numbered[] = [];
  let left = charactersMax;
  for (const message of found) {
    if (shown.length === messagesMax || (shown.length > 0 && message.text.length > left)) return { shown, next: message.number };
    const isLong = message.text.length > left;
    shown.push(
      isLong ? { ...message, text: `${headOf(message.text, left)}\n[${message.text.length - left} characters left out]` } : message,
    );
    left -= message.text.length;
    if (left <= 0 && shown.length < found.length) return { shown, next: (found[shown.length] as Numbered).number };
  }
  return { shown };
}

function textFor(message: Message): string {
  if (message.role === "notice") return `NOTICE: ${message.text}`;
  if (message.role === "user") return `USER: ${textOf(message)}`;
  if (message.role === "tool_result") {
    const json = partsOf(message.content).flatMap((part) => (part.type === "json" ? [JSON.stringify(part.value)] : []));
    return `RESULT of ${message.toolName ?? "a tool"}: ${[textOf(message), ...json].filter((text) => text !== "").join("\n")}`;
  }
  return [`ASSISTANT: ${textOf(message)}`, ...callsOf(message).map((call) => `CALL ${call.name} ${JSON.stringify(call.args)}`)].join("\n");
}

/** A result of the tool itself, or an answer that does nothing but call it. */
function isOwn(message: Message | undefined, name: string): boolean {
  if (message?.role === "tool_result") return message.toolName === name;
  if (message?.role !== "assistant" || textOf(message) !== "") return false;
  const calls = callsOf(message);
  return calls.length > 0 && calls.every((call) => call.name === name);
}
