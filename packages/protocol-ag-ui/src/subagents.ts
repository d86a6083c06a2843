/*
 * Owns: what a page has been given of the agents below a run. Their events come only while they happen: what a page missed of one is given when it has
 * ended, or waits, from the session of that agent.
 */
import type { AgentEvent, SessionEvent } from "@loopwright/core/protocol";
import type { AgUiEvent, AgUiInterrupt, AgUiMessage, AgUiUsage } from "./ag-ui-event.ts";
import { idBelow } from "./ag-ui-messages.ts";
import { AgentStream, type Given } from "./agent-stream.ts";

/** An agent below a run, as its session has it. */
export interface AgentRecord {
  /** Its messages and those of the agents below it. */
  readonly messages: readonly AgUiMessage[];
  /** Of the model calls of each of these messages. */
  readonly usage: readonly (AgUiUsage & { readonly messageId: string })[];
  /** How it failed, or was stopped. */
  readonly failure?: { readonly message: string; readonly code: string };
}

type AgentStart = Extract<AgentEvent, { readonly type: "agent_start" }>;

interface Subagent {
  readonly stream: AgentStream;
  /** The call that waits for it. Absent: a hook has started it. */
  readonly callKey: string | undefined;
  /** The agent above it. Absent for one that the run itself has started. */
  readonly parent: string | undefined;
  isOpen: boolean;
  /** From its session. */
  record?: AgentRecord;
}

/** The agent that an event ends, however deep it is. */
export function endedAgent(event: AgentEvent): string | undefined {
  if (event.type === "agent_delta") return endedAgent(event.event);
  return event.type === "agent_end" ? event.session : undefined;
}

const nothing: Given = { events: [], isStale: false };

export class Subagents {
  readonly #answered: ReadonlySet<string>;
  readonly #known: ReadonlyMap<string, AgUiMessage>;
  /** In the order in which they began. */
  readonly #agents = new Map<string, Subagent>();

  /** `answered`: calls that the page has a result of. `known`: the messages that it has. */
  constructor(answered: ReadonlySet<string>, known: readonly AgUiMessage[]) {
    this.#answered = answered;
    this.#known = new Map(known.map((message) => [message.id, message]));
  }

  isOpen(session: string): boolean {
    return this.#agents.get(session)?.isOpen === true;
  }

  /** Those that have not ended and were begun by the run itself. */
  get open(): readonly string[] {
    return [...this.#agents].flatMap(([session, { isOpen, parent }]) => (isOpen && parent === undefined ? [session] : []));
  }

  /** The calls of the run that agents were begun for. */
  get calls(): readonly (string | undefined)[] {
    return [...this.#agents.values()].flatMap(({ parent, callKey }) => (parent === undefined ? [callKey] : []));
  }

  /** The messages of the agent of a call and of those below it, as they are. */
  messagesOf(callKey: string | undefined): readonly AgUiMessage[] {
    return [...this.#agents].flatMap(([session, agent]) =>
      agent.parent === undefined && agent.callKey === callKey ? this.#messagesBelow(session) : [],
    );
  }

  /** Of the model calls that no earlier run of the page has counted. */
  get usage(): readonly AgUiUsage[] {
    const found = [...this.#agents.values()].flatMap(({ record }) => record?.usage ?? []);
    return [...new Map(found.map(({ messageId, ...usage }) => [messageId, usage]))].flatMap(([id, usage]) =>
      this.#known.has(id) ? [] : [usage],
    );
  }

  /** One that works in the background is a conversation of its own. */
  start({ session, agent, callKey, background }: AgentStart, parent?: string): readonly AgUiEvent[] {
    const parentToolCallId = callKey === undefined ? undefined : idBelow(callKey, parent);
    const isAnswered = parentToolCallId !== undefined && this.#answered.has(parentToolCallId);
    if (background || this.#agents.has(session) || isAnswered) return [];
    const stream = new AgentStream({ subagentRunId: session, answered: this.#answered });
    this.#agents.set(session, { stream, callKey, parent, isOpen: true });
    const place = parentToolCallId === undefined ? {} : { parentToolCallId };
    const above = parent === undefined ? {} : { parentSubagentRunId: parent };
    return [{ type: "SUBAGENT_STARTED", subagentRunId: session, name: agent, ...above, ...place }];
  }

  /** An event of the agent's own stream. `record`: of the agent that it ends. */
  take(session: string, event: SessionEvent, record: AgentRecord | undefined): Given {
    const agent = this.#agents.get(session);
    if (!agent?.isOpen) return nothing;
    if (event.type === "agent_start") return { events: this.start(event, session), isStale: false };
    if (event.type === "agent_delta") return this.take(event.session, event.event, record);
    return event.type === "agent_end" ? this.end(event.session, record) : agent.stream.take(event);
  }

  end(session: string, record: AgentRecord | undefined): Given {
    const { failure } = record ?? {};
    return this.#close(
      session,
      record,
      failure ? { type: "SUBAGENT_ERROR", subagentRunId: session, ...failure } : { type: "SUBAGENT_FINISHED", subagentRunId: session },
    );
  }

  /** The run rests while the agent waits. */
  suspend(session: string, record: AgentRecord | undefined, interrupts: readonly AgUiInterrupt[]): Given {
    const own = interrupts.filter(({ subagentRunId }) => subagentRunId === session).map(({ id }) => id);
    const outcome = { type: "suspended", ...(own.length === 0 ? {} : { interruptIds: own }) } as const;
    const below = this.#childrenOf(session).map((child) => this.suspend(child, undefined, interrupts));
    const { events, isStale } = this.#close(session, record, { type: "SUBAGENT_FINISHED", subagentRunId: session, outcome });
    return { events: [...below.flatMap((one) => one.events), ...events], isStale };
  }

  #close(session: string, record: AgentRecord | undefined, last: AgUiEvent): Given {
    const agent = this.#agents.get(session);
    if (!agent?.isOpen) return nothing;
    const below = this.#childrenOf(session).flatMap((child) => this.end(child, undefined).events);
    agent.isOpen = false;
    const isStale = record !== undefined && !this.#hasAll(record, this.#messagesBelow(session));
    if (record) agent.record = record;
    return { events: [...below, ...agent.stream.close(), last], isStale };
  }

  #childrenOf(session: string): readonly string[] {
    return [...this.#agents].flatMap(([id, { parent }]) => (parent === session ? [id] : []));
  }

  #messagesBelow(session: string): readonly AgUiMessage[] {
    const { record, stream } = this.#agents.get(session) ?? {};
    if (record) return this.#withoutAnswers(record);
    return [...(stream?.messages ?? []), ...this.#childrenOf(session).flatMap((child) => this.#messagesBelow(child))];
  }

  /** The page has all messages of the record, and no others. */
  #hasAll(record: AgentRecord, given: readonly AgUiMessage[]): boolean {
    const wanted = this.#withoutAnswers(record).filter((message) => !isSame(this.#known.get(message.id), message));
    const ids = new Set(given.map(({ id }) => id));
    return wanted.length === ids.size && wanted.every(({ id }) => ids.has(id));
  }

  /** The page has its own answers under ids of its own. */
  #withoutAnswers({ messages }: AgentRecord): readonly AgUiMessage[] {
    return messages.filter(({ toolCallId }) => typeof toolCallId !== "string" || !this.#answered.has(toolCallId));
  }
}

/** A page whose connection was cut may have the beginning of a message. */
const isSame = (known: AgUiMessage | undefined, message: AgUiMessage): boolean =>
  known !== undefined && (known["content"] ?? "") === (message["content"] ?? "");
