/*
 * Owns: the effect `gate-calls`: the gates before the calls of client tools, and the facts that follow from them.
 * Does not own: which calls wait for gates (the loop), the call of one gate (gate-hook).
 */

import { clientRequest } from "../../loop/calls-to-start.ts";
import type { Effect } from "../../loop/effect.ts";
import type { BodyOf, FactBody } from "../../loop/fact.ts";
import { mergedHookState } from "../../loop/facts/hook-verdicts.ts";
import { closeCall } from "../../loop/results-without-run.ts";
import type { Call, Run } from "../../loop/state.ts";
import type { JsonObject } from "../../message/json.ts";
import type { AnyTool } from "../../tools/tool-registry.ts";
import { validateArguments } from "../../tools/validate-arguments.ts";
import { askingOf, contextOf, type EffectDeps, type PreparationDeps, type Prepared } from "../effects/effect-deps.ts";
import { HookRunner, type HookTrace } from "../effects/hook-runner.ts";
import { andThen, type SyncOrAsync } from "../effects/sync-or-async.ts";
import { shownTools } from "../effects/tools-shown-to-model.ts";
import { hookFailed, internalError } from "../setup/user-code-errors.ts";
import { approvalPlace, runGateHooks } from "./gate-hook.ts";
import { approvalOf, argsOf, denied, failedGate } from "./prepare-tool-call.ts";

type GateCalls = Extract<Effect, { readonly type: "gate-calls" }>;

/** The verdict of the gates on one call: the fact in place of the request to its client, or the request. */
type Gated =
  | { readonly instead: FactBody; readonly call?: never }
  | { readonly call: Call; readonly args?: JsonObject; readonly trace: HookTrace; readonly instead?: never };

/** The facts that follow from the gates: requests to clients and to people, and results of calls that are denied. */
export function prepareGates(
  options: EffectDeps,
  effect: GateCalls,
  setup: Pick<PreparationDeps, "state" | "timeout">,
): SyncOrAsync<Prepared> {
  const { deps } = options;
  const run = setup.state.run as Run;
  const giveUp = (error: unknown): Prepared => {
    const failure = internalError(deps, "The gates of client tools could not be asked", error);
    return { bodies: effect.calls.map((call) => failedGate(run.runId, call, { tool: call.part, error: failure })) };
  };
  const asked = Promise.resolve(shownTools(options, setup.state, setup.timeout))
    .then((registry) =>
      Promise.all(effect.calls.map((call) => gateCall(options, { ...setup, run, call, tool: registry.get(call.part.name) }))),
    )
    .then((gated): Prepared => ({ bodies: bodiesOf(run, gated) }), giveUp);
  return andThen(setup.timeout.waitFor(asked, giveUp), (prepared) => prepared);
}

interface CallDeps extends Pick<PreparationDeps, "timeout"> {
  readonly run: Run;
  readonly call: Call;
  readonly tool: AnyTool | undefined;
}

async function gateCall(options: EffectDeps, { run, call, tool, timeout }: CallDeps): Promise<Gated> {
  const { deps } = options;
  if (!tool) {
    const text = `The tool \`${call.part.name}\` is not available here.`;
    return { instead: closeCall(run.runId, call, { outcome: "error", code: "TOOL_UNKNOWN", text }) };
  }
  const asks = new HookRunner(askingOf(options, contextOf(deps, { run, turn: run.turn }, timeout), run), "gate");
  try {
    const { args = call.part.args } = tool.approval === undefined ? {} : await validateArguments(tool, argsOf(call));
    const judged = await runGateHooks(
      deps.bound.agent,
      { call: call.part, calls: run.calls.map(({ part }) => part), tool },
      { asks, args },
    );
    const trace = await asks.trace();
    if (judged.action === "deny") return { instead: { ...denied(run.runId, call, judged.reason), ...trace } };
    const edited = judged.args && (await validateArguments(tool, judged.args));
    if (edited?.problem !== undefined) {
      const text = `A hook edited the arguments. ${edited.problem}`;
      return { instead: closeCall(run.runId, call, { outcome: "error", code: "TOOL_ARGUMENTS", text }) };
    }
    if (judged.action === "ask") return { instead: { ...(await approvalOf(call, judged, { run, clock: deps.clock })), ...trace } };
    return { call, trace, ...(judged.args ? { args: judged.args } : {}) };
  } catch (error) {
    return { instead: failedGate(run.runId, call, { tool, error: hookFailed(deps, asks.place("gate", approvalPlace(tool)), error) }) };
  }
}

function bodiesOf(run: Run, gated: readonly Gated[]): readonly FactBody[] {
  const allowed = gated.flatMap((one) => (one.call ? [one] : []));
  const instead = gated.flatMap((one) => (one.instead ? [one.instead] : []));
  if (allowed.length === 0) return instead;
  const args = Object.fromEntries(allowed.flatMap((one) => (one.args ? [[one.call.part.callKey, one.args] as const] : [])));
  const request: BodyOf<"client.requested"> = {
    ...clientRequest(
      run,
      allowed.map(({ call }) => call),
    ),
    ...(Object.keys(args).length > 0 ? { args } : {}),
    ...joined(allowed.map(({ trace }) => trace)),
  };
  return [...instead, request];
}

/** The additions of the gates of several calls, combined. Each gate got the state before all of them; if two set the same member, the last one counts. */
function joined(traces: readonly HookTrace[]): HookTrace {
  const verdicts = traces.flatMap((trace) => trace.verdicts ?? []);
  const states = traces.flatMap(({ hookState }) => (hookState ? [hookState] : []));
  const expenses = traces.flatMap((trace) => trace.expenses ?? []);
  return {
    ...(verdicts.length > 0 ? { verdicts } : {}),
    ...(states.length > 0 ? { hookState: states.reduce(mergedHookState) } : {}),
    ...(expenses.length > 0 ? { expenses } : {}),
  };
}
