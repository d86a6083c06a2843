import type { AgentError } from "../errors.ts";
import type { RunBudget } from "../loop/fact.ts";
import type { ReachedLimit } from "../loop/state.ts";
import type { UserMessage } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** An agent as `createAgent` gives it. */
export interface ChildAgent<Output = unknown> {
  readonly name: string;
  readonly output?: { readonly check?: StandardSchema<Output> };
}

interface ChildEnd {
  /** Id of the child's session, in the store of its parent. */
  readonly session: string;
  /** The text of its last answer: where it has started children in the background, the one that has read their reports. */
  readonly text: string;
  /** What it spent, with all that it has started, also in the background. The run that started it counts it too. */
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Its tool calls that count, also those of its own children. The run that started it counts them too. */
  readonly toolCallCount: number;
  /** Set when a limit ended it or took its tools away. */
  readonly limit?: ReachedLimit;
}

/** How a child ended. Narrow it by `status`. */
export type ChildResult<Output = unknown> =
  | (ChildEnd & {
      readonly status: "completed";
      /** The answer as the `output` schema of the child's agent gives it; `undefined` for an agent without one. */
      readonly output: Output;
      readonly error?: never;
    })
  | (ChildEnd & { readonly status: "failed" | "aborted"; readonly error: AgentError; readonly output?: never });

/** What a child may be given beside its input. */
export interface ChildOptions {
  /** What it may spend at most, also by its own children. Default, and never more: what the run that starts it has left of its limits. */
  readonly budget?: Pick<RunBudget, "tokensMax" | "costUsdMax">;
  /**
   * While everything in the child waits for people or clients, the call is left, and no process is needed. After an answer the tool runs again from its
   * beginning and finds the child, so what it does before must bear that. Default false: the tool waits in its process, within its `timeoutMs`.
   */
  readonly suspends?: boolean;
}

/** A child that runs in the background. */
export interface SpawnedChild {
  /** Id of its session, in the store of its parent. */
  readonly session: string;
}

/** See `ToolContext.spawn`. */
export type SpawnChild = (
  key: string,
  agent: ChildAgent<unknown>,
  input: string | UserMessage,
  options?: Pick<ChildOptions, "budget">,
) => Promise<SpawnedChild>;

/** See `ToolContext.child`. */
export type StartChild = <Output = undefined>(
  key: string,
  agent: ChildAgent<Output>,
  input: string | UserMessage,
  options?: ChildOptions,
) => Promise<ChildResult<Output>>;
