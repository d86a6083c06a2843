import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError, type Message, type SessionSnapshot } from "@loopwright/core/protocol";
import type { AgUiMessage } from "./ag-ui-event.ts";
import { idBelow, type ShownMessage, shownMessages, withThoseBelow } from "./ag-ui-messages.ts";
import type { AgentRecord } from "./subagents.ts";
import { tokensOf } from "./token-usage.ts";

/** The most sessions of agents that one read gives. Each is a request to the server, one after another. */
const sessionsMax = 200;

/** How sessions of agents are read. */
export interface AgentReading {
  readonly client: LoopwrightClient;
  /** Once it is aborted, the read ends and rejects. */
  readonly signal: AbortSignal;
  /** The most sessions of agents that are read. In place of each other one stands a message. Default 200. */
  readonly sessionsMax?: number;
}

/** What the session of an agent below a run has; `undefined` where it is gone, or may not be read. */
export const agentRecord = (reading: AgentReading, session: string): Promise<AgentRecord | undefined> =>
  new AgentReader(reading).record(session);

/** The messages of a thread and those of the agents below it. */
export const threadWithAgents = (reading: AgentReading, session: SessionSnapshot): Promise<readonly AgUiMessage[]> =>
  new AgentReader(reading).thread(session);

class AgentReader {
  readonly #client: LoopwrightClient;
  readonly #signal: AbortSignal;
  readonly #most: number;
  #left: number;

  constructor({ client, signal, sessionsMax: most = sessionsMax }: AgentReading) {
    this.#client = client;
    this.#signal = signal;
    this.#most = most;
    this.#left = most;
  }

  async thread(session: SessionSnapshot): Promise<readonly AgUiMessage[]> {
    const path = shownMessages(session);
    const below = await this.#below(session.sessionId, path);
    return withThoseBelow(path.map((one) => ({ shown: one.shown, below: below.get(one)?.messages ?? [] })));
  }

  async record(session: string): Promise<AgentRecord | undefined> {
    if (this.#left === 0) return leftOut(session, this.#most);
    this.#left -= 1;
    const snapshot = await this.#found(session);
    if (!snapshot) return undefined;
    const path = shownMessages(snapshot, session).filter(({ message }) => message.role !== "user");
    const below = await this.#below(session, path);
    const messages = withThoseBelow(
      path.map((one) => ({
        shown: one.shown.map((message) => ({ ...message, subagentRunId: session })),
        below: below.get(one)?.messages ?? [],
      })),
    );
    const usage = [...path.flatMap(usageOf), ...[...below.values()].flatMap((record) => record.usage)];
    const { status, failure, reason = "" } = snapshot.lastRun ?? {};
    if (failure) return { messages, usage, failure: { message: failure.message, code: failure.code } };
    return status === "aborted"
      ? { messages, usage, failure: { message: `It was stopped: ${reason}.`, code: "ABORTED" } }
      : { messages, usage };
  }

  async #below(session: string, path: readonly ShownMessage[]): Promise<ReadonlyMap<ShownMessage, AgentRecord>> {
    const records = new Map<ShownMessage, AgentRecord>();
    for (const one of path) {
      const named = agentBehind(one.message);
      // The details of a result are those of its tool, or of the caller: they may name any session.
      const record = named !== undefined && named === (await childOf(session, one)) ? await this.record(named) : undefined;
      if (record) records.set(one, record);
    }
    return records;
  }

  async #found(session: string): Promise<SessionSnapshot | undefined> {
    try {
      return await this.#client.sessions.get(session, { signal: this.#signal });
    } catch (error) {
      if (isAgentError(error, "SESSION_NOT_FOUND") || isAgentError(error, "FORBIDDEN")) return undefined;
      throw error;
    }
  }
}

/** The record of an agent that was not read. */
function leftOut(session: string, most: number): AgentRecord {
  const content = `This agent is not shown here: at most ${most} agents of a thread are.`;
  return { messages: [{ id: idBelow("left-out", session), role: "assistant", content, subagentRunId: session }], usage: [] };
}

/** The session that the call of a result has for the agent of `agentTool`: it is known by its parent, the run and the call. */
async function childOf(session: string, { message, runId }: ShownMessage): Promise<string | undefined> {
  if (message.role !== "tool_result" || runId === undefined) return undefined;
  const place = new TextEncoder().encode(JSON.stringify([session, runId, message.callKey ?? null, "agent"]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", place)).subarray(0, 20);
  return `child-${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The session of the agent that gave a result: `agentTool` names it in the details. */
function agentBehind(message: Message): string | undefined {
  if (message.role !== "tool_result") return undefined;
  const { details } = message;
  if (typeof details !== "object" || details === null || Array.isArray(details)) return undefined;
  const { agent, session, background } = details as { readonly agent?: unknown; readonly session?: unknown; readonly background?: unknown };
  return typeof agent === "string" && typeof session === "string" && background !== true ? session : undefined;
}

function usageOf({ message, shown }: ShownMessage): AgentRecord["usage"] {
  const answer = shown.at(-1);
  if (message.role !== "assistant" || !message.usage || !answer) return [];
  const { provider, model, usage } = message;
  const named = { ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }) };
  return [{ messageId: answer.id, ...named, ...tokensOf(usage) }];
}
