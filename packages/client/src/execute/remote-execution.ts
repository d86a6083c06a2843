/*
 * Owns: one run on a server, watched from here until it ends or waits for somebody this side cannot stand in for. Does not own: how a connection
 * is made and made again (`watch`), how a tool runs (`client-tool`).
 * Invariants
 *  E1 the same POST under the same key, with the last cursor, is sent until the end frames came: nothing is recorded twice;
 *  E2 the reader gets each durable event once and in order, one `session_start`, one `session_end`, one `execute_complete`;
 *  E3 nothing waits for the reader; nobody asking for the result is no crash.
 */
import {
  type AgentError,
  type AgentEvent,
  compareCursors,
  type EventCursor,
  type ExecuteInput,
  type ExecuteOptions,
  type ExecuteResult,
  type ExecuteStatus,
  type ExecuteStream,
  encodeCursor,
  type Message,
  type PendingToolCall,
  textOf,
} from "@loopwright/core/protocol";
import { clientError, errorFromDocument, isKnownError, unreachable } from "../client-error.ts";
import { clientLimits } from "../client-limits.ts";
import { type ClientScene, newId } from "../client-scene.ts";
import type { WireRequest } from "../send-request.ts";
import { createSessionRequests, type SessionContext } from "../session-requests.ts";
import type { Frame } from "../stream/connect.ts";
import { isDurable } from "../stream/follow-session.ts";
import { type ConnectionState, watch } from "../stream/watch.ts";
import { type AnyTool, declaredTool, runClientTool } from "./client-tool.ts";
import { createEventBuffer } from "./event-buffer.ts";

export interface ClientExecuteOptions extends ExecuteOptions {
  /** The session to go on with. Default: a new one. */
  readonly sessionId?: string;
  /** Of a new session. Default: the server's first. */
  readonly agent?: string;
  /** What a new session begins with. */
  readonly context?: SessionContext;
  /** Tools of this side. Those with `execute` run here when the model calls them, and the run goes on by itself. */
  readonly tools?: readonly AnyTool[];
  /** Default true; false leaves every call to the caller: the execution ends as `awaiting_tool_execution`. */
  readonly runTools?: boolean;
  /** Told how the connection stands. */
  readonly onState?: (state: ConnectionState) => void;
}

type ExecuteComplete = Extract<AgentEvent, { readonly type: "execute_complete" }> &
  Pick<ExecuteResult, "usage" | "cost" | "limit" | "runId"> & { readonly error?: unknown };

/** What the server says at the end. */
interface RunEnd {
  readonly messages: readonly Message[];
  readonly complete: ExecuteComplete;
}

/** One execution over HTTP. */
export class RemoteExecution implements ExecuteStream {
  readonly sessionId: string;
  private readonly scene: ClientScene;
  private readonly options: ClientExecuteOptions;
  private readonly request: Omit<WireRequest, "headers">;
  private readonly key: string;
  private readonly buffer = createEventBuffer();
  private readonly outcome: Promise<ExecuteResult>;
  /** Resolves when the server has the input, or never will. */
  private readonly accepted: Promise<void>;
  private settle!: { readonly resolve: (result: ExecuteResult) => void; readonly reject: (error: unknown) => void };
  private accept!: () => void;
  private isAccepted = false;
  private isOver = false;
  private isRead = false;
  private last: EventCursor | undefined;
  private messages: Message[] = [];
  private endMessages: readonly Message[] = [];
  private readonly answered = new Set<string>();
  private readonly aborting = new AbortController();

  constructor(scene: ClientScene, input: ExecuteInput, options: ClientExecuteOptions) {
    this.scene = scene;
    this.options = options;
    this.sessionId = options.sessionId ?? newId(scene);
    this.key = options.idempotencyKey ?? newId(scene);
    this.accepted = new Promise((resolve) => {
      this.accept = resolve;
    });
    this.outcome = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    this.outcome.catch(() => {}); // Whoever asks for the result gets the rejection.
    this.request = { path: "/api/agent/execute", json: bodyOf(this.sessionId, input, options) };
    this.buffer.push({ type: "session_start", sessionId: this.sessionId });
    this.listen(options.signal);
    void this.run();
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent, undefined> {
    if (this.isRead)
      throw clientError("INPUT_INVALID", {
        message: "This stream is being read already.",
        fix: "Iterate once; ask `result()` for the outcome.",
      });
    this.isRead = true;
    return this.buffer;
  }

  result(): Promise<ExecuteResult> {
    return this.outcome;
  }

  async abort(reason = "user"): Promise<void> {
    await this.accepted;
    if (this.isOver) return;
    await createSessionRequests(this.scene).abort(this.sessionId, reason);
    this.aborting.abort();
  }

  private listen(signal: AbortSignal | undefined): void {
    if (!signal) return;
    const onAbort = (): void => void this.abort(reasonOf(signal)).catch(() => {});
    signal.addEventListener("abort", onAbort, { once: true });
    const stop = (): void => signal.removeEventListener("abort", onAbort);
    this.outcome.then(stop, stop);
    if (signal.aborted) onAbort();
  }

  private async run(): Promise<void> {
    try {
      for (;;) {
        const end = await this.readRun();
        const calls = this.callsToRun(end.complete);
        if (calls.length === 0) return this.finish(end);
        await this.answer(calls);
      }
    } catch (error) {
      this.isOver = true;
      this.accept();
      this.buffer.end(error);
      this.settle.reject(error);
    }
  }

  /** Reads until the end frames came, over any number of connections. */
  private async readRun(): Promise<RunEnd> {
    const { scene, key, request } = this;
    const options = {
      request: () => ({
        ...request,
        headers: { "Idempotency-Key": key, Accept: "text/event-stream", "Last-Event-ID": this.last && encodeCursor(this.last) },
      }),
      attemptsMax: () => (this.isAccepted ? clientLimits.resumeAttempts : clientLimits.connectAttempts),
      onState: (state: ConnectionState) => {
        if (state.state === "open") {
          this.isAccepted = true;
          this.accept();
        }
        this.options.onState?.(state);
      },
    };
    for await (const frames of watch(scene, options)) {
      for (const frame of frames) {
        const complete = this.take(frame);
        if (complete) return { messages: this.endMessages, complete };
      }
    }
    throw unreachable(scene.url);
  }

  /** The last frame, when this is it. */
  private take(frame: Frame): ExecuteComplete | undefined {
    const event = frame as AgentEvent;
    if (isDurable(event)) {
      if (this.last && compareCursors(event, this.last) <= 0) return undefined;
      this.last = event;
      if (event.type === "message_end") this.messages.push(event.message);
      this.buffer.push(event);
    } else if ("lane" in event) this.buffer.push(event);
    else if (event.type === "session_end") this.endMessages = event.messages;
    else if (event.type === "execute_complete") return event as ExecuteComplete;
    return undefined;
  }

  private callsToRun({ pendingToolCalls = [] }: ExecuteComplete): readonly PendingToolCall[] {
    if (this.options.runTools === false || this.aborting.signal.aborted) return [];
    return pendingToolCalls.filter(({ callKey, toolName }) => !this.answered.has(callKey) && this.toolNamed(toolName)?.execute);
  }

  private toolNamed(name: string): AnyTool | undefined {
    return this.options.tools?.find((tool) => tool.name === name);
  }

  /** Runs the tools and sends what they say; where somebody else was faster, the run has gone on by itself. */
  private async answer(calls: readonly PendingToolCall[]): Promise<void> {
    const { scene, sessionId, aborting } = this;
    const run = (call: PendingToolCall): ReturnType<typeof runClientTool> => {
      const tool = this.toolNamed(call.toolName) as AnyTool;
      const session = { id: sessionId, messages: () => this.messages };
      return runClientTool(scene, { tool, call, signal: aborting.signal, session });
    };
    const results = [];
    if (calls.some(({ toolName }) => this.toolNamed(toolName)?.sequential)) for (const call of calls) results.push(await run(call));
    else results.push(...(await Promise.all(calls.map(run))));
    for (const { callKey } of calls) this.answered.add(callKey);
    if (aborting.signal.aborted) return;
    try {
      await createSessionRequests(scene).sendResults(sessionId, results);
    } catch (error) {
      if (!isKnownError(error) || !["CALL_ANSWERED", "CALL_UNKNOWN"].includes(error.code)) throw error;
    }
  }

  private finish({ messages, complete }: RunEnd): void {
    this.isOver = true;
    this.buffer.push({ type: "session_end", sessionId: this.sessionId, messages });
    this.buffer.push(complete);
    this.buffer.end();
    const { status, pendingToolCalls, usage, cost, limit, runId } = complete;
    const last = messages.findLast((message) => message.role === "assistant");
    const error = errorIn(complete);
    this.settle.resolve({
      status,
      messages,
      text: last ? textOf(last) : "",
      ...(last ? { finishReason: last.stopReason } : {}),
      ...(pendingToolCalls ? { pendingToolCalls } : {}),
      ...(usage ? { usage } : {}),
      ...(cost ? { cost } : {}),
      ...(limit ? { limit } : {}),
      ...(error ? { error } : {}),
      ...(runId === undefined ? {} : { runId }),
    });
  }
}

function errorIn({ status, error, runId }: ExecuteComplete): AgentError | undefined {
  const failed: ReadonlySet<ExecuteStatus> = new Set(["error", "aborted"]);
  if (!failed.has(status)) return undefined;
  const more = runId === undefined ? {} : { runId };
  return errorFromDocument(error, more) ?? clientError("INTERNAL", { message: "The run failed.", ...more });
}

function bodyOf(sessionId: string, input: ExecuteInput, options: ClientExecuteOptions): unknown {
  const { agent, context, tools = [], model, temperature, maxTokens, reasoningEffort, surface, activeModule, mode, parent } = options;
  const declared = [...(context?.tools ?? []), ...tools.map(declaredTool)];
  return {
    sessionId,
    agent,
    input,
    context: context || declared.length > 0 ? { ...context, ...(declared.length > 0 ? { tools: declared } : {}) } : undefined,
    options: { model, temperature, maxTokens, reasoningEffort, surface, activeModule, mode, parent },
  };
}

function reasonOf({ reason }: AbortSignal): string {
  if (isKnownError(reason)) return reason.code;
  return typeof reason === "string" ? reason.slice(0, 200) : "signal";
}
