/*
 * Owns: the effect `run-tool`: its intent, and the steps from its launch to its closing fact.
 * Does not own: whether the tool may run (prepare-tool-call), its attempt (tool-attempt).
 */
import type { AgentError, Failure } from "../../errors.ts";
import type { Effect } from "../../loop/effect.ts";
import type { BodyOf, Fact, FactBody } from "../../loop/fact.ts";
import { policyOfShown } from "../../loop/facts/tool-policy.ts";
import { timeLeft } from "../../loop/reached-limit.ts";
import { closeCall, notRun } from "../../loop/results-without-run.ts";
import type { Run, State } from "../../loop/state.ts";
import { toolFailure } from "../../tools/tool-failure.ts";
import { childrenIn } from "../effects/child-functions-for-user-code.ts";
import { askingOf, contextOf, type EffectDeps, type LaunchState, type PreparationDeps, type Prepared } from "../effects/effect-deps.ts";
import { userFilterOf } from "../effects/filter-hook.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import { shownTools } from "../effects/tools-shown-to-model.ts";
import { createUserCodeTimeout } from "../effects/user-code-timeout.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import { internalError } from "../setup/user-code-errors.ts";
import type { GatedCall } from "./gate-hook.ts";
import { type PreparedTool, prepareTool } from "./prepare-tool-call.ts";
import { type Reviewed, runReviewHooks } from "./review-hook.ts";
import { startToolCall, type ToolCallOptions } from "./tool-attempt.ts";

/** The intent of a planned tool call, or the fact that is recorded instead of it. */
export function prepareRun(
  options: EffectDeps,
  effect: Extract<Effect, { type: "run-tool" }>,
  setup: PreparationDeps,
): SyncOrAsync<Prepared> {
  const { deps } = options;
  const { agent } = deps.bound;
  const run = setup.state.run as Run;
  const context = contextOf(deps, { run, turn: effect.turn }, setup.timeout);
  const asking = askingOf(options, context, run);
  const { callKey, name } = effect.call.part;
  const giveUp = (error: AgentError): PreparedTool => ({
    instead: { type: "tool.finished", runId: run.runId, callKey, ...toolFailure(error, { name }) },
  });
  const asked = andThen(shownTools(options, setup.state, setup.timeout), (registry) =>
    prepareTool(effect, { agent, reports: deps, registry, run, asking, clock: deps.clock }),
  );
  const prepared = setup.timeout.waitFor(
    asked instanceof Promise ? asked.catch((error) => giveUp(internalError(deps, "A tool call could not be prepared", error))) : asked,
    giveUp,
  );
  return andThen(
    prepared,
    (tool): Prepared =>
      tool.instead
        ? { bodies: [tool.instead] }
        : {
            bodies: [tool.intent],
            launch: (fact, now) => launchTool(options, { effect, prepared: tool, run, fact, isStopped: now.isStopped, track: setup.track }),
          },
  );
}

interface ToolLaunch extends Pick<PreparationDeps, "track">, Pick<LaunchState, "isStopped"> {
  readonly effect: Extract<Effect, { type: "run-tool" }>;
  readonly prepared: Extract<PreparedTool, { readonly instead?: never }>;
  readonly run: Run;
  readonly fact: Fact | undefined;
}

function launchTool(options: EffectDeps, { effect, prepared, run, fact, isStopped, track }: ToolLaunch): void {
  const { deps, hub, builder, session } = options;
  const { agent } = deps.bound;
  if (!fact) return;
  if (isStopped) return void session.close(notRun(run.runId, effect.call));
  const { tool, args } = prepared;
  const { part } = effect.call;
  const lane = hub.openLane({
    id: fact.seq,
    runId: run.runId,
    isAnswer: false,
    snapshot() {
      const progress = call.steps();
      const base = { type: "tool_execution_snapshot", toolCallId: part.id, callKey: part.callKey, output: call.partial() } as const;
      return progress.length === 0 ? base : { ...base, progress };
    },
  });
  const timeout = createUserCodeTimeout(deps.clock);
  const context = contextOf(deps, { run, turn: effect.turn }, timeout);
  const place = { runId: run.runId, callKey: part.callKey };
  const call = startToolCall({
    tool,
    part,
    args,
    attempt: effect.attempt,
    timeoutMs: policyOfShown(run, tool.name)?.timeoutMs ?? 0,
    runTime: runTimeOf(session.state.run ?? run, deps.clock.now()),
    clock: deps.clock,
    logger: deps.logger,
    observation: deps.observation,
    access: run.access ?? deps.access,
    labels: run.labels ?? {},
    session: { id: deps.sessionId, messages: () => [...builder.follow(session.state).messages] },
    files: agent.files,
    resources: agent.resources,
    prices: agent.prices,
    acts: {
      record: (kind, data) => session.record({ kind, data, ...place }),
      ...childrenIn(session, { ...place, publish: (body) => lane.emit([body]) }),
    },
    filter: userFilterOf(agent, { ...context, tool: part.name, callKey: part.callKey }, deps),
    lane: () => lane,
  });
  let isHandedOver = false;
  const closing = call.end.then(
    async ({ result, progress, usage, cost, expenses, durationMs }): Promise<BodyOf<"tool.finished"> | undefined> => {
      // After the signal the tool may have stopped at any point, so its outcome is unknown, also to the next owner.
      if (isHandedOver && result.outcome !== "ok") return undefined;
      const asking = askingOf(options, context, session.state.run ?? run);
      const gated: GatedCall = { call: part, calls: run.calls.map((one) => one.part), tool };
      const spent = { ...(usage ? { usage } : {}), ...(cost ? { cost } : {}), ...(expenses ? { expenses } : {}) };
      const review = runReviewHooks({ ...result, ...spent }, { agent, reports: deps, asking, gated });
      const reviewed = await timeout.waitFor<Reviewed | undefined>(review, (error) =>
        isHandedOver ? undefined : { ...toolFailure(error, tool), ...spent },
      );
      if (!reviewed) return undefined;
      const more = { ...(progress.length > 0 ? { progress } : {}), durationMs };
      return { type: "tool.finished", runId: run.runId, callKey: part.callKey, ...reviewed, ...more };
    },
  );
  const broken = ({ code, message }: Failure): FactBody => closeCall(run.runId, effect.call, { outcome: "error", code, text: message });
  const abort = (graceMs: number): void => {
    call.abort(graceMs);
    timeout.abort(graceMs);
  };
  const handOver = (): void => {
    isHandedOver = session.state.run?.abort === undefined;
    abort(driverLimits.handOverMs);
  };
  track(effect, { abort, handOver, closing, broken, lane, isLeft: (state) => awaitsChild(state, part.callKey) });
}

function runTimeOf(run: Run, now: number): ToolCallOptions["runTime"] {
  const left = timeLeft(run, now);
  return left === undefined ? undefined : { leftMs: Math.max(0, left), limitMs: run.limits.durationMs };
}

const awaitsChild = ({ run }: State, callKey: string): boolean =>
  run?.calls.some(({ part, state }) => part.callKey === callKey && state === "awaiting_child") ?? false;
