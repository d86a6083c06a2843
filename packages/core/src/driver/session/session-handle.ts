import type { DurableEvent, EphemeralEvent, PendingApproval, PendingToolCall, SessionEvent } from "../../loop/event.ts";
import { isAtRest, type State } from "../../loop/state.ts";
import type { Message, MessageId } from "../../message/message.ts";
import type { Cost, Usage } from "../../message/usage.ts";
import type { AcceptedDecision, DecideOptions } from "../../protocol/approval.ts";
import type { EventCursor } from "../../protocol/cursor.ts";
import type {
  AcceptedSubmission,
  AgentSession,
  ExecuteInput,
  SessionFollower,
  SessionStatus,
  SubmitOptions,
} from "../../protocol/execute.ts";
import type { SessionSnapshot } from "../../protocol/snapshot.ts";
import { openLanes } from "../live/open-lanes.ts";
import { readRun } from "../log/run-history.ts";
import { dueOf } from "../ownership/dates.ts";
import { decideCall } from "./commands/decide-call.ts";
import { abortRun, changeSession, endSession, moveHead, openSession } from "./commands/session-commands.ts";
import { type SubmitScene, submitInput } from "./commands/submit.ts";
import { pendingApprovals, pendingToolCalls } from "./execution.ts";
import { followSession } from "./follow-session.ts";
import { guardListener } from "./guard-listener.ts";
import type { SessionDriver } from "./session-driver.ts";
import { SharedSnapshot } from "./shared-snapshot.ts";
import { snapshotOf } from "./snapshot.ts";

/** A class, so that a handle is a small object: as a literal with so many getters it took 4 KB. */
export class SessionHandle implements AgentSession {
  readonly id: string;
  readonly #scene: SubmitScene;
  readonly #driver: SessionDriver;
  readonly #shared: SharedSnapshot;

  constructor(scene: SubmitScene) {
    this.id = scene.deps.sessionId;
    this.#scene = scene;
    this.#driver = scene.driver;
    this.#shared = new SharedSnapshot(scene.deps.sessionId);
  }

  get #state(): State {
    return this.#driver.state;
  }

  get status(): SessionStatus {
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

  async ready(): Promise<AgentSession> {
    await this.#driver.load();
    return this;
  }

  open(): Promise<boolean> {
    return openSession(this.#scene);
  }

  submit(input: ExecuteInput, options: SubmitOptions = {}): Promise<AcceptedSubmission> {
    return submitInput(this.#scene, input, options);
  }

  abort(reason = "user", options: Parameters<AgentSession["abort"]>[1] = {}): Promise<boolean> {
    return abortRun(this.#scene, reason, options);
  }

  decide(callKey: string, decision: DecideOptions): Promise<AcceptedDecision> {
    return decideCall(this.#scene, callKey, decision);
  }

  change(changes: Parameters<AgentSession["change"]>[0]): Promise<void> {
    return changeSession(this.#scene, changes);
  }

  moveHead(to: MessageId | null): Promise<void> {
    return moveHead(this.#scene, to);
  }

  end(): Promise<void> {
    return endSession(this.#scene);
  }

  follow(follower: SessionFollower): () => void {
    return followSession(this.#scene, follower);
  }

  readRun(
    runId: string,
    { after = { seq: 0, k: 0 } }: Parameters<AgentSession["readRun"]>[1] = {},
  ): AsyncIterable<readonly DurableEvent[]> {
    const { store, ref } = this.#scene.deps;
    return readRun(this.#state, { store, ref, runId, after });
  }

  subscribe(listener: (events: readonly SessionEvent[]) => void): () => void {
    return this.#driver.hub.listen(guardListener(this.#scene.deps)((events: readonly SessionEvent[]) => listener(events)));
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.#driver.dispose();
  }
}

/** A lane is over with the fact that closes it, which its effect is told of a moment later. */
function isLaneOpen(state: State, lane: number): boolean {
  return openLanes(state).some((open) => open.lane === lane);
}

function statusOf(state: State): SessionStatus {
  if (state.run && isAtRest(state)) return "awaiting_tool_execution";
  if (state.run || (state.inputs.length > 0 && state.status === "open")) return "running";
  return state.lastRun?.status === "failed" ? "error" : "completed";
}
