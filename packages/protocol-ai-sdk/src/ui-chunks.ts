import type { AgentEvent, ExecuteResult, ToolResultMessage } from "@loopwright/core/protocol";
import { sentenceOf } from "./chat-refused.ts";
import type { UiChunk, UiMetadata } from "./ui-chunk.ts";
import { errorTextOf, outputOf, userPartsOf } from "./ui-parts.ts";
import { UiStep } from "./ui-step.ts";

/** The output of a tool that runs is given again when it has grown by this part: all of it is never sent more than some nine times. */
const growthMin = 1 / 8;

export interface UiChunksOptions {
  readonly runId: string;
  /** The page has the message up to the calls of this turn, and waits for what follows. Default: it has nothing. */
  readonly afterTurn?: number;
}

/** One run as a UI message stream: every turn is a step, a call is known by its call key, which is unique in the message. Pure. */
export class UiChunks {
  readonly #runId: string;
  readonly #afterTurn: number;
  #turn = 0;
  #step: UiStep | undefined;
  /** The page has a `start-step` of this stream that is not finished. */
  #isInStep = false;
  #isSilent: boolean;
  #hasCalls = false;
  #hasUserMessage = false;
  #model: string | undefined;
  readonly #settled = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #outputs = new Map<string, { text: string; sentChars: number }>();

  constructor({ runId, afterTurn = 0 }: UiChunksOptions) {
    this.#runId = runId;
    this.#afterTurn = afterTurn;
    this.#isSilent = afterTurn > 0;
  }

  start(): readonly UiChunk[] {
    return [{ type: "start", messageId: this.#runId }];
  }

  /** What an event adds. */
  take(event: AgentEvent): readonly UiChunk[] {
    const chunks = this.#stepChunks(event) ?? this.#callChunks(event);
    if (!this.#isSilent) return chunks;
    const isKnown = event.type === "message_end" && event.message.role === "assistant" && this.#turn >= this.#afterTurn;
    if (isKnown) this.#isSilent = false;
    return [];
  }

  /** How the stream ends when the run has ended, or waits. */
  finish(result: ExecuteResult): readonly UiChunk[] {
    this.#isSilent = false;
    const ended = [...(this.#step?.close() ?? []), ...this.#endStep()];
    switch (result.status) {
      case "awaiting_tool_execution":
        return [...ended, { type: "finish", finishReason: "tool-calls" }];
      case "aborted":
        return [...ended, { type: "abort", reason: result.error.message }, { type: "finish", finishReason: "interrupted" }];
      case "error":
        return [...ended, { type: "error", errorText: sentenceOf(result.error) }];
      default:
        return [...ended, { type: "finish", finishReason: this.#reasonOf(result), messageMetadata: metadataOf(result, this.#model) }];
    }
  }

  /** A page sends a message whose last calls have results again: not where the run ended with them. */
  #reasonOf({ finishReason }: ExecuteResult): "stop" | "length" | "interrupted" {
    if (this.#hasCalls) return "interrupted";
    return finishReason === "length" ? "length" : "stop";
  }

  #stepChunks(event: AgentEvent): readonly UiChunk[] | undefined {
    if (event.type === "turn_start") return this.#beginTurn(event.turn);
    const step = this.#step;
    // What is between two facts and not of a turn of this run belongs to another run.
    if (!step) return undefined;
    switch (event.type) {
      case "text_start":
      case "thinking_start":
        return step.begin();
      case "text_delta":
        return step.add("text", event.index, event.delta);
      case "thinking_delta":
        return step.add("reasoning", event.index, event.delta);
      case "text_end":
      case "thinking_end":
        return step.end(event.index);
      case "toolcall_start":
        return step.beginCall(event.index, event.toolName);
      case "toolcall_delta":
        return step.addToCall(event.index, event.delta);
      case "message_snapshot":
        return step.upTo(event.content, event.calls);
      case "attempt_discarded":
        return step.reset();
      case "turn_end":
        this.#step = undefined;
        return this.#endStep();
      default:
        return undefined;
    }
  }

  #beginTurn(turn: number): readonly UiChunk[] {
    const ended = this.#endStep();
    this.#turn = turn;
    this.#step = new UiStep(this.#runId, turn);
    this.#hasCalls = false;
    if (!this.#isSilent) this.#isInStep = true;
    return [...ended, { type: "start-step" }];
  }

  #endStep(): readonly UiChunk[] {
    if (!this.#isInStep) return [];
    this.#isInStep = false;
    return [{ type: "finish-step" }];
  }

  #callChunks(event: AgentEvent): readonly UiChunk[] {
    switch (event.type) {
      case "message_end":
        return this.#messageChunks(event);
      case "tool_execution_delta":
        return this.#outputSoFar(event.callKey, (this.#outputs.get(event.callKey)?.text ?? "") + event.delta);
      case "tool_execution_snapshot":
        return this.#outputSoFar(event.callKey, event.output);
      case "approval_requested": {
        const { callKey, reason } = event;
        this.#asked.add(callKey);
        return [{ type: "tool-approval-request", approvalId: callKey, toolCallId: callKey, ...(reason === undefined ? {} : { reason }) }];
      }
      case "approval_decided": {
        const { callKey, decision, note } = event;
        if (!this.#asked.has(callKey)) return [];
        const reason = note === undefined ? {} : { reason: note };
        return [{ type: "tool-approval-response", approvalId: callKey, approved: decision === "allow", ...reason }];
      }
      default:
        return [];
    }
  }

  #messageChunks({ message, messageId }: Extract<AgentEvent, { readonly type: "message_end" }>): readonly UiChunk[] {
    if (message.role === "tool_result") return this.#resultChunks(message);
    if (message.role === "user") {
      const isSteered = this.#hasUserMessage;
      this.#hasUserMessage = true;
      return isSteered ? [{ type: "steering-message", id: messageId, parts: userPartsOf(message) }] : [];
    }
    if (message.role !== "assistant" || !this.#step) return [];
    this.#hasCalls = message.content.some(({ type }) => type === "tool_call");
    this.#model = message.model ?? this.#model;
    return this.#step.settle(message.content);
  }

  #resultChunks(message: ToolResultMessage): readonly UiChunk[] {
    const { callKey, content, outcome = message.isError ? "error" : "ok" } = message;
    if (callKey === undefined || this.#settled.has(callKey)) return [];
    this.#settled.add(callKey);
    this.#outputs.delete(callKey);
    if (outcome === "ok") return [{ type: "tool-output-available", toolCallId: callKey, output: outputOf(content) }];
    // The SDK knows a denial as the answer to a request alone.
    if (outcome === "denied" && this.#asked.has(callKey)) return [{ type: "tool-output-denied", toolCallId: callKey }];
    return [{ type: "tool-output-error", toolCallId: callKey, errorText: errorTextOf(message) }];
  }

  #outputSoFar(callKey: string, text: string): readonly UiChunk[] {
    // Only the calls of this run's turn: lanes of other runs and of children are not in this message.
    if (!callKey.startsWith(`${this.#runId}.`) || this.#settled.has(callKey) || text === "") return [];
    const { sentChars = 0 } = this.#outputs.get(callKey) ?? {};
    const isShown = text.length - sentChars >= sentChars * growthMin;
    this.#outputs.set(callKey, { text, sentChars: isShown ? text.length : sentChars });
    return isShown ? [{ type: "tool-output-available", toolCallId: callKey, output: text, preliminary: true }] : [];
  }
}

/** The usage of all model calls of a run, in the words of the AI SDK. */
function metadataOf({ usage }: Pick<ExecuteResult, "usage">, model: string | undefined): UiMetadata {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 } = usage ?? {};
  const inputTokens = input + cacheRead + cacheWrite;
  const counted = {
    inputTokens,
    outputTokens: output,
    totalTokens: inputTokens + output,
    cachedInputTokens: cacheRead,
    reasoningTokens: reasoning,
  };
  return { ...(model === undefined ? {} : { model }), ...(usage ? { usage: counted } : {}) };
}
