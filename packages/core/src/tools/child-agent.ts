import type { AgentError } from "../errors.ts";
import type { RunBudget } from "../loop/fact.ts";
import type { ReachedLimit } from "../loop/state.ts";
import type { UserMessage } from "../message/message.ts";
import type { Cost, Usage } from "../message/usage.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** An agent as `createAgent` returns it. */
export interface ChildAgent<Output = unknown> {
  readonly name: string;
  readonly output?: { readonly check?: StandardSchema<Output> };
}

interface ChildEnd {
  /** Id of the child's session, in the store of its parent. */
  readonly session: string;
  /** The text of the last answer, which follows the reports of children in the background. */
  readonly text: string;
  /** What the child and all sessions below it spent, also in the background. The run that started the child counts it, too. */
  readonly usage?: Usage;
  readonly cost?: Cost;
  /** Counted tool calls of the child and of its own children. The run that started the child counts them, too. */
  readonly toolCallCount: number;
  /** Set when a limit ended the child or took its tools away. */
  readonly limit?: ReachedLimit;
}

/** How a child ended. Narrow it by `status`. */
export type ChildResult<Output = unknown> =
  | (ChildEnd & {
      readonly status: "completed";
      /** The answer as the `output` schema of the child's agent returns it; `undefined` for an agent without one. */
      readonly output: Output;
      readonly error?: never;
    })
  | (ChildEnd & { readonly status: "failed" | "aborted"; readonly error: AgentError; readonly output?: never });

/** What a child may be given beside its input. */
export interface ChildOptions {
  /** The most that the child and its own children may spend. Default and maximum: what the run that starts the child has left of its limits. */
  readonly budget?: Pick<RunBudget, "tokensMax" | "costUsdMax">;
  /**
   * True: while everything in the child waits for people or clients, the tool stops, and no process is needed. After an answer the tool runs again from its
   * beginning and finds the child, so its work before that must be safe to repeat. Default false: the tool waits in its process, within its `timeoutMs`.
   */
  readonly suspends?: boolean;
}

/** A child that runs in the background. */
export interface SpawnedChild {
  /** Id of the child's session, in the store of its parent. */
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
