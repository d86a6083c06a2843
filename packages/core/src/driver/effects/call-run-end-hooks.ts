import { at } from "../../loop/append-list.ts";
import { endOf, type Run, type State } from "../../loop/state.ts";
import type { Message } from "../../message/message.ts";
import { askingOf, contextOf, type EffectDeps } from "./effect-deps.ts";
import { endsRuns, runEndHooks } from "./run-hook.ts";
import { createUserCodeTimeout } from "./user-code-timeout.ts";

/** Knows which run this process drives, and calls the hooks when it has ended. */
export interface RunWatch {
  /** Called when an effect of the run is prepared here. */
  drives(runId: string): void;
  /** Called with each new state of the log. */
  adopted(state: State): void;
  /** Called when another process may drive the run. */
  forget(): void;
}

const noWatch: RunWatch = { drives: () => {}, adopted: () => {}, forget: () => {} };

export function createRunWatch(options: EffectDeps): RunWatch {
  return endsRuns(options.deps.bound.agent) ? watchRuns(options) : noWatch;
}

function watchRuns(options: EffectDeps): RunWatch {
  const { deps } = options;
  let driven: string | undefined;
  /** The run in its last open state. */
  let last: State["run"];
  return {
    drives(runId) {
      driven = runId;
    },
    adopted(state) {
      if (driven === undefined) return;
      if (state.run?.runId === driven) {
        last = state.run;
        return;
      }
      const ended = endOf(state, driven);
      if (!ended) return;
      const run: Pick<Run, "runId" | "access" | "labels" | "hookState"> = last?.runId === driven ? last : { runId: driven };
      driven = undefined;
      const context = contextOf(deps, { run, turn: last?.turn ?? 0 }, createUserCodeTimeout(deps.clock));
      const result = { ...ended, messages: messagesOf(state, ended.runId) };
      void runEndHooks(askingOf(options, context, run), result, deps);
    },
    forget() {
      driven = undefined;
    },
  };
}

function messagesOf({ history }: State, runId: string): readonly Message[] {
  const messages: Message[] = [];
  for (let index = history.length - 1; index >= 0; index--) {
    const entry = at(history, index);
    if (entry?.runId === runId) messages.unshift(entry.message);
    else if (messages.length > 0) break;
  }
  return messages;
}
