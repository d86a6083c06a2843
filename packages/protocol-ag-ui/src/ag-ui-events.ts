import { type AgentEvent, addUsage, type ExecuteResult, isAgentError, type Json, type Usage } from "@loopwright/core/protocol";
import type { AgUiEvent, AgUiInterrupt, AgUiMessage, AgUiOutcome, AgUiUsage } from "./ag-ui-event.ts";
import { idBelow, withThoseBelow } from "./ag-ui-messages.ts";
import { AgentStream, type Given } from "./agent-stream.ts";
import { jsonDiff } from "./json-diff.ts";
import { stateOfResult } from "./page-state.ts";
import { type AgentRecord, endedAgent, Subagents } from "./subagents.ts";
import { tokensOf } from "./token-usage.ts";

export interface AgUiEventsOptions {
  readonly threadId: string;
  /** The id that the page gave the run. */
  readonly pageRunId: string;
  readonly runId: string;
  /** The page has the run up to the calls of this turn. Default: it has nothing of it. */
  readonly afterTurn?: number;
  /** The messages that the page has. */
  readonly known: readonly AgUiMessage[];
  /** The state that the page has. Default: none that is known. */
  readonly state?: Json;
}

/** One run as events of AG-UI, with those of the agents below it. Pure. */
export class AgUiEvents {
  readonly #options: AgUiEventsOptions;
  /** The messages of the page that the stream does not give. */
  readonly #known: readonly AgUiMessage[];
  readonly #stream: AgentStream;
  readonly #agents: Subagents;
  /** The reasoning that the page got last. */
  #reasoningId: string | undefined;
  #model: Pick<AgUiUsage, "provider" | "model"> = {};
  #usage: Usage | undefined;
  #pageState: Json | undefined;

  constructor(options: AgUiEventsOptions) {
    this.#options = options;
    this.#pageState = options.state;
    const { known, runId, afterTurn } = options;
    const isOwn = ({ id }: AgUiMessage): boolean => id.startsWith(`${runId}.`);
    const first = known.findIndex(isOwn);
    // Agents below the run have no ids by which it knows them: theirs come after its own first message.
    const isGivenAnew = (message: AgUiMessage, at: number): boolean =>
      isOwn(message) || (first !== -1 && at > first && message["subagentRunId"] !== undefined);
    this.#known = afterTurn === undefined ? known.filter((message, at) => !isGivenAnew(message, at)) : known;
    if (afterTurn === undefined) this.#reasoningId = known.findLast((message) => message["role"] === "reasoning" && isOwn(message))?.id;
    const answered = new Set(
      this.#known.flatMap(({ role, toolCallId }) => (role === "tool" && typeof toolCallId === "string" ? [toolCallId] : [])),
    );
    this.#stream = new AgentStream({ runId, answered });
    this.#stream.isSilent = (afterTurn ?? 0) > 0;
    this.#agents = new Subagents(answered, this.#known);
  }

  start(): readonly AgUiEvent[] {
    const { threadId, pageRunId } = this.#options;
    const started = { type: "RUN_STARTED", threadId, runId: pageRunId, protocolVersion: "1.0" } as const;
    // A page that sends a run again has a part of it.
    return this.#known.length === this.#options.known.length ? [started] : [started, this.#snapshot()];
  }

  /** The agent whose session `take` needs as the record of an event: one below the run that ends. */
  endedBy(event: AgentEvent): string | undefined {
    const session = endedAgent(event);
    return session !== undefined && this.#agents.isOpen(session) ? session : undefined;
  }

  /** The agents whose sessions `finish` needs: those that have not ended. */
  get openAgents(): readonly string[] {
    return this.#agents.open;
  }

  /** What an event adds. */
  take(event: AgentEvent, record?: AgentRecord): readonly AgUiEvent[] {
    if (event.type === "run_start") this.#model = { provider: event.provider, model: event.model };
    const isSilent = this.#stream.isSilent;
    const { events, isStale } = this.#givenOf(event, record);
    const isAnswer = event.type === "message_end" && event.message.role === "assistant";
    if (isAnswer && this.#stream.turn > this.#afterTurn && event.usage) this.#usage = addUsage(this.#usage, event.usage);
    for (const one of events) if (one.type === "REASONING_START" && !one.subagentRunId) this.#reasoningId = one.messageId;
    if (isAnswer && this.#stream.turn >= this.#afterTurn) this.#stream.isSilent = false;
    if (isSilent) return [];
    // A result that the page has has set its state before.
    return [...events, ...(isStale ? [this.#snapshot()] : []), ...(events.length === 0 ? [] : this.#stateSetBy(event))];
  }

  /** How the stream ends when the run has ended, or waits. `records`: of the agents that have not ended. */
  finish(result: ExecuteResult, records: ReadonlyMap<string, AgentRecord> = new Map()): readonly AgUiEvent[] {
    this.#stream.isSilent = false;
    const { threadId, pageRunId } = this.#options;
    const outcome = result.status === "error" ? undefined : outcomeOf(result);
    const interrupts = outcome?.type === "interrupt" ? outcome.interrupts : [];
    const waits = result.status === "awaiting_tool_execution";
    const below = this.#agents.open.map((session) => {
      const record = records.get(session);
      return waits ? this.#agents.suspend(session, record, interrupts) : this.#agents.end(session, record);
    });
    const ended = [...below.flatMap(({ events }) => events), ...this.#stream.close()];
    if (below.some(({ isStale }) => isStale)) ended.push(this.#snapshot());
    if (result.status === "error") return [...ended, errorOf(result.error)];
    const usage = usageOf([...(this.#usage ? [{ ...this.#model, ...tokensOf(this.#usage) }] : []), ...this.#agents.usage]);
    const counted = usage.length === 0 ? {} : { usage };
    return [...ended, { type: "RUN_FINISHED", threadId, runId: pageRunId, outcome: outcomeOf(result), ...counted }];
  }

  /** The run of the page that had the turns up to this one has counted their usage. */
  get #afterTurn(): number {
    return this.#options.afterTurn ?? 0;
  }

  /** The page gets what differs from what it has, or the whole state where that is shorter. */
  #stateSetBy(event: AgentEvent): readonly AgUiEvent[] {
    const state = event.type === "message_end" && event.message.role === "tool_result" ? stateOfResult(event.message.details) : undefined;
    if (state === undefined) return [];
    const delta = this.#pageState === undefined ? undefined : jsonDiff(this.#pageState, state);
    this.#pageState = state;
    if (delta?.length === 0) return [];
    const isShort = delta !== undefined && JSON.stringify(delta).length < JSON.stringify(state).length;
    return [isShort ? { type: "STATE_DELTA", delta } : { type: "STATE_SNAPSHOT", snapshot: state }];
  }

  #givenOf(event: AgentEvent, record: AgentRecord | undefined): Given {
    if (event.type === "agent_start") return { events: this.#stream.isSilent ? [] : this.#agents.start(event), isStale: false };
    if (event.type === "agent_delta") return this.#agents.take(event.session, event.event, record);
    return event.type === "agent_end" ? this.#agents.end(event.session, record) : this.#stream.take(event);
  }

  /** The thread as it is: what a page has beside it goes away. Reasoning does so only where the snapshot has some, if need be without text. */
  #snapshot(): AgUiEvent {
    const ids = new Set(this.#known.map(({ id }) => id));
    const own = this.#stream.messages.map((message) => [message, callsIn(message)] as const);
    const shown = new Set(own.flatMap(([, calls]) => calls));
    const earlier = [...new Set(this.#agents.calls)].filter((callKey) => callKey === undefined || !shown.has(callKey));
    const added = [
      ...earlier.flatMap((callKey) => this.#agents.messagesOf(callKey)),
      ...withThoseBelow(
        own.map(([message, calls]) => ({ shown: [message], below: calls.flatMap((callKey) => this.#agents.messagesOf(callKey)) })),
      ),
    ];
    const below = new Map(added.filter(({ subagentRunId }) => subagentRunId !== undefined).map((message) => [message.id, message]));
    const known = this.#known.map((message) => below.get(message.id) ?? message);
    const messages = [...known, ...added.filter(({ id }) => !ids.has(id))];
    const isStale = this.#reasoningId !== undefined && !messages.some(({ role }) => role === "reasoning");
    const stale = isStale ? [{ id: this.#reasoningId ?? "", role: "reasoning", content: "" }] : [];
    return { type: "MESSAGES_SNAPSHOT", messages: [...messages, ...stale] };
  }
}

const callsIn = ({ toolCalls }: AgUiMessage): readonly string[] =>
  ((toolCalls ?? []) as readonly { readonly id: string }[]).map(({ id }) => id);

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
    return { type: "success", pendingToolCallIds: pendingToolCalls.map(({ callKey, session }) => idBelow(callKey, session)) };
  }
  const interrupts = pendingApprovals.map(
    ({ callKey, toolName, reason, session, deadline }): AgUiInterrupt => ({
      ...{ id: idBelow(callKey, session), reason: "tool_approval", message: reason ?? `May \`${toolName}\` run?` },
      toolCallId: idBelow(callKey, session),
      ...(session === undefined ? {} : { subagentRunId: session }),
      responseSchema,
      ...(deadline === undefined ? {} : { expiresAt: new Date(deadline).toISOString() }),
    }),
  );
  return { type: "interrupt", interrupts };
}

/** One entry for each model. */
function usageOf(entries: readonly AgUiUsage[]): readonly AgUiUsage[] {
  const sums = new Map<string, AgUiUsage>();
  for (const entry of entries) {
    const key = JSON.stringify([entry.provider, entry.model]);
    const sum = sums.get(key);
    sums.set(key, sum ? { ...entry, ...added(sum, entry) } : entry);
  }
  return [...sums.values()];
}

const added = (one: AgUiUsage, other: AgUiUsage) => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
  reasoningTokens: one.reasoningTokens + other.reasoningTokens,
});
