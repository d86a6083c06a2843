import { isAgent } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";
import type { FactBody } from "../../loop/fact.ts";
import type { State } from "../../loop/state.ts";
import type { AgentSession, ExecuteInput, ExecuteOptions, ExecuteStream } from "../../protocol/execute.ts";
import { checkContext, checkExecuteInput } from "../../protocol/input-guards.ts";
import { checkPayload } from "../log/payload.ts";
import type { SessionOptions } from "../setup/session-options.ts";
import { type AcceptedInput, acceptInput, newInput } from "./commands/accept-input.ts";
import { acceptResults } from "./commands/accept-results.ts";
import type { SubmitScene } from "./commands/submit.ts";
import { depsOf } from "./deps-of.ts";
import { Execution } from "./execution.ts";
import { createKeeper } from "./keeper.ts";
import { SessionDriver } from "./session-driver.ts";
import { SessionHandle } from "./session-handle.ts";

/** What a session is beneath its door. */
type Handle = SubmitScene;

const handles = new WeakMap<AgentSession, Handle>();

/**
 * A handle on a session, new or restored. Nothing is read or written before its first use.
 * @throws AgentError CONFIG_INVALID when an option is wrong.
 */
export function createSession(options: SessionOptions): AgentSession {
  if (!isAgent(options?.agent))
    throw new AgentError("CONFIG_INVALID", { message: "`agent` is no agent.", fix: "Pass what `createAgent` gave." });
  const { agent, context, title, metadata } = options;
  const deps = depsOf(options);
  if (context !== undefined) checkContext(context);
  if (metadata) checkPayload(metadata, "The metadata");
  const opening: FactBody = {
    type: "session.opened",
    agent: agent.name,
    participants: [deps.access.user, agent.name],
    ...(title === undefined ? {} : { title }),
    ...(context && context.length > 0 ? { context } : {}),
    ...deps.bound.given,
    ...(metadata ? { metadata } : {}),
  };
  const driver = new SessionDriver(deps);
  const handle: Handle = { deps, driver, keeper: createKeeper(driver), opening };
  const session = new SessionHandle(handle);
  handles.set(session, handle);
  return session;
}

/**
 * Begins a run with a user's words, or goes on with one by the results of its client calls. Starts at once, whether or not anybody reads.
 * @throws AgentError INPUT_INVALID when the session, the input or the options are not usable whatever the session holds. What the session or its store
 * refuses rejects `result()` and ends the stream.
 */
export function execute(session: AgentSession, input: ExecuteInput, options: ExecuteOptions = {}): ExecuteStream {
  const handle = handleOf(session);
  const { deps, driver, opening } = handle;
  checkExecuteInput(input);
  if (typeof options !== "object" || options === null)
    throw new AgentError("INPUT_INVALID", { message: "The options are no object.", fix: "Leave them out, or pass an object." });
  if (Array.isArray(input))
    return watchRun(handle, (state) => acceptResults(state, input, { deps, idempotencyKey: options.idempotencyKey }), options);
  const accepted = newInput(input as Exclude<ExecuteInput, readonly unknown[]>, options, deps);
  const begin = (state: State): AcceptedInput => acceptInput(state, accepted, { deps, opening, isOwner: driver.isOwner });
  return watchRun(handle, begin, options);
}

/** Goes on with an open run that a crash cut off, or follows one that runs elsewhere. Where none is open the stream ends at once. */
export function resume(session: AgentSession, options: { readonly signal?: AbortSignal } = {}): ExecuteStream {
  const begin = (state: State): AcceptedInput => ({
    bodies: [],
    runId: state.run?.runId ?? state.inputs[0]?.runId ?? state.lastRun?.runId ?? "",
  });
  return watchRun(handleOf(session), begin, options);
}

function watchRun({ deps, driver }: Handle, begin: (state: State) => AcceptedInput, { signal, mode }: ExecuteOptions): ExecuteStream {
  const mayStop = mode === "interrupt" || signal !== undefined;
  return new Execution({ driver, sessionId: deps.sessionId, user: deps.access.user, begin, signal, mayStop });
}

function handleOf(session: AgentSession): Handle {
  const handle = handles.get(session);
  if (handle) return handle;
  throw new AgentError("INPUT_INVALID", {
    message: "This is no session of this copy of Loopwright.",
    fix: "Pass what `createSession` gave.",
  });
}
