import { type AgentEvent, addUsage, type ExecuteResult, isAgentError, type Json, type Usage } from "@loopwright/core/protocol";
import type { AgUiEvent, AgUiInterrupt, AgUiMessage, AgUiOutcome, AgUiUsage } from "./ag-ui-event.ts";
import { answerMessages, resultIdOf, resultMessage, resultText, userMessage } from "./ag-ui-messages.ts";
import { AgUiTurn } from "./ag-ui-turn.ts";

export interface AgUiEventsOptions {
  readonly threadId: string;
  /** The id that the page gave the run. */
  readonly pageRunId: string;
  readonly runId: string;
  /** The page has the run up to the calls of this turn. Default: it has nothing of it. */
  readonly afterTurn?: number;
  /** The messages that the page has. */
  readonly known: readonly AgUiMessage[];
}

type MessageEnd = Extract<AgentEvent, { readonly type: "message_end" }>;

/** One run as events of AG-UI: every turn is a step and a message, a call is known by its call key. Pure. */
export class AgUiEvents {
  readonly #options: AgUiEventsOptions;
  /** The messages of the page that the stream does not give. */
  readonly #known: readonly AgUiMessage[];
  /** Calls that the page has a result of. */
  readonly #answered: ReadonlySet<string>;
  readonly #messages: AgUiMessage[] = [];
  #turn = 0;
  #step: AgUiTurn | undefined;
  /** The page has a step that is not finished. */
  #openStep: string | undefined;
  #attempts = 1;
  #isSilent: boolean;
  #held: AgentEvent | undefined;
  /** The reasoning that the page got last. */
  #reasoningId: string | undefined;
  #hasUserMessage = false;
  #model: Pick<AgUiUsage, "provider" | "model"> = {};
  #usage: Usage | undefined;

  constructor(options: AgUiEventsOptions) {
    this.#options = options;
    const { known, runId, afterTurn } = options;
    this.#known = afterTurn === undefined ? known.filter(({ id }) => !id.startsWith(`${runId}.`)) : known;
    if (afterTurn === undefined)
      this.#reasoningId = known.findLast(({ id, role }) => role === "reasoning" && id.startsWith(`${runId}.`))?.id;
    this.#isSilent = (options.afterTurn ?? 0) > 0;
    this.#answered = new Set(
      this.#known.flatMap(({ role, toolCallId }) => (role === "tool" && typeof toolCallId === "string" ? [toolCallId] : [])),
    );
  }

  start(): readonly AgUiEvent[] {
    const { threadId, pageRunId } = this.#options;
    const started = { type: "RUN_STARTED", threadId, runId: pageRunId, protocolVersion: "1.0" } as const;
    // A page that sends a run again has a part of it.
    return this.#known.length === this.#options.known.length ? [started] : [started, this.#snapshot()];
  }

  /** What an event adds. */
  take(event: AgentEvent): readonly AgUiEvent[] {
    const held = this.#held;
    this.#held = undefined;
    // A snapshot has the text that was held, in its place.
    const before = held && event.type !== "message_snapshot" ? this.#eventsOf(held) : [];
    // A reader that missed the beginning of a message gets its last text before the snapshot, which has the reasoning.
    if (event.type === "text_delta" && event.index > 0 && this.#step?.isEmpty && before.length === 0) {
      this.#held = event;
      return [];
    }
    const events = [...before, ...this.#eventsOf(event)];
    for (const one of events) if (one.type === "REASONING_START") this.#reasoningId = one.messageId;
    if (!this.#isSilent) return events;
    const isAnswer = event.type === "message_end" && event.message.role === "assistant";
    if (isAnswer && this.#turn >= (this.#options.afterTurn ?? 0)) this.#isSilent = false;
    return [];
  }

  /** How the stream ends when the run has ended, or waits. */
  finish(result: ExecuteResult): readonly AgUiEvent[] {
    this.#isSilent = false;
    const { threadId, pageRunId } = this.#options;
    const held = this.#held ? this.#eventsOf(this.#held) : [];
    const ended = [...held, ...(this.#step?.close() ?? []), ...this.#endStep()];
    if (result.status === "error") return [...ended, errorOf(result.error)];
    const usage = this.#usage ? { usage: [usageOf(this.#usage, this.#model)] } : {};
    return [...ended, { type: "RUN_FINISHED", threadId, runId: pageRunId, outcome: outcomeOf(result), ...usage }];
  }

  #eventsOf(event: AgentEvent): readonly AgUiEvent[] {
    if (event.type === "turn_start") return this.#beginTurn(event.turn);
    if (event.type === "run_start") this.#model = { provider: event.provider, model: event.model };
    if (event.type === "message_end") return this.#messageEvents(event);
    const step = this.#step;
    // What is between two facts and not of a turn of this run belongs to another run.
    if (!step) return [];
    switch (event.type) {
      case "text_delta":
        return step.addText(event.delta);
      case "thinking_delta":
        return step.addReasoning(event.delta);
      case "toolcall_start":
        return step.beginCall(event.index, event.toolName);
      case "toolcall_delta":
        return step.addArguments(event.index, event.delta);
      case "message_snapshot":
        return step.upTo(event.content, event.calls);
      case "attempt_discarded":
        return this.#discard(step);
      case "turn_end":
        this.#step = undefined;
        return this.#endStep();
      default:
        return [];
    }
  }

  #beginTurn(turn: number): readonly AgUiEvent[] {
    const ended = this.#endStep();
    this.#turn = turn;
    this.#attempts = 1;
    this.#step = this.#newStep();
    if (this.#isSilent) return [];
    this.#openStep = `turn ${turn}`;
    return [...ended, { type: "STEP_STARTED", stepName: this.#openStep }];
  }

  get #messageId(): string {
    return `${this.#options.runId}.${this.#turn}`;
  }

  /** What comes of a later attempt has ids of its own, until the snapshot at its end. */
  #newStep(): AgUiTurn {
    const suffix = this.#attempts === 1 ? "" : `.again${this.#attempts}`;
    return new AgUiTurn({ messageId: `${this.#messageId}${suffix}`, callPrefix: `${this.#messageId}${suffix}` });
  }

  #discard(step: AgUiTurn): readonly AgUiEvent[] {
    if (step.isEmpty) return [];
    this.#attempts += 1;
    this.#step = this.#newStep();
    return [...step.close(), this.#snapshot()];
  }

  #endStep(): readonly AgUiEvent[] {
    if (this.#openStep === undefined) return [];
    const stepName = this.#openStep;
    this.#openStep = undefined;
    return [{ type: "STEP_FINISHED", stepName }];
  }

  #messageEvents({ message, messageId, usage }: MessageEnd): readonly AgUiEvent[] {
    if (message.role === "user") {
      const isSteered = this.#hasUserMessage;
      this.#hasUserMessage = true;
      if (!isSteered) return [];
      this.#messages.push(userMessage(messageId, message));
      return [this.#snapshot()];
    }
    if (message.role === "tool_result") return this.#resultEvents(message);
    if (message.role !== "assistant" || !this.#step) return [];
    if (usage && !this.#isKnownTurn) this.#usage = addUsage(this.#usage, usage);
    const events = this.#step.settle(message);
    this.#messages.push(...answerMessages(this.#messageId, message));
    return this.#step.isWhole && this.#attempts === 1 ? events : [...events, this.#snapshot()];
  }

  /** The run of the page that had this turn has counted its usage. */
  get #isKnownTurn(): boolean {
    return this.#turn <= (this.#options.afterTurn ?? 0);
  }

  #resultEvents(message: Extract<MessageEnd["message"], { readonly role: "tool_result" }>): readonly AgUiEvent[] {
    const { callKey, details } = message;
    if (callKey === undefined || this.#answered.has(callKey)) return [];
    this.#messages.push(resultMessage(callKey, message));
    const state = stateOf(details);
    return [
      { type: "TOOL_CALL_RESULT", messageId: resultIdOf(callKey), toolCallId: callKey, content: resultText(message), role: "tool" },
      ...(state === undefined ? [] : [{ type: "STATE_SNAPSHOT", snapshot: state } as const]),
    ];
  }

  /** The thread as it is: what a page has beside it goes away. Reasoning does so only where the snapshot has some, if need be without text. */
  #snapshot(): AgUiEvent {
    const ids = new Set(this.#known.map(({ id }) => id));
    const messages = [...this.#known, ...this.#messages.filter(({ id }) => !ids.has(id))];
    const isStale = this.#reasoningId !== undefined && !messages.some(({ role }) => role === "reasoning");
    const stale = isStale ? [{ id: this.#reasoningId ?? "", role: "reasoning", content: "" }] : [];
    return { type: "MESSAGES_SNAPSHOT", messages: [...messages, ...stale] };
  }
}

/** A tool of the server sets the state of the page by `details: { state }`. */
function stateOf(details: Json | undefined): Json | undefined {
  return typeof details === "object" && details !== null && !Array.isArray(details)
    ? (details as { readonly state?: Json }).state
    : undefined;
}

/** An error as the last event. @throws any error that is no AgentError */
export function errorOf(error: unknown): AgUiEvent {
  if (!isAgentError(error)) throw error;
  return { type: "RUN_ERROR", message: `${error.message} ${error.fix}`.trim(), code: error.code };
}

const responseSchema = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"],
};

function outcomeOf(result: Exclude<ExecuteResult, { readonly status: "error" }>): AgUiOutcome {
  if (result.status === "aborted") return { type: "cancelled" };
  if (result.status !== "awaiting_tool_execution") return { type: "success" };
  const { pendingApprovals, pendingToolCalls } = result;
  if (pendingApprovals.length === 0) {
    const own = pendingToolCalls.filter(({ session }) => session === undefined).map(({ callKey }) => callKey);
    return { type: "success", pendingToolCallIds: own };
  }
  const interrupts = pendingApprovals.map(
    ({ callKey, toolName, reason, session, deadline }): AgUiInterrupt => ({
      ...{ id: callKey, reason: "tool_approval", message: reason ?? `May \`${toolName}\` run?` },
      ...(session === undefined ? { toolCallId: callKey } : {}),
      responseSchema,
      ...(deadline === undefined ? {} : { expiresAt: new Date(deadline).toISOString() }),
    }),
  );
  return { type: "interrupt", interrupts };
}

function usageOf(
  { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: Usage,
  model: Pick<AgUiUsage, "provider" | "model">,
): AgUiUsage {
  return {
    ...model,
    ...{ inputTokens: input + cacheRead + cacheWrite, outputTokens: output, cachedInputTokens: cacheRead, reasoningTokens: reasoning },
  };
}
