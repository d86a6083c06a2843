import { type FollowedEvent, type LoopwrightClient, viewOf } from "@loopwright/client";
import {
  type AgentEvent,
  type Cost,
  isAgentError,
  type Message,
  type PendingApproval,
  type PendingToolCall,
  type Usage,
} from "@loopwright/core";
import { randomIds } from "@loopwright/core/memory";
import type { DeclaredTool, SessionSnapshot } from "@loopwright/core/protocol";
import type { AnswerEnd, CallAnswers, ChatListener, ChatSession } from "../chat/chat-session.ts";
import { askUserTool } from "../compose/ask-user-tool.ts";
import type { RemoteChoice } from "./remote-choice.ts";
import { createRunEnds, type RunEnds } from "./run-ends.ts";

/** Client tools that the terminal brings to a session of a server. */
const terminalTools: readonly DeclaredTool[] = [declared(askUserTool)];

/**
 * Owns: one session of a server as a chat sees it, and the stream of its events.
 * Invariants: I1 a new session is made on the server with the first words, not before; I2 one stream per session, for the inputs of all participants.
 */
class RemoteSession implements ChatSession {
  readonly id: string;
  readonly model: string | undefined;
  readonly pendingToolCalls: readonly PendingToolCall[];
  readonly pendingApprovals: readonly PendingApproval[];
  readonly usage: Usage | undefined;
  readonly cost: Cost | undefined;
  readonly contextTokens: number | undefined;
  readonly state: ChatSession["state"];
  readonly outlivesChat = true;
  private readonly past: readonly Message[];
  private readonly client: LoopwrightClient;
  private readonly openRun: string | undefined;
  private readonly ends: RunEnds = createRunEnds();
  private readonly listeners = new Set<ChatListener>();
  private readonly leaving = new AbortController();
  private following: Promise<void> | undefined;
  /** Place to follow from; absent as long as the server does not know the session. */
  private cursor: string | undefined;
  private creating: Promise<void> | undefined;

  private readonly asked: RemoteChoice;

  constructor(client: LoopwrightClient, snapshot: SessionSnapshot | undefined, asked: RemoteChoice) {
    this.asked = asked;
    const view = snapshot && viewOf(snapshot);
    this.client = client;
    this.id = snapshot?.sessionId ?? randomIds.next();
    this.cursor = snapshot?.cursor;
    this.model = view?.model;
    this.past = view?.path.map(({ message }) => message) ?? [];
    this.pendingToolCalls = view?.pendingToolCalls ?? [];
    this.pendingApprovals = snapshot?.run?.pendingApprovals ?? [];
    this.usage = view?.usage;
    this.cost = view?.cost;
    this.contextTokens = view?.contextTokens;
    this.openRun = view?.run?.runId;
    this.state = view?.status === "running" ? "running" : "resting";
  }

  get messages(): readonly Message[] {
    return this.past;
  }

  get isKept(): boolean {
    return this.cursor !== undefined;
  }

  subscribe(listener: ChatListener): () => void {
    this.listeners.add(listener);
    if (this.cursor !== undefined) this.follow();
    return () => void this.listeners.delete(listener);
  }

  async say(words: string, options: { readonly model?: string }): Promise<AnswerEnd> {
    await this.create();
    this.follow();
    const { modes = [] } = this.asked;
    const { runId, seq } = await this.client.sessions.submit(this.id, words, {
      mode: "steer",
      labels: { surface: "terminal" },
      ...(modes.length === 0 ? {} : { modes }),
      ...options,
    });
    return this.ends.of(runId, seq);
  }

  async answer({ results, decisions }: CallAnswers): Promise<AnswerEnd> {
    this.follow();
    const { sessions } = this.client;
    let last = { runId: "", seq: 0 };
    for (const { callKey, ...decision } of decisions) last = await sessions.decide(this.id, callKey, decision);
    if (results.length > 0) last = await sessions.sendResults(this.id, results);
    return this.ends.of(last.runId, last.seq);
  }

  proceed(): Promise<AnswerEnd> {
    return this.openRun === undefined ? Promise.resolve({ status: "completed" }) : this.ends.of(this.openRun, 0);
  }

  async abort(): Promise<void> {
    if (this.cursor !== undefined) await this.client.sessions.abort(this.id, "stopped by the user");
  }

  compact(): boolean {
    return false;
  }

  async leave(): Promise<void> {
    this.leaving.abort();
    await this.following;
  }

  private create(): Promise<void> {
    if (this.cursor !== undefined) return Promise.resolve();
    const { agent } = this.asked;
    this.creating ??= this.client.sessions
      .create({ id: this.id, ...(agent === undefined ? {} : { agent }), context: { tools: terminalTools } })
      .then(
        ({ cursor }) => {
          this.cursor = cursor;
        },
        (error: unknown) => {
          this.creating = undefined;
          throw error;
        },
      );
    return this.creating;
  }

  private follow(): void {
    this.following ??= this.read().catch((error: unknown) => {
      this.ends.fail(error);
      for (const listener of this.listeners) listener.failed?.(error);
    });
  }

  private async read(): Promise<void> {
    let isLost = false;
    const notify = (now: boolean): void => {
      if (now === isLost) return;
      isLost = now;
      for (const listener of this.listeners) listener.connection?.(isLost);
    };
    const batches = this.client.follow(this.id, {
      after: this.cursor ?? "",
      signal: this.leaving.signal,
      onState: (state) => {
        if (state.state === "open") notify(false);
        else if (state.state === "waiting" && state.error && isAgentError(state.error, "SERVER_UNREACHABLE")) notify(true);
      },
    });
    for await (const batch of batches) {
      const events = batch.filter(isSessionEvent);
      for (const event of events) if ("seq" in event) this.ends.take(event);
      for (const listener of this.listeners) listener.events(events);
    }
  }
}

type SessionEvent = Extract<AgentEvent, FollowedEvent>;

const isSessionEvent = (event: FollowedEvent): event is SessionEvent => "seq" in event || "lane" in event;

function declared({ name, label, description, parameters }: typeof askUserTool): DeclaredTool {
  return { name, description, parameters: parameters as DeclaredTool["parameters"], ...(label === undefined ? {} : { label }) };
}

/** A new session of the server, or the one of the snapshot. */
export function createRemoteSession(
  client: LoopwrightClient,
  snapshot: SessionSnapshot | undefined,
  asked: RemoteChoice = {},
): ChatSession {
  return new RemoteSession(client, snapshot, asked);
}
