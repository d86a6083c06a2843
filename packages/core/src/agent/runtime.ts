import type { Access } from "../loop/fact.ts";
import type { CallGuard } from "../ports/call-guard.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventChannel } from "../ports/event-channel.ts";
import type { IdSource } from "../ports/id-source.ts";
import type { Logger } from "../ports/logger.ts";
import type { RunQueue } from "../ports/run-queue.ts";
import type { ScheduleRules } from "../ports/schedule-rules.ts";
import type { SessionStore } from "../ports/session-store.ts";
import type { TokenCounter } from "../ports/token-counter.ts";
import type { UsageLedger } from "../ports/usage-ledger.ts";
import type { AgentSession, ExecuteOptions, ExecuteStream } from "../protocol/execute.ts";
import type { ExecuteInput } from "../protocol/execute-input.ts";
import type { Agent } from "./agent.ts";
import type { ResolveModel } from "./model-ref.ts";
import type { Observer } from "./observer.ts";
import type { SessionBeginning } from "./session-beginning.ts";

/**
 * Finds an agent of a scope by its name; `undefined`: there is none. `access.scope` is always the scope of the session; if no caller is known, as in a
 * worker, `access.user` is `server`. Must return the same agent for a session on every node.
 */
export type FindAgent = (name: string, access: Access) => Agent | undefined | PromiseLike<Agent | undefined>;

/** The parts that a preset gives a runtime, for example `sqliteBackend("chats.db")`. */
export interface Backend {
  readonly store: SessionStore;
  readonly channel?: EventChannel;
  readonly queue?: RunQueue;
  /** Closes all parts. */
  close(): Promise<void>;
}

/**
 * Options of one session of a runtime. With `drives: false` a worker runs the session, and the queue gets a hint.
 */
export interface RuntimeSessionOptions<Output = unknown> extends SessionBeginning {
  /** An agent of the runtime, by value or by name. Only a value gives `result.output` its type. */
  readonly agent: Agent<Output> | string;
}

/** Options of one question: those of its session and those of its input. */
export type AskOptions = Omit<RuntimeSessionOptions, "agent"> & Omit<ExecuteOptions, "parent">;

/** What all sessions of a process share. Made by `createRuntime` of `@loopwright/host`. */
export interface Runtime {
  /** The agents that were given as a list, checked; the first is the default. Empty if a function finds them. */
  readonly agents: readonly Agent[];
  readonly store: SessionStore;
  readonly channel: EventChannel;
  /** True if no channel was given: the runtime has made its own, which no other process has. */
  readonly hasOwnChannel: boolean;
  readonly queue: RunQueue | undefined;
  readonly observers: readonly Observer[];
  readonly ledger: UsageLedger | undefined;
  readonly tokenCounter: TokenCounter | undefined;
  readonly scheduleRules: ScheduleRules | undefined;
  readonly resolveModel: ResolveModel | undefined;
  readonly callGuard: CallGuard | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly leaseMs: number | undefined;
  /** The agent of this name, checked. `access` is as for `FindAgent`. */
  findAgent(name: string, access: Access): Promise<Agent | undefined>;
  /** Returns at once a handle on a new or restored session; nothing is read before its first use. @throws AgentError AGENT_NOT_FOUND, CONFIG_INVALID */
  session<Output = unknown>(options: RuntimeSessionOptions<Output>): AgentSession<Output>;
  /**
   * Loads a session of the store, with the agent, the client tools and the prompt that its log names.
   * @throws AgentError SESSION_NOT_FOUND, AGENT_NOT_FOUND, SESSION_CORRUPT, STORE_*
   */
  open(id: string, access?: Access): Promise<AgentSession>;
  /** Asks one question: starts the first run of a new session in the store. @throws AgentError AGENT_NOT_FOUND, CONFIG_INVALID, INPUT_INVALID */
  ask<Output = unknown>(agent: Agent<Output> | string, input: ExecuteInput, options?: AskOptions): ExecuteStream<Output>;
  /** Closes the backend, if it was given with a `close`. Close servers and workers first. Idempotent. */
  close(): Promise<void>;
}
