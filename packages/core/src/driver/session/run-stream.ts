import type { OutputSpec } from "../../agent/output-spec.ts";
import { AgentError, isAgentError } from "../../errors.ts";
import { at } from "../../loop/append-list.ts";
import { approvalsOf, callsBelow, clientCallsOf } from "../../loop/children/waits-of-children.ts";
import type { AgentEvent, DurableEvent, PendingApproval, PendingToolCall, SessionEvent } from "../../loop/event.ts";
import { pendingApproval, pendingCall } from "../../loop/events-of.ts";
import type { WaitingCall } from "../../loop/fact.ts";
import { type EndedRun, endOf, isAtRest, type State } from "../../loop/state.ts";
import { inCallOrder } from "../../loop/transcript.ts";
import { present } from "../../message/drop-undefined.ts";
import { type Message, textOf } from "../../message/message.ts";
import { type Cost, costSince, type Usage, usageSince } from "../../message/usage.ts";
import { compareCursors, cursorAfter, type EventCursor } from "../../protocol/cursor.ts";
import { type ExecuteOptions, type ExecuteResult, type ExecuteStream, executeStatusOf } from "../../protocol/execute.ts";
import type { SyncOrAsync } from "../effects/sync-or-async.ts";
import { createReaderBuffer, type ReaderBuffer } from "../live/reader-buffer.ts";
import { readRun } from "../log/read-run-events.ts";
import { withOutput } from "../model/check-typed-output.ts";
import type { AcceptedInput } from "./commands/accept-input.ts";
import type { CommandContext } from "./commands/submit-input.ts";
import type { SessionDriver } from "./session-driver.ts";

export interface Spent {
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** The usage and the cost of the open run. */
export const spentBy = ({ run }: State): Spent => present({ usage: run?.usage, cost: run?.cost });

/** The beginning of the stream of a run that was open before. */
interface RunStreamStart {
  /** The durable events of the run after that point, read from the log. */
  read(state: State, runId: string): AsyncIterable<readonly DurableEvent[]>;
  /** The usage and the cost of the run at that point. */
  readonly spent: Spent;
}

interface RunStreamOptions {
  readonly driver: SessionDriver;
  readonly sessionId: string;
  readonly user: string;
  /** Gives the facts to record and the run to follow, for the newest state; throws to refuse the input. */
  readonly begin: SyncOrAsync<(state: State) => AcceptedInput>;
  /** True if the input may stop the open run. */
  readonly mayStop: boolean;
  readonly signal: AbortSignal | undefined;
  /** The `output` schema of the run or of the agent. */
  readonly output?: OutputSpec | undefined;
  /** Default: the stream begins with the facts of `begin`. */
  readonly start?: RunStreamStart;
}

/** The stream of one run, from its acceptance until it ends or waits for its caller. */
class RunStream implements ExecuteStream {
  readonly sessionId: string;
  private readonly options: RunStreamOptions;
  private readonly buffer: ReaderBuffer;
  private readonly outcome: Promise<ExecuteResult>;
  private readonly messages: Message[] = [];
  private settle!: { readonly resolve: (result: SyncOrAsync<ExecuteResult>) => void; readonly reject: (error: AgentError) => void };
  private runId: string | undefined;
  private before: Spent = {};
  private isAccepted = false;
  /** Events since the input was last offered. Another process may append first; then another run may answer the input. */
  private early: (readonly SessionEvent[])[] = [];
  /** True if the run was open before: snapshots of its open lanes come first. */
  private isJoining = false;
  /** The last durable event that was read from the log. */
  private read: EventCursor | undefined;
  private isOver = false;
  private isRead = false;
  private readonly stops: (() => void)[] = [];

  constructor(options: RunStreamOptions) {
    const { driver, sessionId } = options;
    this.options = options;
    this.sessionId = sessionId;
    this.buffer = createReaderBuffer(() => driver.hub.snapshots(this.runId));
    this.outcome = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    this.outcome.catch(() => {}); // Callers of `result` get the rejection. Without a caller, an unhandled rejection must not end the process.
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
    const bodies = (state: State): AcceptedInput["bodies"] => {
      const { runId } = this;
      const isKnown = runId !== undefined && (state.run?.runId === runId || state.inputs.some((input) => input.runId === runId));
      return isKnown && !this.isOver ? [{ type: "abort.requested", runId, reason, by: user }] : [];
    };
    if (!this.isOver) await driver.offer({ bodies, needsOwner: false, mayStop: true });
  }

  private start(): void {
    const { driver, begin } = this.options;
    this.stops.push(driver.hub.listen((events, runId) => this.take(events, runId)));
    this.stops.push(driver.watch({ settled: (state) => this.look(state), lost: (error) => this.fail(error) }));
    // `accept` hooks are called first; their refusal ends the stream.
    if (begin instanceof Promise)
      begin.then(
        (ready) => this.offer(ready),
        (error: AgentError) => this.fail(error),
      );
    else this.offer(begin);
  }

  private offer(begin: (state: State) => AcceptedInput): void {
    const { driver, signal, mayStop } = this.options;
    if (this.isOver) return;
    const bodies = (state: State): AcceptedInput["bodies"] => {
      const accepted = begin(state);
      this.runId = accepted.runId;
      this.early = [];
      const { run } = state;
      this.isJoining = run?.runId === accepted.runId;
      this.before = this.options.start?.spent ?? (run?.runId === accepted.runId ? spentBy(state) : {});
      return signal?.aborted ? [...accepted.bodies, ...this.abortWith(accepted, state)] : accepted.bodies;
    };
    const offered = driver.offer({ bodies, needsOwner: true, waitsForStore: true, mayStop });
    const accepted = (): void => {
      this.accepted(driver.hub.snapshots(this.runId));
      if (signal?.aborted) this.abort(reasonOf(signal)).catch(() => {});
      this.look(driver.state);
    };
    (this.options.start ? offered.then(() => this.catchUp()) : offered).then(accepted).catch((error: AgentError) => this.fail(error));
    if (!signal) return;
    const onAbort = (): void => void this.abort(reasonOf(signal)).catch(() => {});
    signal.addEventListener("abort", onAbort, { once: true });
    this.stops.push(() => signal.removeEventListener("abort", onAbort));
  }

  /** The abort is recorded with the input, so that no effect starts. The run of an input that the log already had is aborted as usual. */
  private abortWith({ bodies, runId }: AcceptedInput, { run }: State): AcceptedInput["bodies"] {
    const { signal, user } = this.options;
    if (bodies.length === 0 || !signal || (run?.runId === runId && run.abort)) return [];
    return [{ type: "abort.requested", runId, reason: reasonOf(signal), by: user }];
  }

  /** Reads the events of the run since the cursor at which the stream begins; live events wait in `early` meanwhile. */
  private async catchUp(): Promise<void> {
    const { start, driver } = this.options;
    if (!start || this.runId === undefined) return;
    for await (const events of start.read(driver.state, this.runId)) {
      this.keep(events);
      const last = events.at(-1);
      if (last) this.read = last;
    }
  }

  /** `snapshots`: the snapshots of the open lanes, which a reader that joins gets in place of the deltas. */
  private accepted(snapshots: readonly SessionEvent[]): void {
    this.isAccepted = true;
    const early = this.early.splice(0).flat();
    this.take(this.isJoining ? early.filter((event) => "seq" in event) : early, this.runId);
    if (this.isJoining) this.take(snapshots, this.runId);
  }

  private take(events: readonly SessionEvent[], runId: string | undefined): void {
    if (this.isOver || runId === undefined || runId !== this.runId) return;
    if (!this.isAccepted) return void this.early.push(events);
    const { read } = this;
    const news = read ? events.filter((event) => !("seq" in event) || compareCursors(event, read) > 0) : events;
    this.keep(news);
    if (news.some(({ type }) => type === "run_end")) this.finish(this.options.driver.state);
  }

  private keep(events: readonly SessionEvent[]): void {
    this.buffer.push(events);
    for (const event of events) if (event.type === "message_end") this.messages.push(event.message);
  }

  /** The session has settled: ends the stream when its run is over, or waits for a client or an approval. */
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
    const { status, pendingToolCalls, pendingApprovals = [] } = result;
    const approvals = pendingApprovals.length > 0 ? { pendingApprovals } : {};
    const complete: AgentEvent = { type: "execute_complete", status, ...(pendingToolCalls ? { pendingToolCalls } : {}), ...approvals };
    this.buffer.push([{ type: "session_end", sessionId: this.sessionId, messages: result.messages }, complete]);
    this.buffer.end();
    this.settle.resolve(withOutput(result, this.options.output));
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
    const status = executeStatusOf(open ? "waiting" : (ended?.status ?? "completed"));
    const { limit, ...spent }: Pick<EndedRun, "limit" | "usage" | "cost"> = open ?? ended ?? {};
    const usage = usageSince(spent.usage, this.before.usage);
    const cost = costSince(spent.cost, this.before.cost);
    const last = messages.findLast((message) => message.role === "assistant");
    const common = {
      messages,
      text: last ? textOf(last) : "",
      ...present({ finishReason: last?.stopReason, usage, cost, runId, limit: limit && { which: limit.which, value: limit.value } }),
    };
    if (status === "awaiting_tool_execution")
      return { status, ...common, pendingToolCalls: pendingToolCalls(state), pendingApprovals: pendingApprovals(state) };
    return status === "completed" ? { status, ...common, output: undefined } : { status, ...common, error: errorOf(ended, runId) };
  }
}

/** The messages of a run that had ended before the stream began: the answer to a repeated input. */
function messagesOf(state: State, runId: string | undefined): readonly Message[] {
  return Array.from({ length: state.history.length }, (_, index) => at(state.history, index)).flatMap((entry) =>
    entry?.runId === runId && entry ? [entry.message] : [],
  );
}

/** The calls that wait for a client, in call order, then those of children. */
export function pendingToolCalls(state: State): readonly PendingToolCall[] {
  const own = (state.run?.calls ?? []).filter((call) => call.state === "awaiting_client");
  return [...own.map((call) => pendingCall(call, call.deadline)), ...clientCallsOf(waitingBelow(state))];
}

/** The calls that wait for a person's approval, in call order, then those of children. */
export function pendingApprovals(state: State): readonly PendingApproval[] {
  const own = (state.run?.calls ?? []).filter((call) => call.state === "awaiting_approval");
  return [...own.map(pendingApproval), ...approvalsOf(waitingBelow(state))];
}

const waitingBelow = (state: State): readonly WaitingCall[] => callsBelow(state).map(({ call }) => call);

function errorOf(ended: EndedRun | undefined, runId: string | undefined): AgentError {
  if (ended?.failure) return new AgentError(ended.failure.code, { ...ended.failure, runId });
  return new AgentError("RUN_ABORTED", { message: `The run was stopped: ${ended?.reason ?? "aborted"}.`, runId });
}

function reasonOf(signal: AbortSignal): string {
  const { reason } = signal;
  return isAgentError(reason) ? reason.code : typeof reason === "string" ? reason.slice(0, 200) : "signal";
}

/** The stream of the run that `begin` names, from the recorded facts on. */
export function watchRun<Output>(
  { deps, driver }: CommandContext,
  begin: SyncOrAsync<(state: State) => AcceptedInput>,
  { signal, mode, output = deps.bound.agent.output }: ExecuteOptions,
): ExecuteStream<Output> {
  const mayStop = mode === "interrupt" || signal !== undefined;
  const { user } = deps.access;
  // The `output` schema of the agent has checked the value, and `Output` is its type.
  return new RunStream({ driver, sessionId: deps.sessionId, user, begin, signal, mayStop, output }) as ExecuteStream<Output>;
}

/** The stream of a run with a known id, from one of its facts on. */
export function watchRunFrom<Output>(
  { deps, driver }: CommandContext,
  { runId, seq }: { readonly runId: string; readonly seq: number },
  spent: Spent,
): ExecuteStream<Output> {
  const { store, ref, sessionId, bound } = deps;
  const execution = new RunStream({
    ...{ driver, sessionId, user: deps.access.user, signal: undefined, mayStop: false, output: bound.agent.output },
    begin: () => ({ bodies: [], runId }),
    start: { read: (state) => readRun(state, { store, ref, runId, after: cursorAfter(seq - 1) }), spent },
  });
  return execution as ExecuteStream<Output>;
}
