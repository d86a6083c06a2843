import { isAgent } from "../agent/agent.ts";
import { AgentError } from "../errors.ts";
import type { SessionEvent } from "../loop/event.ts";
import type { FactBody } from "../loop/fact.ts";
import { isAtRest, type State } from "../loop/state.ts";
import type { Message, MessageId } from "../message/message.ts";
import type { AgentSession, ExecuteInput, ExecuteOptions, ExecuteStream, SessionStatus } from "../protocol/execute.ts";
import { checkContext, checkExecuteInput } from "../protocol/input-guards.ts";
import { type AcceptedInput, acceptInput, newInput } from "./accept-input.ts";
import { acceptResults } from "./accept-results.ts";
import { dueOf } from "./dates.ts";
import { depsOf } from "./deps.ts";
import { Execution, pendingApprovals, pendingToolCalls } from "./execution.ts";
import { followSession } from "./follow-session.ts";
import { guardListener } from "./guard-listener.ts";
import { createKeeper } from "./keeper.ts";
import { openLanes } from "./open-lanes.ts";
import { checkPayload } from "./payload.ts";
import { commandsOf } from "./session-commands.ts";
import { SessionDriver } from "./session-driver.ts";
import type { SessionOptions } from "./session-options.ts";
import { SharedSnapshot } from "./shared-snapshot.ts";
import { snapshotOf } from "./snapshot.ts";
import { type SubmitScene, submitInput } from "./submit.ts";

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
  const session = sessionOver(handle);
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

function sessionOver(handle: Handle): AgentSession {
  const { deps, driver } = handle;
  const isReadOnly = (): boolean => driver.view.tooNew !== undefined;
  const session: AgentSession = {
    id: deps.sessionId,
    get status() {
      return statusOf(driver.state);
    },
    get title() {
      return driver.state.title;
    },
    get model() {
      return driver.state.model;
    },
    get messages(): readonly Message[] {
      return [...driver.builder.follow(driver.state).messages];
    },
    get messageIds(): readonly MessageId[] {
      return [...driver.builder.follow(driver.state).ids];
    },
    get totalCost() {
      return driver.state.cost;
    },
    get totalUsage() {
      return driver.state.usage;
    },
    get contextTokens() {
      return driver.state.contextTokens;
    },
    get pendingToolCalls() {
      return pendingToolCalls(driver.state);
    },
    get pendingApprovals() {
      return pendingApprovals(driver.state);
    },
    get isInterrupted() {
      return driver.view.wasRecovered && !isAtRest(driver.state);
    },
    ready: () => driver.load().then(() => session),
    submit: (input, options = {}) => submitInput(handle, input, options),
    follow: (follower) => followSession(handle, follower),
    get lastSeq() {
      return driver.state.seq;
    },
    get lastEvent() {
      return driver.view.lastEvent;
    },
    get runId() {
      return driver.state.run?.runId;
    },
    get isResting() {
      return isReadOnly() || isAtRest(driver.state);
    },
    get isReadOnly() {
      return isReadOnly();
    },
    get isOwner() {
      return driver.isOwner;
    },
    get dueAt() {
      return isReadOnly() ? null : dueOf(driver.state);
    },
    ...viewsOf(handle, isReadOnly),
    subscribe: (listener) => driver.hub.listen(guardListener(deps)((events: readonly SessionEvent[]) => listener(events))),
    ...commandsOf(handle),
    handOver: () => driver.handOver(),
    [Symbol.asyncDispose]: () => driver.dispose(),
  };
  return session;
}

/** What the session and its open lanes look like at once. */
function viewsOf({ deps, driver }: Handle, isReadOnly: () => boolean): Pick<AgentSession, "lanes" | "snapshot" | "staleSnapshot"> {
  const shared = new SharedSnapshot(deps.sessionId);
  return {
    lanes: (runId) => driver.hub.snapshots(runId).filter(({ lane }) => isLaneOpen(driver.state, lane)),
    snapshot: () => shared.of(driver.state, isReadOnly()),
    staleSnapshot: () => driver.view.staleState && snapshotOf(driver.view.staleState, deps.sessionId),
  };
}

/** A lane is over with the fact that closes it, which its effect is told of a moment later. */
function isLaneOpen(state: State, lane: number): boolean {
  return openLanes(state).some((open) => open.lane === lane);
}

function statusOf(state: State): SessionStatus {
  if (state.run && isAtRest(state)) return "awaiting_tool_execution";
  if (state.run || (state.inputs.length > 0 && state.status === "open")) return "running";
  return state.lastRun?.status === "failed" ? "error" : "completed";
}
