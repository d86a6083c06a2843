/*
 * Owns: the messages that the events of one session become, in order, with an index that never falls.
 * Does not own: how they are framed (orchestrator-dialect), blocks of sessions that rest (blocks).
 */
import { type DurableEvent, type EphemeralEvent, type Message, type SessionEvent, textOf } from "@loopwright/core/protocol";
import type { OrchestratorMessage, ProgressMessage, StreamVersion } from "./orchestrator-message.ts";

/** Reads the events of one session in order. */
export interface SessionReader {
  read(events: readonly SessionEvent[]): readonly OrchestratorMessage[];
}

/** Icons of the steps that the orchestrator itself reports. */
export const stepIcons = { selecting: "LIGHTBULB", generating: "WAND" } as const;
/** Titles of these steps. */
export const stepTitles = { selecting: "Selecting tools", generating: "Generating" } as const;

interface OpenCall {
  readonly toolName: string;
  readonly place: number;
  /** Of its content, what was sent. */
  streamed: string;
}

/** Reads one session for one stream. */
export function createSessionReader(version: StreamVersion): SessionReader {
  const reader = new Reader();
  return {
    read: (events) =>
      events
        .flatMap((event) => ("seq" in event ? reader.durable(event) : reader.ephemeral(event)))
        .flatMap((message) => versioned(message, version)),
  };
}

/** The message as the version has it. */
function versioned(message: OrchestratorMessage, version: StreamVersion): readonly OrchestratorMessage[] {
  if (version === 2) return [message];
  if (message.type === "progress") return [];
  const { index: _, ...plain } = message;
  if (plain.type !== "toolCallResult") return [plain];
  const { toolResultIndex: __, ...result } = plain;
  return [result];
}

class Reader {
  #index = 0;
  /** By lane: what was sent of the answer. */
  #text = "";
  #thinking = "";
  #lane: number | undefined;
  readonly #calls = new Map<string, OpenCall>();
  /** Steps that have not ended. */
  readonly #steps = new Map<string, Omit<ProgressMessage, "type" | "state">>();

  durable(event: DurableEvent): readonly OrchestratorMessage[] {
    switch (event.type) {
      case "message_start":
        if (event.role === "assistant") this.#begin(event.seq);
        return [];
      case "attempt_discarded":
        return this.#text === "" ? [] : this.#replaced("");
      case "message_end":
        return event.message.role === "assistant" ? this.#answered(event.message) : [];
      case "tool_execution_start":
        return [this.#result(event.callKey, { toolCallId: event.toolCallId, function: event.toolName })];
      case "tool_execution_end":
        return this.#resulted(event);
      case "turn_end":
        return this.#endTurn();
      case "run_end":
        return [...this.#endSteps(), { type: "end", status: event.status, index: this.#index }];
      default:
        return [];
    }
  }

  ephemeral(event: EphemeralEvent): readonly OrchestratorMessage[] {
    switch (event.type) {
      case "text_delta":
        return this.#piece(event.lane, "text", event.delta);
      case "thinking_delta":
        return this.#piece(event.lane, "reasoning", event.delta);
      case "tool_execution_delta":
        return this.#content(event.callKey, event.toolCallId, event.delta);
      case "tool_execution_snapshot":
        return this.#content(event.callKey, event.toolCallId, restOf(event.output, this.#calls.get(event.callKey)?.streamed ?? ""));
      case "progress": {
        const step = { id: `${event.callKey}/${event.id}`, title: event.title, ...(event.icon === undefined ? {} : { icon: event.icon }) };
        return event.state === "open" ? this.#startStep(step) : this.#endStep(step.id, event.state === "failed");
      }
      default:
        return [];
    }
  }

  #begin(lane: number): void {
    if (this.#lane === lane) return;
    this.#lane = lane;
    this.#text = "";
    this.#thinking = "";
  }

  #piece(lane: number, type: "text" | "reasoning", text: string): readonly OrchestratorMessage[] {
    this.#begin(lane);
    if (type === "text") this.#text += text;
    else this.#thinking += text;
    return text === "" ? [] : [{ type, text, index: this.#index }];
  }

  #replaced(text: string): readonly OrchestratorMessage[] {
    this.#text = text;
    return [{ type: "text", text, replaces: true, index: this.#index }];
  }

  /** What was not streamed of the answer, then its calls. */
  #answered(message: Extract<Message, { readonly role: "assistant" }>): readonly OrchestratorMessage[] {
    const out: OrchestratorMessage[] = [];
    const lane = this.#lane ?? 0;
    const thinking = message.content.map((part) => (part.type === "thinking" ? part.text : "")).join("");
    if (thinking.startsWith(this.#thinking)) out.push(...this.#piece(lane, "reasoning", thinking.slice(this.#thinking.length)));
    const text = textOf(message);
    if (text.startsWith(this.#text)) out.push(...this.#piece(lane, "text", text.slice(this.#text.length)));
    else out.push(...this.#replaced(text));
    const calls = message.content.flatMap((part) => (part.type === "tool_call" ? [part] : []));
    if (calls.length > 0) {
      const shown = calls.map(({ id, name, args }) => ({ toolCallId: id, function: name, args }));
      out.push({ type: "toolCalls", calls: shown, index: this.#index++ });
      for (const [place, { callKey, name }] of calls.entries()) this.#calls.set(callKey, { toolName: name, place, streamed: "" });
      out.push(...this.#startStep({ id: calls[0]?.callKey ?? "", title: stepTitles.selecting, icon: stepIcons.selecting }));
      this.#index++;
    }
    this.#lane = undefined;
    this.#text = "";
    this.#thinking = "";
    return out;
  }

  #result(
    callKey: string,
    message: Pick<Extract<OrchestratorMessage, { type: "toolCallResult" }>, "toolCallId" | "function" | "content" | "isError">,
  ): OrchestratorMessage {
    const place = this.#calls.get(callKey)?.place;
    return { type: "toolCallResult", ...message, ...(place === undefined ? {} : { toolResultIndex: place }), index: this.#index };
  }

  #content(callKey: string, toolCallId: string, content: string): readonly OrchestratorMessage[] {
    const call = this.#calls.get(callKey);
    if (!call || content === "") return [];
    call.streamed += content;
    return [...this.#generating(callKey), this.#result(callKey, { toolCallId, function: call.toolName, content })];
  }

  #resulted(event: Extract<DurableEvent, { readonly type: "tool_execution_end" }>): readonly OrchestratorMessage[] {
    const { callKey, toolCallId, toolName, outcome, output } = event;
    const call = this.#calls.get(callKey);
    const isError = outcome === "ok" ? {} : { isError: true as const };
    const whole = output
      .map((part) => (part.type === "text" ? part.text : JSON.stringify(part.type === "json" ? part.value : part)))
      .join("");
    // A stream that gave something else in the end has its result in the history alone.
    const content = call && call.streamed !== "" && outcome === "ok" ? "" : whole;
    const last = content === "" && outcome === "ok" ? [] : [this.#result(callKey, { toolCallId, function: toolName, content, ...isError })];
    return [...this.#generating(callKey), ...last, ...this.#endCall(callKey, outcome !== "ok")];
  }

  #generating(callKey: string): readonly OrchestratorMessage[] {
    const id = `${callKey}/generating`;
    return this.#steps.has(id) ? [] : this.#startStep({ id, title: stepTitles.generating, icon: stepIcons.generating });
  }

  #startStep(step: Omit<ProgressMessage, "type" | "state">): readonly OrchestratorMessage[] {
    const state = this.#steps.has(step.id) ? "updated" : "started";
    this.#steps.set(step.id, step);
    return [{ type: "progress", ...step, state, index: this.#index }];
  }

  #endStep(id: string, isFailed = false): readonly OrchestratorMessage[] {
    const step = this.#steps.get(id);
    if (!step) return [];
    this.#steps.delete(id);
    return [{ type: "progress", ...step, state: "ended", ...(isFailed ? { isFailed: true as const } : {}), index: this.#index }];
  }

  /** Ends the steps of the call. */
  #endCall(callKey: string, isFailed: boolean): readonly OrchestratorMessage[] {
    const own = [...this.#steps.keys()].filter((id) => id.startsWith(`${callKey}/`));
    return own.flatMap((id) => this.#endStep(id, isFailed));
  }

  #endSteps(): readonly OrchestratorMessage[] {
    return [...this.#steps.keys()].flatMap((id) => this.#endStep(id));
  }

  #endTurn(): readonly OrchestratorMessage[] {
    const ended = this.#endSteps();
    this.#calls.clear();
    this.#index++;
    return ended;
  }
}

const restOf = (whole: string, sent: string): string => (whole.startsWith(sent) ? whole.slice(sent.length) : "");
