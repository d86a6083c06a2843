import { owesReport } from "../../loop/children/background-children.ts";
import type { DurableEvent, EphemeralEvent, PendingApproval, PendingToolCall, SessionEvent } from "../../loop/event.ts";
import { isAtRest, type State, sessionStatusOf } from "../../loop/state.ts";
import type { Message, MessageId } from "../../message/message.ts";
import type { Cost, Usage } from "../../message/usage.ts";
import type { AcceptedDecision, DecideOptions } from "../../protocol/approval.ts";
import type { CheckedInput } from "../../protocol/checked-input.ts";
import type { EventCursor } from "../../protocol/cursor.ts";
import {
  type AcceptedSubmission,
  type AgentSession,
  type AgentSessionStatus,
  type AnswerOptions,
  executeStatusOf,
  type Followed,
  type SessionFollower,
  type SubmitOptions,
} from "../../protocol/execute.ts";
import type { ExecuteInput } from "../../protocol/execute-input.ts";
import type { ScheduleFiring, ScheduleRequest, SessionSchedule } from "../../protocol/schedule.ts";
import type { SessionSnapshot } from "../../protocol/snapshot.ts";
import { openLanes } from "../live/open-lanes.ts";
import { readRun } from "../log/read-run-events.ts";
import { dueOf, erasableAt } from "../ownership/due-dates.ts";
import { guardListener } from "../setup/guard-event-listener.ts";
import { SharedSnapshot } from "./cached-public-snapshot.ts";
import { abortRun } from "./commands/abort-run.ts";
import { answerCall } from "./commands/answer-call.ts";
import { changeHold } from "./commands/change-hold.ts";
import { changeSession } from "./commands/change-session.ts";
import { decideCall } from "./commands/decide-call.ts";
import { endSession } from "./commands/end-session.ts";
import { moveHead } from "./commands/move-head.ts";
import { openSession } from "./commands/open-session.ts";
import { clearSchedule, firingsOf, schedulesOf, setSchedule } from "./commands/set-schedule.ts";
import { type CommandContext, submitInput } from "./commands/submit-input.ts";
import { followSession } from "./follow-session.ts";
import { snapshotOf } from "./public-snapshot.ts";
import { pendingApprovals, pendingToolCalls, spentBy, watchRunFrom } from "./run-stream.ts";
import type { SessionDriver } from "./session-driver.ts";

/** A class, because a handle as a literal with this many getters takes 4 KB. */
export class SessionHandle<Output> implements AgentSession<Output> {
  readonly id: string;
  readonly #context: CommandContext;
  readonly #driver: SessionDriver;
  readonly #shared: SharedSnapshot;

  constructor(context: CommandContext) {
    this.id = context.deps.sessionId;
    this.#context = context;
    this.#driver = context.driver;
    this.#shared = new SharedSnapshot(context.deps.sessionId);
  }

  get #state(): State {
    return this.#driver.state;
  }

  get status(): AgentSessionStatus {
    return statusOf(this.#state);
  }

  get title(): string | undefined {
    return this.#state.title;
  }

  get model(): string | undefined {
    return this.#state.model;
  }

  get messages(): readonly Message[] {
    return [...this.#driver.builder.follow(this.#state).messages];
  }

  get messageIds(): readonly MessageId[] {
    return [...this.#driver.builder.follow(this.#state).ids];
  }

  get totalCost(): Cost | undefined {
    return this.#state.cost;
  }

  get totalUsage(): Usage | undefined {
    return this.#state.usage;
  }

  get contextTokens(): number | undefined {
    return this.#state.contextTokens;
  }

  get pendingToolCalls(): readonly PendingToolCall[] {
    return pendingToolCalls(this.#state);
  }

  get pendingApprovals(): readonly PendingApproval[] {
    return pendingApprovals(this.#state);
  }

  get isInterrupted(): boolean {
    return this.#driver.view.wasRecovered && !isAtRest(this.#state);
  }

  get schedules(): readonly SessionSchedule[] {
    return schedulesOf(this.#state);
  }

  get firings(): readonly ScheduleFiring[] {
    return firingsOf(this.#state);
  }

  get lastSeq(): number {
    return this.#state.seq;
  }

  get lastEvent(): EventCursor | undefined {
    return this.#driver.view.lastEvent;
  }

  get runId(): string | undefined {
    return this.#state.run?.runId;
  }

  get isResting(): boolean {
    return this.isReadOnly || isAtRest(this.#state);
  }

  get isReadOnly(): boolean {
    return this.#driver.view.tooNew !== undefined;
  }

  get isOwner(): boolean {
    return this.#driver.isOwner;
  }

  get dueAt(): number | null {
    return this.isReadOnly ? null : dueOf(this.#state);
  }

  get erasableAt(): number | null {
    return this.isReadOnly ? null : erasableAt(this.#state);
  }

  get reportsTo(): string | undefined {
    return owesReport(this.#state) ? this.#state.parent?.session : undefined;
  }

  collect(child: string): Promise<string | undefined> {
    return this.#driver.collect(child);
  }

  async ready(): Promise<AgentSession<Output>> {
    await this.#driver.view.load();
    return this;
  }

  open(): Promise<boolean> {
    return openSession(this.#context);
  }

  submit(input: ExecuteInput | CheckedInput, options: SubmitOptions = {}): Promise<AcceptedSubmission> {
    return submitInput(this.#context, input, options);
  }

  abort(reason = "user", options: Parameters<AgentSession["abort"]>[1] = {}): Promise<boolean> {
    return abortRun(this.#context, reason, options);
  }

  decide(callKey: string, decision: DecideOptions): Promise<AcceptedDecision & Followed<Output>> {
    return this.#followed(decideCall(this.#context, callKey, decision));
  }

  answer(callKey: string, output: unknown, options: AnswerOptions = {}): Promise<AcceptedSubmission & Followed<Output>> {
    return this.#followed(answerCall(this.#context, { callKey, output }, options));
  }

  async #followed<T extends { readonly runId: string; readonly seq: number }>(accepting: Promise<T>): Promise<T & Followed<Output>> {
    const before = this.#state.run ? spentBy(this.#state) : undefined;
    const accepted = await accepting;
    const spent = before ?? spentBy(this.#state);
    return { ...accepted, stream: () => watchRunFrom<Output>(this.#context, accepted, spent) };
  }

  schedule(name: string, request: ScheduleRequest): Promise<SessionSchedule> {
    return setSchedule(this.#context, name, request);
  }

  unschedule(name: string, { by }: { readonly by?: string } = {}): Promise<boolean> {
    return clearSchedule(this.#context, name, by);
  }

  change(changes: Parameters<AgentSession["change"]>[0]): Promise<void> {
    return changeSession(this.#context, changes);
  }

  moveHead(to: MessageId | null): Promise<void> {
    return moveHead(this.#context, to);
  }

  hold(options?: Parameters<AgentSession["hold"]>[0]): Promise<boolean> {
    return changeHold(this.#context, true, options);
  }

  releaseHold(options?: Parameters<AgentSession["releaseHold"]>[0]): Promise<boolean> {
    return changeHold(this.#context, false, options);
  }

  end(options?: Parameters<AgentSession["end"]>[0]): Promise<boolean> {
    return endSession(this.#context, options);
  }

  follow(follower: SessionFollower): () => void {
    return followSession(this.#context, follower);
  }

  readRun(
    runId: string,
    { after = { seq: 0, k: 0 } }: Parameters<AgentSession["readRun"]>[1] = {},
  ): AsyncIterable<readonly DurableEvent[]> {
    const { store, ref } = this.#context.deps;
    return readRun(this.#state, { store, ref, runId, after });
  }

  subscribe(listener: (events: readonly SessionEvent[]) => void): () => void {
    return this.#driver.hub.listen(guardListener(this.#context.deps)((events: readonly SessionEvent[]) => listener(events)));
  }

  lanes(runId?: string): readonly EphemeralEvent[] {
    return this.#driver.hub.snapshots(runId).filter(({ lane }) => isLaneOpen(this.#state, lane));
  }

  snapshot(): SessionSnapshot {
    return this.#shared.of(this.#state, this.isReadOnly);
  }

  staleSnapshot(): SessionSnapshot | undefined {
    const { staleState } = this.#driver.view;
    return staleState && snapshotOf(staleState, this.id);
  }

  handOver(): Promise<void> {
    return this.#driver.handOver();
  }

  takeOver(): void {
    this.#driver.takeOver();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#driver.dispose();
  }
}

/** True if the state does not have the closing fact of the lane. The effect of the lane ends a moment after that fact. */
function isLaneOpen(state: State, lane: number): boolean {
  return openLanes(state).some((open) => open.lane === lane);
}

/** The status of a session: `completed` also if its last run was aborted. */
function statusOf(state: State): AgentSessionStatus {
  const status = sessionStatusOf(state);
  if (status === "running") return status;
  const run = executeStatusOf(status === "waiting" ? status : (state.lastRun?.status ?? "completed"));
  return run === "aborted" ? "completed" : run;
}
