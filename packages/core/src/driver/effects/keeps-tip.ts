import { at } from "../../loop/append-list.ts";
import type { State } from "../../loop/state.ts";

/**
 * False if the last message of the run has another id than it had in `asked`. Ids are numbers of facts, and a batch that the log refuses gets others when it is decided again.
 */
export function keepsTip({ run, history }: Pick<State, "run" | "history">, now: Pick<State, "history">): boolean {
  return !run || at(history, run.tip)?.id === at(now.history, run.tip)?.id;
}
