/*
 * Owns: the tools that belong to the names in the last model call. Does not own: the names (a fact), which tool runs (prepare-tool-call).
 */
import type { Run, State } from "../../loop/state.ts";
import type { Message } from "../../message/message.ts";
import type { ToolRegistry } from "../../tools/tool-registry.ts";
import { askingOf, contextOf, type EffectDeps, type ShownTools } from "./effect-deps.ts";
import { askShownTools } from "./prepare-hook.ts";
import type { SyncOrAsync } from "./sync-or-async.ts";
import type { UserCodeTimeout } from "./user-code-timeout.ts";

/**
 * The tools that a call of the open turn may use. If another process prepared the model call with other tools than those of the run, this process does
 * not have their code: it calls the `prepare` hooks again to get it. Rejects with the error of a hook.
 */
export function shownTools(options: EffectDeps, state: State, timeout: UserCodeTimeout): SyncOrAsync<ToolRegistry> {
  const { deps, builder, shown } = options;
  const { agent, registry } = deps.bound;
  const run = state.run as Run;
  if (shown.registry && shown.call === nameOf(run)) return shown.registry;
  if (!run.shown || !agent.hooks.some(({ prepare }) => prepare)) return registry;
  const context = contextOf(deps, { run, turn: run.turn }, timeout);
  const messages = (): readonly Message[] => {
    const all = builder.follow(state).messages;
    const answerAt = all.findLastIndex(({ role }) => role === "assistant");
    return Object.freeze(all.slice(0, answerAt));
  };
  // The hooks get the state that they had before that model call, without what they have kept since.
  const asking = askingOf(options, context, { hookState: run.shownState ?? {} });
  const { resolveModel } = deps;
  return askShownTools({ agent, reports: deps, registry, run, context, asking, messages, resolveModel }).then((found) => {
    noteShown(shown, run, found);
    return found;
  });
}

/** Keeps the tools of a model call that is sent. */
export function noteShown(shown: ShownTools, run: CallOfRun, registry: ToolRegistry): void {
  shown.call = nameOf(run);
  shown.registry = registry;
}

type CallOfRun = Pick<Run, "runId" | "turn" | "attempt">;

/** The name includes the attempt: another process may have prepared a later attempt of the same turn with other tools. */
const nameOf = ({ runId, turn, attempt }: CallOfRun): string => `${runId}.${turn}.${attempt}`;
