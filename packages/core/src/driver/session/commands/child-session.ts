import { endOf } from "../../../loop/state.ts";
import type { ExecuteResult } from "../../../protocol/execute.ts";
import type { ChildResult } from "../../../tools/child.ts";
import type { ChildInput, ChildSession } from "../../setup/deps.ts";
import { abortRun } from "./session-commands.ts";
import { type CommandContext, submitInput } from "./submit.ts";

/** The session of a child, for the process that runs its parent. `resultOf`: the result of a run that has ended. */
export function childSession(context: CommandContext, resultOf: ResultOf): ChildSession {
  return new OwnChild(context, resultOf);
}

type ResultOf = (runId: string) => Promise<ExecuteResult>;

class OwnChild implements ChildSession {
  readonly #context: CommandContext;
  readonly #resultOf: ResultOf;
  #runId: string | undefined;
  #isStopped = false;

  constructor(context: CommandContext, resultOf: ResultOf) {
    this.#context = context;
    this.#resultOf = resultOf;
  }

  async run(...[input, options]: ChildInput): Promise<ChildResult> {
    const { runId } = await submitInput(this.#context, input, options);
    this.#runId = runId;
    if (this.#isStopped) this.abort();
    await this.#ended(runId);
    const { status, text, usage, cost, limit, output, error } = await this.#resultOf(runId);
    const { toolCallCount = 0 } = endOf(this.#context.driver.state, runId) ?? {};
    const more = { ...(usage ? { usage } : {}), ...(cost ? { cost } : {}), ...(limit ? { limit } : {}) };
    const base = { session: this.#context.deps.sessionId, text, toolCallCount, ...more };
    if (!error) return { ...base, status: "completed", output };
    return { ...base, status: status === "aborted" ? "aborted" : "failed", error };
  }

  abort(): void {
    this.#isStopped = true;
    if (this.#runId === undefined) return;
    const { deps } = this.#context;
    abortRun(this.#context, "parent", { runId: this.#runId }).catch((error: unknown) =>
      deps.logger.log("warn", "A child could not be stopped.", { session: deps.sessionId, error: String(error) }),
    );
  }

  dispose(): Promise<void> {
    return this.#context.driver.dispose();
  }

  /** Waits for the end also while the run waits for a person or a client, which answer at the child's own session. */
  #ended(runId: string): Promise<void> {
    const { driver } = this.#context;
    return new Promise((resolve, reject) => {
      const leave = driver.watch({
        settled(state) {
          if (!endOf(state, runId)) return;
          leave();
          resolve();
        },
        lost(error) {
          if (error.retryable) return;
          leave();
          reject(error);
        },
      });
      driver.wake();
    });
  }
}
