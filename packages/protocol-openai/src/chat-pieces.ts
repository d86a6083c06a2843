import { type AgentEvent, type AssistantPart, type ExecuteResult, textOf } from "@loopwright/core/protocol";
import { callIdOf } from "./call-ids.ts";
import { waitNote } from "./wait-note.ts";

/** A part of an answer: what one `delta` of a streamed answer has. */
export type ChatPiece =
  | { readonly content: string }
  | { readonly reasoning_content: string }
  | { readonly tool_calls: readonly (ChatCall & { readonly index: number })[] };

/** A call of a tool of the caller. */
export interface ChatCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Why an answer ended, in the words of the API. */
export type FinishReason = "stop" | "length" | "tool_calls";

/** How an answer ends that is no failure. */
export interface ChatEnd {
  readonly pieces: readonly ChatPiece[];
  readonly finishReason: FinishReason;
}

/** Text that was sent and is not in the answer: a stream of this API has no way to take it back. */
export class TextWithdrawn extends Error {
  constructor() {
    super("The model was asked again after a part of its answer had been sent. Ask for the answer again with the same `Idempotency-Key`.");
  }
}

/** One text of the message that is being written. Another attempt begins it anew, but what was given cannot be taken back. */
class SentText {
  #sent = "";
  #now = "";

  get isEmpty(): boolean {
    return this.#sent === "";
  }

  /** Nothing was given that is not in the text. */
  get isWhole(): boolean {
    return this.#now.length === this.#sent.length;
  }

  /** What to give after this delta; `undefined` where it is no longer what was given. */
  add(delta: string): string | undefined {
    const isEven = this.#now.length === this.#sent.length;
    this.#now += delta;
    if (!isEven) return this.#rest();
    this.#sent = this.#now;
    return delta;
  }

  /** The same for the text so far. */
  set(text: string): string | undefined {
    this.#now = text;
    return this.#rest();
  }

  restart(): void {
    this.#now = "";
  }

  clear(): void {
    this.#now = "";
    this.#sent = "";
  }

  #rest(): string | undefined {
    if (this.#sent.startsWith(this.#now)) return "";
    if (!this.#now.startsWith(this.#sent)) return undefined;
    const rest = this.#now.slice(this.#sent.length);
    this.#sent = this.#now;
    return rest;
  }
}

/** The answer of one run, for callers that see an agent as a model: its texts, its reasoning, and the calls of their own tools. Pure. */
export class ChatPieces {
  readonly #text = new SentText();
  readonly #thinking = new SentText();
  /** A message before this one has text. */
  #hasText = false;
  readonly #isFormed: boolean;
  /** With a form: the text of the newest message. */
  #newest = "";

  /** `isFormed`: the answer has a form, so it is the text of the last message alone, which is known at the end. */
  constructor({ isFormed = false }: { readonly isFormed?: boolean } = {}) {
    this.#isFormed = isFormed;
  }

  /** What an event adds. @throws TextWithdrawn */
  take(event: AgentEvent): readonly ChatPiece[] {
    switch (event.type) {
      case "text_delta":
        return this.#isFormed ? [] : this.#content(() => this.#text.add(event.delta));
      case "thinking_delta":
        return reasoningOf(this.#thinking.add(event.delta));
      case "message_snapshot":
        return this.#upTo(event.content);
      case "attempt_discarded":
        this.#text.restart();
        this.#thinking.restart();
        return [];
      case "message_end":
        return event.message.role === "assistant" ? this.#endMessage(event.message.content) : [];
      default:
        return [];
    }
  }

  /** What the end adds. Calls of other callers, and approvals, are named in the text: this caller cannot answer them. */
  finish(result: ExecuteResult, { sessionId, tools }: { readonly sessionId: string; readonly tools: ReadonlySet<string> }): ChatEnd {
    if (result.status !== "awaiting_tool_execution")
      return {
        pieces: this.#newest === "" ? [] : [{ content: this.#newest }],
        finishReason: result.finishReason === "length" ? "length" : "stop",
      };
    const own = result.pendingToolCalls.filter(({ toolName, session }) => tools.has(toolName) && session === undefined);
    if (own.length > 0) {
      const calls = own.map(({ toolCallId, toolName, args }, index) => ({
        ...{ index, id: callIdOf({ session: sessionId, toolCallId }), type: "function" as const },
        function: { name: toolName, arguments: JSON.stringify(args) },
      }));
      return { pieces: [{ tool_calls: calls }], finishReason: "tool_calls" };
    }
    const note = waitNote(result, sessionId);
    return { pieces: this.#content(() => note), finishReason: "stop" };
  }

  #endMessage(parts: readonly AssistantPart[]): readonly ChatPiece[] {
    const rest = this.#upTo(parts);
    if (!this.#text.isWhole) throw new TextWithdrawn();
    this.#hasText ||= !this.#text.isEmpty;
    this.#text.clear();
    this.#thinking.clear();
    return rest;
  }

  /** Gives what these parts have beyond what was given. */
  #upTo(parts: readonly AssistantPart[]): readonly ChatPiece[] {
    const text = textOf({ role: "assistant", content: parts, stopReason: "stop" });
    const reasoning = reasoningOf(this.#thinking.set(parts.map((part) => (part.type === "thinking" ? part.text : "")).join("")));
    if (this.#isFormed) this.#newest = text;
    return this.#isFormed ? reasoning : [...reasoning, ...this.#content(() => this.#text.set(text))];
  }

  /** Texts of two messages of one run are parted by a blank line. */
  #content(next: () => string | undefined): readonly ChatPiece[] {
    const isFirst = this.#text.isEmpty;
    const delta = next();
    if (delta === undefined) throw new TextWithdrawn();
    if (delta === "") return [];
    return [{ content: this.#hasText && isFirst ? `\n\n${delta}` : delta }];
  }
}

/** Reasoning is a trace, not the answer: where it was withdrawn no more of it is given. */
const reasoningOf = (delta: string | undefined): readonly ChatPiece[] => (delta ? [{ reasoning_content: delta }] : []);
