import { isAgentError } from "../../../errors.ts";
import { at, lastWithKey } from "../../../loop/append-list.ts";
import { hasEnded, runsOfChild } from "../../../loop/children/background-children.ts";
import { endOf, isAtRest, type State } from "../../../loop/state.ts";
import { allSpent } from "../../../message/usage.ts";
import type { ExecuteResult } from "../../../protocol/execute.ts";
import type { ChildResult } from "../../../tools/child-agent.ts";
import { waitsOf } from "../../children/calls-child-waits-for.ts";
import { addedUp } from "../../children/child-spending.ts";
import type { ChildAnswer, ChildInput, ChildListeners, ChildSession, ChildSpending } from "../../setup/session-deps.ts";
import { abortRun } from "./abort-run.ts";
import { decideCall } from "./decide-call.ts";
import { offerChild } from "./offer-child-to-workers.ts";
import { type CommandContext, submitInput } from "./submit-input.ts";

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
  /** The runs whose stop is requested. */
  readonly #stopped = new Set<string>();

  constructor(context: CommandContext, resultOf: ResultOf) {
    this.#context = context;
    this.#resultOf = resultOf;
  }

  async run(input: ChildInput, listeners: ChildListeners): Promise<ChildResult> {
    const { driver } = this.#context;
    const leave = driver.hub.listen((events) => listeners.events(events));
    try {
      const runId = await (listeners.offer ? offerChild(this.#context, input, listeners.offer) : this.#begun(input));
      this.#runId = runId;
      if (this.#isStopped) this.abort();
      await this.#ended(runId, listeners);
      return await this.#result(runId);
    } finally {
      leave();
    }
  }

  async #begun([input, options]: ChildInput): Promise<string> {
    return (await submitInput(this.#context, input, options)).runId;
  }

  async answer(answer: ChildAnswer): Promise<void> {
    const { callKey, by } = answer;
    const { access } = this.#context.deps;
    const given = { access: { ...access, user: by ?? access.user } };
    if (answer.type === "client.answered") {
      const { output: content, outcome, details } = answer;
      const more = { ...(outcome === "ok" ? {} : { isError: true }), ...(details === undefined ? {} : { details }) };
      await submitInput(this.#context, [{ role: "tool_result", toolCallId: callKey, callKey, content, ...more }], given);
      return;
    }
    const { decision, args, note, argsDigest } = answer;
    const details = { ...(note === undefined ? {} : { note }), ...(argsDigest === undefined ? {} : { argsDigest }) };
    try {
      await decideCall(this.#context, callKey, { decision, ...details, ...(args ? { args } : {}), ...given });
    } catch (error) {
      if (!args || !isAgentError(error, "INPUT_INVALID")) throw error;
      await decideCall(this.#context, callKey, { decision: "deny", note: error.message, ...given });
    }
  }

  async begin([input, options]: ChildInput): Promise<void> {
    await submitInput(this.#context, input, options);
  }

  async end(key: string, listeners?: Pick<ChildListeners, "waits">): Promise<ChildResult | undefined> {
    const runId = await this.#runOf(key);
    if (runId === undefined) return undefined;
    await this.#ended(runId, listeners);
    return this.#result(runId);
  }

  async result(key: string): Promise<ChildResult | undefined> {
    const runId = await this.#runOf(key);
    return runId !== undefined && hasEnded(this.#context.driver.state, runId) ? this.#result(runId) : undefined;
  }

  async #runOf(key: string): Promise<string | undefined> {
    const { driver } = this.#context;
    await driver.view.load();
    return lastWithKey(driver.state.known, key, (input) => input.key)?.runId;
  }

  async stop(key: string): Promise<ChildResult | undefined> {
    // From now on nothing is begun, not even by work that the log owes.
    this.#isStopped = true;
    this.#context.driver.stopChildren();
    const runId = await this.#runOf(key);
    if (runId === undefined) return undefined;
    this.#runId = runId;
    this.abort();
    await this.#ended(runId);
    return this.#result(runId);
  }

  /** The last answer of the child, with all that it has spent. */
  async #result(own: string): Promise<ChildResult> {
    const { state } = this.#context.driver;
    const runs = runsOfChild(state, own);
    const last = runs.at(-1);
    const { runId = own } = runs.findLast((run) => run.status === "completed") ?? last ?? {};
    const { status, text, limit = last?.limit, output, error } = await this.#resultOf(runId);
    const { usage, cost } = state;
    const toolCallCount = toolCallsOf(state);
    const more = { ...(usage ? { usage } : {}), ...(cost ? { cost } : {}), ...(limit ? { limit } : {}) };
    const base = { session: this.#context.deps.sessionId, text, toolCallCount, ...more };
    if (!error) return { ...base, status: "completed", output };
    return { ...base, status: status === "aborted" ? "aborted" : "failed", error };
  }

  spent(): ChildSpending {
    const { driver } = this.#context;
    const { usage, cost, run } = driver.state;
    const toolCallCount = toolCallsOf(driver.state) + (run?.toolCallCount ?? 0);
    return addedUp([{ ...allSpent([{ usage, cost }]), toolCallCount }, { ...run?.open?.expected, toolCallCount: 0 }, driver.spentBelow()]);
  }

  abort(): void {
    this.#isStopped = true;
    if (this.#runId !== undefined) this.#stop(this.#runId);
  }

  /** Stops what is left of the child: the run of its input, its children in the background, and all other runs, also those for people. */
  #stop(own: string): void {
    const { driver } = this.#context;
    const { run, inputs } = driver.state;
    const isOver = endOf(driver.state, own) !== undefined;
    const others = [...(run ? [run] : []), ...inputs].filter(({ runId, abort }) => runId !== own && !abort);
    for (const runId of [...(isOver ? [] : [own]), ...others.map((one) => one.runId)]) this.#abort(runId);
    driver.stopChildren();
  }

  #abort(runId: string): void {
    if (this.#stopped.has(runId)) return;
    this.#stopped.add(runId);
    const { deps } = this.#context;
    abortRun(this.#context, "parent", { runId }).catch((error: unknown) => {
      this.#stopped.delete(runId);
      deps.logger.log("warn", "A child could not be stopped.", { session: deps.sessionId, error: String(error) });
    });
  }

  dispose(): Promise<void> {
    return this.#context.driver.dispose();
  }

  /** Waits for the end of the child, also while a run waits for a person or a client, whose answers come from the session above. */
  #ended(runId: string, listeners?: Pick<ChildListeners, "waits">): Promise<void> {
    const { driver, deps } = this.#context;
    return new Promise((resolve, reject) => {
      const leave = driver.watch({
        settled: (state) => {
          if (hasEnded(state, runId)) {
            leave();
            resolve();
            return;
          }
          const isResting = isAtRest(state) && (state.run !== undefined || driver.backgroundRests);
          listeners?.waits(waitsOf(state, { session: deps.sessionId, agent: deps.bound.agent.name }), isResting);
          if (this.#isStopped) this.#stop(runId);
          else if (state.background) driver.attendChildren();
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

function toolCallsOf({ ended }: State): number {
  let sum = 0;
  for (let place = 0; place < ended.length; place++) sum += at(ended, place)?.toolCallCount ?? 0;
  return sum;
}
