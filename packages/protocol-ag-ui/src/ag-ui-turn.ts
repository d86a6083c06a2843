/*
 * Owns: what a page has been given of one model call: one text, one reasoning, and the calls. AG-UI has no way to take back a part of a message: where
 * what was given is not what is there, `isWhole` is false, and a snapshot of the messages takes the place of the message.
 */
import { type AssistantMessage, type AssistantPart, callsOf, textOf } from "@loopwright/core/protocol";
import type { AgUiEvent } from "./ag-ui-event.ts";

interface OpenCall {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  args: string;
}

interface UnfinishedCall {
  readonly index: number;
  readonly toolName: string;
  readonly argsText: string;
}

export class AgUiTurn {
  readonly #callPrefix: string;
  readonly #messageId: string;
  #text = "";
  #reasoning = "";
  #isTextOpen = false;
  #isReasoningOpen = false;
  #calls: OpenCall[] = [];
  #isWhole = true;

  /** `callPrefix`: what the keys of its calls begin with. */
  constructor({ messageId, callPrefix }: { readonly messageId: string; readonly callPrefix: string }) {
    this.#messageId = messageId;
    this.#callPrefix = callPrefix;
  }

  /** What was given is what is there. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get isEmpty(): boolean {
    return this.#text === "" && this.#reasoning === "" && this.#calls.length === 0;
  }

  addText(delta: string): readonly AgUiEvent[] {
    if (delta === "") return [];
    const messageId = this.#messageId;
    const begun: readonly AgUiEvent[] = this.#isTextOpen ? [] : [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
    this.#isTextOpen = true;
    this.#text += delta;
    return [...this.#endReasoning(), ...begun, { type: "TEXT_MESSAGE_CONTENT", messageId, delta }];
  }

  /** Reasoning that comes after text continues the reasoning before it. */
  addReasoning(delta: string): readonly AgUiEvent[] {
    if (delta === "") return [];
    const messageId = `${this.#messageId}.reasoning`;
    const begun: readonly AgUiEvent[] = this.#isReasoningOpen
      ? []
      : [
          { type: "REASONING_START", messageId },
          { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
        ];
    this.#isReasoningOpen = true;
    this.#reasoning += delta;
    return [...begun, { type: "REASONING_MESSAGE_CONTENT", messageId, delta }];
  }

  beginCall(index: number | undefined, name: string): readonly AgUiEvent[] {
    const id = `${this.#callPrefix}.${this.#calls.length}`;
    this.#calls.push({ index, id, name, args: "" });
    return [...this.#endReasoning(), { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name, parentMessageId: this.#messageId }];
  }

  addArguments(index: number, delta: string): readonly AgUiEvent[] {
    const call = this.#calls.find((one) => one.index === index);
    return call ? grow(call, delta) : [];
  }

  /** All that is there of the message, which is being written. */
  upTo(content: readonly AssistantPart[], calls: readonly UnfinishedCall[] = []): readonly AgUiEvent[] {
    const events = this.#upToText(content);
    calls.forEach(({ index, toolName, argsText }, at) => {
      const begun = this.#calls[at] ? [] : this.beginCall(index, toolName);
      events.push(...begun, ...this.#upToArguments(this.#calls[at] as OpenCall, { name: toolName, args: argsText }));
    });
    return events;
  }

  /** The message is complete. */
  settle(message: AssistantMessage): readonly AgUiEvent[] {
    const events = this.#upToText(message.content);
    const asked = callsOf(message);
    if (textOf(message).length !== this.#text.length || asked.length < this.#calls.length) this.#isWhole = false;
    if (reasoningOf(message.content).length !== this.#reasoning.length) this.#isWhole = false;
    asked.forEach(({ name, args: given, argsText }, at) => {
      const args = argsText ?? JSON.stringify(given);
      const begun = this.#calls[at] ? [] : this.beginCall(undefined, name);
      const call = this.#calls[at] as OpenCall;
      if (call.name !== name || !isSameJson(call.args, args)) events.push(...begun, ...this.#upToArguments(call, { name, args }));
      if (!isSameJson(call.args, args)) this.#isWhole = false;
    });
    return [...events, ...this.close()];
  }

  /** Ends what is open. */
  close(): readonly AgUiEvent[] {
    const messageId = this.#messageId;
    const text: readonly AgUiEvent[] = this.#isTextOpen ? [{ type: "TEXT_MESSAGE_END", messageId }] : [];
    const calls = this.#calls.map(({ id }): AgUiEvent => ({ type: "TOOL_CALL_END", toolCallId: id }));
    const events = [...this.#endReasoning(), ...text, ...calls];
    this.#isTextOpen = false;
    this.#calls = [];
    return events;
  }

  #endReasoning(): readonly AgUiEvent[] {
    if (!this.#isReasoningOpen) return [];
    this.#isReasoningOpen = false;
    const messageId = `${this.#messageId}.reasoning`;
    return [
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId },
    ];
  }

  #upToText(content: readonly AssistantPart[]): AgUiEvent[] {
    const text = textOf({ role: "assistant", content, stopReason: "stop" });
    const reasoning = reasoningOf(content);
    const isContinued = text.startsWith(this.#text) && reasoning.startsWith(this.#reasoning);
    if (!isContinued) this.#isWhole = false;
    if (!isContinued) return [];
    return [...this.addReasoning(reasoning.slice(this.#reasoning.length)), ...this.addText(text.slice(this.#text.length))];
  }

  #upToArguments(call: OpenCall, { name, args }: { readonly name: string; readonly args: string }): readonly AgUiEvent[] {
    if (call.name !== name || !args.startsWith(call.args)) {
      this.#isWhole = false;
      return [];
    }
    return grow(call, args.slice(call.args.length));
  }
}

function grow(call: OpenCall, delta: string): readonly AgUiEvent[] {
  if (delta === "") return [];
  call.args += delta;
  return [{ type: "TOOL_CALL_ARGS", toolCallId: call.id, delta }];
}

const reasoningOf = (content: readonly AssistantPart[]): string =>
  content.map((part) => (part.type === "thinking" ? part.text : "")).join("");

/** The model writes its arguments with other spaces than we do. */
function isSameJson(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
  } catch {
    return false;
  }
}
