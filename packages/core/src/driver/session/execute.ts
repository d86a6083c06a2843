import { type Agent, isAgent } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";
import type { State } from "../../loop/state.ts";
import { type CheckedInput, checkInput } from "../../protocol/checked-input.ts";
import type { AgentSession, ExecuteOptions, ExecuteStream } from "../../protocol/execute.ts";
import type { ExecuteInput } from "../../protocol/execute-input.ts";
import type { AcceptedInput } from "./commands/accept-input.ts";
import { contextOf } from "./commands/command-context-of-session.ts";
import { beginOf } from "./commands/submit-input.ts";
import { createSession } from "./create-session.ts";
import { watchRun } from "./run-stream.ts";

/**
 * Begins a run with a user's message, or continues one with the results of its client calls. The run starts at once, even if the stream is never
 * read. An agent in place of a session gets a private session in memory, which ends with the stream: for one question.
 * @throws AgentError INPUT_INVALID when the session, the input or the options are invalid in themselves. A refusal that depends on the session or
 * its store rejects `result()` and ends the stream.
 */
export function execute<Output>(
  target: AgentSession<Output> | Agent<Output>,
  input: ExecuteInput | CheckedInput,
  options: ExecuteOptions = {},
): ExecuteStream<Output> {
  const session = isAgent(target) ? createSession<Output>({ agent: target }) : target;
  const handle = contextOf(session);
  const checked = checkInput(input);
  if (typeof options !== "object" || options === null)
    throw new AgentError("INPUT_INVALID", { message: "The options are no object.", fix: "Leave them out, or pass an object." });
  return watchRun(handle, beginOf(handle, checked, options), options);
}

/** Continues an open run that a crash interrupted, or follows one that runs on another node. Without an open run the stream ends at once. */
export function resume<Output>(session: AgentSession<Output>, options: { readonly signal?: AbortSignal } = {}): ExecuteStream<Output> {
  const begin = (state: State): AcceptedInput => ({
    bodies: [],
    runId: state.run?.runId ?? state.inputs[0]?.runId ?? state.lastRun?.runId ?? "",
  });
  return watchRun(contextOf(session), begin, options);
}
