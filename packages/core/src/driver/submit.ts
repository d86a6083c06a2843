import { at, findLastIndex } from "../loop/append-list.ts";
import type { FactBody } from "../loop/fact.ts";
import type { State } from "../loop/state.ts";
import type { ToolResultMessage } from "../message/message.ts";
import type { AcceptedSubmission, ExecuteInput, SubmitOptions } from "../protocol/execute.ts";
import { type AcceptedInput, acceptInput, newInput } from "./accept-input.ts";
import { acceptResults } from "./accept-results.ts";
import type { Deps } from "./deps.ts";
import type { SessionDriver } from "./session-driver.ts";

export interface SubmitScene {
  readonly deps: Deps;
  readonly driver: SessionDriver;
  /** First fact of a new log. */
  readonly opening: FactBody;
}

/** Records an input and has it answered here, whether or not anybody watches. Resolves when the log has it. */
export async function submitInput(scene: SubmitScene, input: ExecuteInput, options: SubmitOptions): Promise<AcceptedSubmission> {
  const { driver, opening } = scene;
  const deps: Deps = options.access ? { ...scene.deps, access: options.access } : scene.deps;
  if (isResults(input)) {
    const accepted = await offer(driver, (state) => acceptResults(state, input, deps));
    return { runId: accepted.runId, seq: seqOfResults(driver.state, input), replayed: accepted.bodies.length === 0 };
  }
  const fresh = newInput(input, options, deps);
  const accepted = await offer(driver, (state) => acceptInput(state, fresh, { deps, opening, isRecovering: driver.isRecovering }));
  const { known } = driver.state;
  const place = findLastIndex(known, (one) => (accepted.bodies.length > 0 ? one.inputId === fresh.inputId : one.runId === accepted.runId));
  const { inputId, seq } = at(known, place) ?? { inputId: fresh.inputId, seq: driver.state.seq };
  return { runId: accepted.runId, inputId, seq, replayed: accepted.bodies.length === 0 };
}

const isResults = (input: ExecuteInput): input is readonly ToolResultMessage[] => Array.isArray(input);

async function offer(driver: SessionDriver, begin: (state: State) => AcceptedInput): Promise<AcceptedInput> {
  let accepted: AcceptedInput = { bodies: [], runId: "" };
  const bodies = (state: State): AcceptedInput["bodies"] => {
    accepted = begin(state);
    return accepted.bodies;
  };
  await driver.offer({ bodies, needsOwner: true });
  return accepted;
}

/** The first fact that holds one of the results: events of the run from there on answer them. */
function seqOfResults(state: State, results: readonly ToolResultMessage[]): number {
  const isOurs = (result: ToolResultMessage): boolean =>
    results.some(({ callKey, toolCallId }) =>
      callKey === undefined ? toolCallId === result.toolCallId || toolCallId === result.callKey : callKey === result.callKey,
    );
  let first = state.seq;
  let open = results.length;
  for (let place = state.history.length - 1; place >= 0 && open > 0; place--) {
    const entry = at(state.history, place);
    if (entry?.message.role !== "tool_result" || !isOurs(entry.message)) continue;
    first = Number.parseInt(entry.id, 10);
    open -= 1;
  }
  return first;
}
