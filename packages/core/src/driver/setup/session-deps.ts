import type { Agent } from "../../agent/agent.ts";
import type { ResolveModel } from "../../agent/model-ref.ts";
import type { SessionEvent } from "../../loop/event.ts";
import type { Access, FactOf, Labels, ParentLink, RememberedDecision, WaitingCall } from "../../loop/fact.ts";
import type { SessionStorage } from "../../memory/store/private-store.ts";
import type { UserMessage } from "../../message/message.ts";
import type { CallGuard } from "../../ports/call-guard.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EventChannel } from "../../ports/event-channel.ts";
import type { IdSource } from "../../ports/id-source.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ScheduleRules } from "../../ports/schedule-rules.ts";
import type { SessionRef } from "../../ports/session-log.ts";
import type { TokenCounter } from "../../ports/token-counter.ts";
import type { UsageLedger } from "../../ports/usage-ledger.ts";
import type { ChildResult } from "../../tools/child-agent.ts";
import type { BoundAgent } from "./bound-agent.ts";
import type { ChildWorkers } from "./child-workers.ts";
import type { Observation } from "./observer-calls.ts";

/** What the session of a child begins with. */
export interface ChildOptions {
  readonly id: string;
  readonly agent: Agent;
  readonly access: Access;
  readonly parent: ParentLink;
  /** Decisions that hold for the child, too. */
  readonly remembered?: () => readonly RememberedDecision[];
  /** False: this process records and reads the child, and another process runs it. Default: as the parent. */
  readonly drives?: false;
}

export type ChildInput = readonly [input: string | UserMessage, options: { readonly idempotencyKey: string; readonly labels?: Labels }];

/** Called with what a child publishes and waits for, in the process that runs its parent. */
export interface ChildListeners {
  /** Everything that the child publishes. */
  events(events: readonly SessionEvent[]): void;
  /** Called when the child has settled. `rests`: only an answer to one of `waits`, or the end of a child that rests in its background, continues it. */
  waits(waits: readonly WaitingCall[], rests: boolean): void;
  /** Offers the child to the processes that run sessions; false if the offer failed. Absent: the child runs in this process. */
  readonly offer?: () => Promise<boolean>;
}

export type ChildAnswer = FactOf<"approval.decided"> | FactOf<"client.answered">;

/** What a child has spent. */
export type ChildSpending = Pick<ChildResult, "usage" | "cost" | "toolCallCount">;

/** The session of a child that runs in this process. */
export interface ChildSession {
  /** Gives the child its input, once per key. Resolves when its run, its children in the background and the runs that read their reports have ended. */
  run(input: ChildInput, listeners: ChildListeners): Promise<ChildResult>;
  /** Passes to the child an answer that was given at the session above. An answer that the child already has changes nothing. */
  answer(answer: ChildAnswer): Promise<void>;
  /** Gives the child its input, once per key. */
  begin(input: ChildInput): Promise<void>;
  /** Resolves with the end of the child whose input has this key. `undefined`: the child never began. */
  end(key: string, listeners?: Pick<ChildListeners, "waits">): Promise<ChildResult | undefined>;
  /** Like `end`, but `undefined` also if the child has not ended. */
  result(key: string): Promise<ChildResult | undefined>;
  abort(): void;
  /** The spending of the child and its children until now: what their logs record, and the most that open calls may spend. */
  spent(): ChildSpending;
  /** Stops the child whose input has this key, and all that it has started; resolves with its end. `undefined`: the child never began. */
  stop(key: string): Promise<ChildResult | undefined>;
  /** Releases the child: its next owner continues it. */
  dispose(): Promise<void>;
}

/** Everything the driver of one session works with, defaults filled in. */
export interface Deps {
  readonly bound: BoundAgent;
  readonly sessionId: string;
  readonly ref: SessionRef;
  readonly store: SessionStorage;
  /** True if the store was made for this handle: it answers at once, and no other process can claim the session, append to it or read its lanes. */
  readonly isPrivate: boolean;
  readonly access: Access;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly observation: Observation | undefined;
  readonly ledger: UsageLedger | undefined;
  readonly tokenCounter: TokenCounter | undefined;
  readonly scheduleRules: ScheduleRules | undefined;
  readonly resolveModel: ResolveModel | undefined;
  readonly channel: EventChannel | undefined;
  readonly callGuard: CallGuard;
  readonly node: string;
  readonly leaseMs: number;
  /** True if this handle may own the session. */
  readonly drives: boolean;
  /** `undefined`: the store is private, so no snapshots of the fold are kept. */
  readonly snapshotCheckShare: number | undefined;
  /** Set for the session of a child: the call that started it. */
  readonly parent?: ParentLink;
  /** Decisions that the sessions above this one remember. */
  readonly rememberedAbove?: () => readonly RememberedDecision[];
  /** The processes that run sessions of the store. */
  readonly workers: ChildWorkers | undefined;
  /** A handle on the session of a child, in the same store. */
  readonly openChild: (child: ChildOptions) => ChildSession;
}
