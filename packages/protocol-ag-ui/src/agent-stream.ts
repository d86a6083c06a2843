import type { AgentEvent, AssistantMessage } from "@loopwright/core/protocol";
import type { AgUiEvent, AgUiMessage } from "./ag-ui-event.ts";
import { answerMessages, idBelow, resultIdOf, resultMessage, resultText, userMessage } from "./ag-ui-messages.ts";
import { AgUiTurn } from "./ag-ui-turn.ts";

type MessageEnd = Extract<AgentEvent, { readonly type: "message_end" }>;
type ToolResult = Extract<MessageEnd["message"], { readonly role: "tool_result" }>;

interface AgentStreamOptions {
  /** The run whose turns these are. Default: that of the events. */
  readonly runId?: string;
  /** Set for an agent below the run: its events carry it. */
  readonly subagentRunId?: string;
  /** Calls that the page has a result of. */
  readonly answered: ReadonlySet<string>;
}

/** What an event adds. */
export interface Given {
  readonly events: readonly AgUiEvent[];
  /** The page has something that is not there any more: the messages are to be given anew. */
  readonly isStale: boolean;
}

const nothing: Given = { events: [], isStale: false };
const fresh = (events: readonly AgUiEvent[]): Given => ({ events, isStale: false });

/** What one agent gives: every turn is a step and a message, a call is known by its call key. Pure. */
export class AgentStream {
  readonly #options: AgentStreamOptions;
  readonly #messages: AgUiMessage[] = [];
  /** Nothing is given yet: the page has these turns. */
  isSilent = false;
  #runId: string;
  #turn = 0;
  #step: AgUiTurn | undefined;
  /** The page has a step that is not finished. */
  #openStep: string | undefined;
  #attempts = 1;
  #held: AgentEvent | undefined;
  #hasUserMessage = false;

  constructor(options: AgentStreamOptions) {
    this.#options = options;
    this.#runId = options.runId ?? "";
  }

  /** Those that are complete, in their order. */
  get messages(): readonly AgUiMessage[] {
    return this.#messages;
  }

  /** The turn that is under way, or the last one. */
  get turn(): number {
    return this.#turn;
  }

  take(event: AgentEvent): Given {
    const held = this.#held;
    this.#held = undefined;
    // A snapshot has the text that was held, in its place.
    const before = held && event.type !== "message_snapshot" ? this.#givenOf(held).events : [];
    // A reader that missed the beginning of a message gets its last text before the snapshot, which has the reasoning.
    if (event.type === "text_delta" && event.index > 0 && this.#step?.isEmpty && before.length === 0) {
      this.#held = event;
      return nothing;
    }
    const { events, isStale } = this.#givenOf(event);
    return { events: this.#own([...before, ...events]), isStale };
  }

  /** Ends what is open. */
  close(): readonly AgUiEvent[] {
    const held = this.#held ? this.#givenOf(this.#held).events : [];
    return this.#own([...held, ...(this.#step?.close() ?? []), ...this.#endStep()]);
  }

  #own(events: readonly AgUiEvent[]): readonly AgUiEvent[] {
    const { subagentRunId } = this.#options;
    return subagentRunId === undefined ? events : events.map((event) => ({ ...event, subagentRunId }));
  }

  #keep(...messages: readonly AgUiMessage[]): void {
    const { subagentRunId } = this.#options;
    this.#messages.push(...(subagentRunId === undefined ? messages : messages.map((message) => ({ ...message, subagentRunId }))));
  }

  #givenOf(event: AgentEvent): Given {
    if (event.type === "turn_start") return fresh(this.#beginTurn(event));
    if (event.type === "message_end") return this.#messageOf(event);
    const step = this.#step;
    // What is between two facts and not of a turn of this run belongs to another run.
    if (!step) return nothing;
    switch (event.type) {
      case "text_delta":
        return fresh(step.addText(event.delta));
      case "thinking_delta":
        return fresh(step.addReasoning(event.delta));
      case "toolcall_start":
        return fresh(step.beginCall(event.index, event.toolName));
      case "toolcall_delta":
        return fresh(step.addArguments(event.index, event.delta));
      case "message_snapshot":
        return fresh(step.upTo(event.content, event.calls));
      case "attempt_discarded":
        return this.#discard(step);
      case "turn_end":
        this.#step = undefined;
        return fresh(this.#endStep());
      default:
        return nothing;
    }
  }

  #beginTurn({ turn, runId = this.#runId }: Extract<AgentEvent, { readonly type: "turn_start" }>): readonly AgUiEvent[] {
    const ended = this.#endStep();
    this.#runId = this.#options.runId ?? runId;
    this.#turn = turn;
    this.#attempts = 1;
    this.#step = this.#newStep();
    if (this.isSilent) return [];
    this.#openStep = `turn ${turn}`;
    return [...ended, { type: "STEP_STARTED", stepName: this.#openStep }];
  }

  get #messageId(): string {
    return idBelow(`${this.#runId}.${this.#turn}`, this.#options.subagentRunId);
  }

  /** What comes of a later attempt has ids of its own, until the snapshot at its end. */
  #newStep(): AgUiTurn {
    const suffix = this.#attempts === 1 ? "" : `.again${this.#attempts}`;
    return new AgUiTurn({ messageId: `${this.#messageId}${suffix}`, callPrefix: `${this.#messageId}${suffix}` });
  }

  #discard(step: AgUiTurn): Given {
    if (step.isEmpty) return nothing;
    this.#attempts += 1;
    this.#step = this.#newStep();
    return { events: step.close(), isStale: true };
  }

  #endStep(): readonly AgUiEvent[] {
    if (this.#openStep === undefined) return [];
    const stepName = this.#openStep;
    this.#openStep = undefined;
    return [{ type: "STEP_FINISHED", stepName }];
  }

  #messageOf({ message, messageId }: MessageEnd): Given {
    if (message.role === "tool_result") return fresh(this.#resultOf(message));
    if (message.role === "assistant") return this.#answerOf(message);
    // The task of an agent below the run is no message of the user.
    if (message.role !== "user" || this.#options.subagentRunId !== undefined) return nothing;
    const isSteered = this.#hasUserMessage;
    this.#hasUserMessage = true;
    if (isSteered) this.#keep(userMessage(messageId, message));
    return { events: [], isStale: isSteered };
  }

  #answerOf(message: AssistantMessage): Given {
    if (!this.#step) return nothing;
    const events = this.#step.settle(message);
    this.#keep(...answerMessages(this.#messageId, message, this.#options.subagentRunId));
    return { events, isStale: !this.#step.isWhole || this.#attempts > 1 };
  }

  #resultOf(message: ToolResult): readonly AgUiEvent[] {
    if (message.callKey === undefined) return [];
    const toolCallId = idBelow(message.callKey, this.#options.subagentRunId);
    if (this.#options.answered.has(toolCallId)) return [];
    this.#keep(resultMessage(toolCallId, message));
    return [{ type: "TOOL_CALL_RESULT", messageId: resultIdOf(toolCallId), toolCallId, content: resultText(message), role: "tool" }];
  }
}
