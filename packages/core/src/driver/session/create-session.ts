import { type Agent, isAgent } from "../../agent/agent.ts";
import { AgentError } from "../../errors.ts";
import type { FactBody, ParentLink } from "../../loop/fact.ts";
import type { State } from "../../loop/state.ts";
import { type CheckedInput, checkContext, checkInput } from "../../protocol/checked-input.ts";
import type { AgentSession, ExecuteOptions, ExecuteStream } from "../../protocol/execute.ts";
import type { ExecuteInput } from "../../protocol/execute-input.ts";
import { checkPayload } from "../log/spill-values.ts";
import type { Deps } from "../setup/deps.ts";
import type { SessionOptions } from "../setup/session-options.ts";
import type { AcceptedInput } from "./commands/accept-input.ts";
import { childSession } from "./commands/child-session.ts";
import { beginOf, type CommandContext } from "./commands/submit.ts";
import { depsOf } from "./deps-of.ts";
import { createDriveUntilIdle } from "./drive-until-idle.ts";
import { watchRun } from "./execution.ts";
import { SessionDriver } from "./session-driver.ts";
import { SessionHandle } from "./session-handle.ts";

/** What a session is beneath its door. */
const handles = new WeakMap<AgentSession, CommandContext>();

type Shared = Omit<SessionOptions, "agent" | "id" | "access" | "context" | "tools" | "prompt" | "title" | "metadata" | "drives" | "node">;

/**
 * A handle on a session, new or restored. Nothing is read or written before its first use.
 * @throws AgentError CONFIG_INVALID when an option is wrong.
 */
export function createSession<Output>(options: SessionOptions<Output>): AgentSession<Output> {
  if (!isAgent(options?.agent))
    throw new AgentError("CONFIG_INVALID", { message: "`agent` is no agent.", fix: "Pass what `createAgent` gave." });
  const context = openContext(options);
  const session = new SessionHandle<Output>(context);
  handles.set(session, context);
  return session;
}

/** @throws AgentError CONFIG_INVALID */
function openContext(options: SessionOptions, parent?: ParentLink): CommandContext {
  const { agent, context, title, metadata } = options;
  const own = depsOf(options);
  const deps: Deps = {
    ...own,
    ...(parent ? { parent } : {}),
    openChild({ parent: link, ...child }) {
      const opened = openContext({ ...sharedOf(options), node: `${own.node}.child`, ...child }, link);
      return childSession(opened, (runId) => watchRun(opened, () => ({ bodies: [], runId }), {}).result());
    },
  };
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
    ...(parent ? { parent } : {}),
  };
  const driver = new SessionDriver(deps);
  return { deps, driver, driveUntilIdle: createDriveUntilIdle(driver), opening };
}

/** What a child has in common with its parent. */
function sharedOf({ agent, id, access, context, tools, prompt, title, metadata, drives, node, ...shared }: SessionOptions): Shared {
  return shared;
}

/**
 * Begins a run with a user's message, or continues one with the results of its client calls. Starts at once, whether or not anybody reads. An agent
 * in place of a session gets a private session in memory, which ends with the stream: for one question.
 * @throws AgentError INPUT_INVALID when the session, the input or the options are not usable whatever the session holds. What the session or its store
 * refuses rejects `result()` and ends the stream.
 */
export function execute<Output>(
  target: AgentSession<Output> | Agent<Output>,
  input: ExecuteInput | CheckedInput,
  options: ExecuteOptions = {},
): ExecuteStream<Output> {
  const session = isAgent(target) ? createSession<Output>({ agent: target }) : target;
  const handle = handleOf(session);
  const checked = checkInput(input);
  if (typeof options !== "object" || options === null)
    throw new AgentError("INPUT_INVALID", { message: "The options are no object.", fix: "Leave them out, or pass an object." });
  return watchRun(handle, beginOf(handle, checked, options), options);
}

/** Continues an open run that a crash interrupted, or follows one that runs elsewhere. Where none is open the stream ends at once. */
export function resume<Output>(session: AgentSession<Output>, options: { readonly signal?: AbortSignal } = {}): ExecuteStream<Output> {
  const begin = (state: State): AcceptedInput => ({
    bodies: [],
    runId: state.run?.runId ?? state.inputs[0]?.runId ?? state.lastRun?.runId ?? "",
  });
  return watchRun(handleOf(session), begin, options);
}

function handleOf(session: AgentSession): CommandContext {
  const handle = handles.get(session);
  if (handle) return handle;
  throw new AgentError("INPUT_INVALID", {
    message: "This is no session of this copy of Loopwright.",
    fix: "Pass what `createSession` gave.",
  });
}
