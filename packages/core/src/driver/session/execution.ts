import { AgentError, isAgentError } from "../../errors.ts";
import { at } from "../../loop/append-list.ts";
import type { AgentEvent, ExecuteStatus, PendingApproval, PendingToolCall, SessionEvent } from "../../loop/event.ts";
import { pendingApproval, pendingCall } from "../../loop/events-of.ts";
import { type EndedRun, endOf, isAtRest, type State } from "../../loop/state.ts";
import { inCallOrder } from "../../loop/transcript.ts";
import { type Message, textOf } from "../../message/message.ts";
import { type Cost, costSince, type Usage, usageSince } from "../../message/usage.ts";
import type { ExecuteResult, ExecuteStream } from "../../protocol/execute.ts";
import { createEventBuffer, type EventBuffer } from "../live/event-buffer.ts";
import type { AcceptedInput } from "./commands/accept-input.ts";
import type { SessionDriver } from "./session-driver.ts";

interface Spent {
  readonly usage?: Usage;
  readonly cost?: Cost;
}

export interface ExecutionOptions {
  readonly driver: SessionDriver;
  readonly sessionId: string;
  readonly user: string;
  /** What to record and which run to watch, in the newest state. Throws to refuse. */
  readonly begin: (state: State) => AcceptedInput;
  /** The input may stop the run that is open. */
  readonly mayStop: boolean;
  readonly signal: AbortSignal | undefined;
}

/** One run, watched from its acceptance until it ends or waits for somebody. */
export class Execution implements ExecuteStream {
  readonly sessionId: string;
  private readonly options: ExecutionOptions;
  private readonly buffer: EventBuffer;
  private readonly outcome: Promise<ExecuteResult>;
  private readonly messages: Message[] = [];
  private settle!: { readonly resolve: (result: ExecuteResult) => void; readonly reject: (error: AgentError) => void };
  private runId: string | undefined;
  private before: Spent = {};
  private isAccepted = false;
  /** Told since the input was last offered: others may be faster, and then it is another run that answers. */
  private early: (readonly SessionEvent[])[] = [];
  /** The run was open before: what its open lanes have said is told first. */
  private isJoining = false;
  private isOver = false;
  private isRead = false;
  private readonly stops: (() => void)[] = [];

  constructor(options: ExecutionOptions) {
    const { driver, sessionId } = options;
    this.options = options;
    this.sessionId = sessionId;
    this.buffer = createEventBuffer(() => driver.hub.snapshots(this.runId));
    this.outcome = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    this.outcome.catch(() => {}); // Whoever asks for the result gets the rejection; nobody asking is no crash.
    this.buffer.push([{ type: "session_start", sessionId }]);
    this.start();
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent, undefined> {
    if (this.isRead)
      throw new AgentError("INPUT_INVALID", {
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
    const { driver, user } = this.options;
    const bodies = (state: State): ReturnType<ExecutionOptions["begin"]>["bodies"] => {
      const { runId } = this;
      const isKnown = runId !== undefined && (state.run?.runId === runId || state.inputs.some((input) => input.runId === runId));
      return isKnown && !this.isOver ? [{ type: "abort.requested", runId, reason, by: user }] : [];
    };
    if (!this.isOver) await driver.offer({ bodies, needsOwner: false, mayStop: true });
  }

  private start(): void {
    const { driver, begin, signal, mayStop } = this.options;
    this.stops.push(driver.hub.listen((events, runId) => this.take(events, runId)));
    this.stops.push(driver.watch({ settled: (state) => this.look(state), lost: (error) => this.fail(error) }));
    const bodies = (state: State): AcceptedInput["bodies"] => {
      const accepted = begin(state);
      this.runId = accepted.runId;
      this.early = [];
      const { run } = state;
      this.isJoining = run?.runId === accepted.runId;
      this.before =
        run?.runId === accepted.runId ? { ...(run.usage ? { usage: run.usage } : {}), ...(run.cost ? { cost: run.cost } : {}) } : {};
      return signal?.aborted ? [...accepted.bodies, ...this.abortWith(accepted, state)] : accepted.bodies;
    };
    driver.offer({ bodies, needsOwner: true, isPatient: true, mayStop }).then(
      () => {
        this.accepted(driver.hub.snapshots(this.runId));
        if (signal?.aborted) this.abort(reasonOf(signal)).catch(() => {});
        this.look(driver.state);
      },
      (error: AgentError) => this.fail(error),
    );
    if (!signal) return;
    const onAbort = (): void => void this.abort(reasonOf(signal)).catch(() => {});
    signal.addEventListener("abort", onAbort, { once: true });
    this.stops.push(() => signal.removeEventListener("abort", onAbort));
  }

  /** Recorded with its input, so that nothing is begun for it. An input that was there before is aborted as ever. */
  private abortWith({ bodies, runId }: AcceptedInput, { run }: State): AcceptedInput["bodies"] {
    const { signal, user } = this.options;
    if (bodies.length === 0 || !signal || (run?.runId === runId && run.abort)) return [];
    return [{ type: "abort.requested", runId, reason: reasonOf(signal), by: user }];
  }

  /** `snapshots`: what the open lanes have said so far; who joins gets it in place of the deltas. */
  private accepted(snapshots: readonly SessionEvent[]): void {
    this.isAccepted = true;
    const early = this.early.splice(0).flat();
    this.take(this.isJoining ? early.filter((event) => "seq" in event) : early, this.runId);
    if (this.isJoining) this.take(snapshots, this.runId);
  }

  private take(events: readonly SessionEvent[], runId: string | undefined): void {
    if (this.isOver || runId === undefined || runId !== this.runId) return;
    if (!this.isAccepted) return void this.early.push(events);
    this.buffer.push(events);
    for (const event of events) {
      if (event.type === "message_end") this.messages.push(event.message);
      else if (event.type === "run_end") this.finish(this.options.driver.state);
    }
  }

  /** Nothing moves by itself any more: is our run over, or waiting for somebody? */
  private look(state: State): void {
    if (!this.isAccepted || this.isOver) return;
    const { runId } = this;
    const isOpen = state.run?.runId === runId;
    const isWaiting =
      state.inputs.some((input) => input.runId === runId) || (state.run?.steered.some((input) => input.runId === runId) ?? false);
    if (isOpen ? !isAtRest(state) : isWaiting) return;
    if (!isOpen && this.messages.length === 0) this.messages.push(...messagesOf(state, runId));
    this.finish(state);
  }

  private finish(state: State): void {
    if (this.isOver) return;
    const result = this.resultIn(state);
    this.end();
    const { status, pendingToolCalls, pendingApprovals } = result;
    const pending = { ...(pendingToolCalls ? { pendingToolCalls } : {}), ...(pendingApprovals ? { pendingApprovals } : {}) };
    const complete: AgentEvent = { type: "execute_complete", status, ...pending };
    this.buffer.push([{ type: "session_end", sessionId: this.sessionId, messages: result.messages }, complete]);
    this.buffer.end();
    this.settle.resolve(result);
  }

  private fail(error: AgentError): void {
    if (this.isOver) return;
    this.end();
    this.buffer.end(error);
    this.settle.reject(error);
  }

  private end(): void {
    this.isOver = true;
    for (const stop of this.stops.splice(0)) stop();
  }

  private resultIn(state: State): ExecuteResult {
    const { runId } = this;
    const messages = inCallOrder(this.messages);
    const open = state.run?.runId === runId ? state.run : undefined;
    const ended = endOf(state, runId);
    const status = open ? "awaiting_tool_execution" : statusOf(ended);
    const { limit, ...spent }: Pick<EndedRun, "limit" | "usage" | "cost"> = open ?? ended ?? {};
    const usage = usageSince(spent.usage, this.before.usage);
    const cost = costSince(spent.cost, this.before.cost);
    const approvals = open ? pendingApprovals(state) : [];
    const last = messages.findLast((message) => message.role === "assistant");
    const error = status === "error" || status === "aborted" ? errorOf(ended, runId) : undefined;
    return {
      status,
      messages,
      text: last ? textOf(last) : "",
      ...(last ? { finishReason: last.stopReason } : {}),
      ...(open ? { pendingToolCalls: pendingToolCalls(state) } : {}),
      ...(approvals.length > 0 ? { pendingApprovals: approvals } : {}),
      ...(usage ? { usage } : {}),
      ...(cost ? { cost } : {}),
      ...(limit ? { limit: { which: limit.which, value: limit.value } } : {}),
      ...(error ? { error } : {}),
      ...(runId === undefined ? {} : { runId }),
    };
  }
}

const statusOf = (ended: EndedRun | undefined): ExecuteStatus => (ended?.status === "failed" ? "error" : (ended?.status ?? "completed"));

/** What a run that was over before it was watched had said: the answer to an input that is sent again. */
function messagesOf(state: State, runId: string | undefined): readonly Message[] {
  return Array.from({ length: state.history.length }, (_, place) => at(state.history, place)).flatMap((entry) =>
    entry?.runId === runId && entry ? [entry.message] : [],
  );
}

/** The calls that wait for their caller, in call order. */
export function pendingToolCalls(state: State): readonly PendingToolCall[] {
  return (state.run?.calls ?? []).filter((call) => call.stage === "requested").map((call) => pendingCall(call, call.deadline));
}

/** The calls that wait for a person's leave, in call order. */
export function pendingApprovals(state: State): readonly PendingApproval[] {
  return (state.run?.calls ?? []).filter((call) => call.stage === "asked").map(pendingApproval);
}

function errorOf(ended: EndedRun | undefined, runId: string | undefined): AgentError {
  if (ended?.failure) return new AgentError(ended.failure.code, { ...ended.failure, runId });
  return new AgentError("RUN_ABORTED", { message: `The run was stopped: ${ended?.reason ?? "aborted"}.`, runId });
}

function reasonOf(signal: AbortSignal): string {
  const { reason } = signal;
  return isAgentError(reason) ? reason.code : typeof reason === "string" ? reason.slice(0, 200) : "signal";
}
