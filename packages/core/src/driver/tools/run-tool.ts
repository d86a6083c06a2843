/*
 * Owns: the effect `run-tool`: its intent, and its way from the launch to its closing fact. Does not own: whether it may run (prepare-tool), its
 * run (tool-call).
 */
import type { AgentError, Failure } from "../../errors.ts";
import { closeCall, notRun } from "../../loop/closing-results.ts";
import type { Effect } from "../../loop/effect.ts";
import type { BodyOf, CallResult, Fact, FactBody } from "../../loop/fact.ts";
import { policyOfShown } from "../../loop/policy.ts";
import type { Run } from "../../loop/state.ts";
import { toolFailure } from "../../tools/tool-failure.ts";
import { contextOf, type EffectsOptions, type LaunchState, type Prepared, type Scene } from "../effects/effect-scene.ts";
import { follow, type Maybe } from "../effects/maybe.ts";
import { createPatience } from "../effects/patience.ts";
import { shownTools } from "../effects/shown-tools.ts";
import { userFilterOf } from "../effects/user-filter.ts";
import { driverLimits } from "../setup/session-options.ts";
import { internalError } from "../setup/user-code.ts";
import { type PreparedTool, prepareTool } from "./prepare-tool.ts";
import { reviewResult } from "./review-result.ts";
import { startToolCall } from "./tool-call.ts";

/** The intent of a tool that is owed, or what is recorded in its place. */
export function prepareRun(options: EffectsOptions, effect: Extract<Effect, { type: "run-tool" }>, scene: Scene): Maybe<Prepared> {
  const { deps } = options;
  const { agent } = deps.bound;
  const run = scene.state.run as Run;
  const context = contextOf(deps, { run, turn: effect.turn }, scene.patience);
  const { callKey, name } = effect.call.part;
  const giveUp = (error: AgentError): PreparedTool => ({
    instead: { type: "tool.finished", runId: run.runId, callKey, ...toolFailure(error, { name }) },
  });
  const asked = follow(shownTools(options, scene.state, scene.patience), (registry) =>
    prepareTool(effect, { agent, reports: deps, registry, run, context, clock: deps.clock }),
  );
  const prepared = scene.patience.waitFor(
    asked instanceof Promise ? asked.catch((error) => giveUp(internalError(deps, "A tool call could not be prepared", error))) : asked,
    giveUp,
  );
  return follow(
    prepared,
    (tool): Prepared =>
      tool.instead
        ? { bodies: [tool.instead] }
        : {
            bodies: [tool.intent],
            launch: (fact, now) => launchTool(options, { effect, prepared: tool, run, fact, isStopped: now.isStopped, track: scene.track }),
          },
  );
}

interface ToolLaunch extends Pick<Scene, "track">, Pick<LaunchState, "isStopped"> {
  readonly effect: Extract<Effect, { type: "run-tool" }>;
  readonly prepared: Extract<PreparedTool, { readonly instead?: never }>;
  readonly run: Run;
  readonly fact: Fact | undefined;
}

function launchTool(options: EffectsOptions, { effect, prepared, run, fact, isStopped, track }: ToolLaunch): void {
  const { deps, hub, builder, current, close } = options;
  const { agent } = deps.bound;
  if (!fact) return;
  if (isStopped) return void close(notRun(run.runId, effect.call));
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
  const patience = createPatience(deps.clock);
  const context = contextOf(deps, { run, turn: effect.turn }, patience);
  const call = startToolCall({
    tool,
    part,
    args,
    attempt: effect.attempt,
    timeoutMs: policyOfShown(run, tool.name)?.timeoutMs ?? 0,
    clock: deps.clock,
    logger: deps.logger,
    access: run.access ?? deps.access,
    session: { id: deps.sessionId, messages: () => [...builder.follow(current()).messages] },
    files: agent.files,
    resources: agent.resources,
    filter: userFilterOf(agent, context, deps),
    lane: () => lane,
  });
  let isHandedOver = false;
  const closing = call.end.then(async ({ result, progress, usage, durationMs }): Promise<BodyOf<"tool.finished"> | undefined> => {
    // Signalled, it may have broken off anywhere: nobody knows what it did, and the next owner treats it so.
    if (isHandedOver && result.outcome !== "ok") return undefined;
    const review = reviewResult(result, { agent, deps, context: { ...context, call: part, tool } });
    const reviewed = await patience.waitFor<CallResult | undefined>(review, (error) =>
      isHandedOver ? undefined : toolFailure(error, tool),
    );
    if (!reviewed) return undefined;
    const more = { ...(progress.length > 0 ? { progress } : {}), ...(usage ? { usage } : {}), durationMs };
    return { type: "tool.finished", runId: run.runId, callKey: part.callKey, ...reviewed, ...more };
  });
  const broken = ({ code, message }: Failure): FactBody => closeCall(run.runId, effect.call, { outcome: "error", code, text: message });
  const abort = (graceMs: number): void => {
    call.abort(graceMs);
    patience.abort(graceMs);
  };
  const handOver = (): void => {
    isHandedOver = current().run?.abort === undefined;
    abort(driverLimits.handOverMs);
  };
  track(effect, { abort, handOver, closing, broken, lane });
}
