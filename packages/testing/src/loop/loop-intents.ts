import type { FactBody } from "@loopwright/core";
import type { Effect } from "@loopwright/core/internals";
import type { LoopScenario } from "./loop-scenario.ts";

/** What is recorded before an effect begins; a look-up has no intent. */
export function intentOf(effect: Effect, scenario: LoopScenario, now: number): FactBody | undefined {
  const { tools, limits } = scenario;
  const gatesClient = scenario.gatesClient ? { gatesClient: true as const } : {};
  switch (effect.type) {
    case "open-run":
      return {
        type: "run.started",
        runId: effect.input.runId,
        agent: "a",
        agentDigest: "",
        provider: "p",
        model: "m",
        tools,
        limits,
        ...gatesClient,
      };
    case "schedule-retry": {
      const { runId, turn, attempt, failure } = effect;
      return { type: "wait.scheduled", runId, turn, attempt, until: now + 5, reason: failure.code };
    }
    case "call-model": {
      const { runId, turn, attempt, notices } = effect;
      const shown = scenario.shownAt(`${runId}.${turn}#${attempt}`);
      return {
        type: "model.started",
        runId,
        turn,
        attempt,
        provider: "p",
        model: "m",
        requestDigest: "",
        ...(shown ? { tools: shown } : {}),
        ...(notices.length > 0 ? { notices } : {}),
      };
    }
    case "run-tool": {
      const { callKey, name } = effect.call.part;
      const replay = tools[name]?.replay ?? "once";
      return {
        type: "tool.started",
        runId: effect.runId,
        callKey,
        attempt: effect.attempt,
        argsDigest: "",
        replay,
        idempotencyKey: callKey,
      };
    }
    case "gate-calls":
    case "stop-child":
    case "start-child":
    case "lookup-tool":
      return undefined;
    default:
      return effect satisfies never;
  }
}
