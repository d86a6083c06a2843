import { type Agent, createAgent } from "../agent/agent.ts";
import { defineTool } from "../agent/define-tool.ts";
import type { Tool } from "../agent/tool.ts";
import { AgentError, failureOf } from "../errors.ts";
import type { SessionEvent } from "../loop/event.ts";
import type { DeclaredTool, FactBody } from "../loop/fact.ts";
import { placeOf } from "../loop/inputs.ts";
import { isAtRest, type State } from "../loop/state.ts";
import type { Message, MessageId } from "../message/message.ts";
import type { AgentSession, ExecuteInput, ExecuteOptions, ExecuteStream, SessionFollower, SessionStatus } from "../protocol/execute.ts";
import { type AcceptedInput, acceptInput, newInput } from "./accept-input.ts";
import { acceptResults } from "./accept-results.ts";
import { type Deps, depsOf } from "./deps.ts";
import { Execution, pendingToolCalls } from "./execution.ts";
import { createKeeper } from "./keeper.ts";
import { checkPayload } from "./payload.ts";
import { SessionDriver } from "./session-driver.ts";
import { sessionClosed } from "./session-errors.ts";
import type { SessionOptions } from "./session-options.ts";
import { snapshotOf } from "./snapshot.ts";
import { type SubmitScene, submitInput } from "./submit.ts";

/** The agent with what came with the session. */
function withDeclared(agent: Agent, { tools = [], prompt }: Pick<SessionOptions, "tools" | "prompt">): Agent {
  checkPayload(tools, "The list of tools");
  return createAgent({
    ...agent,
    tools: [...agent.tools, ...tools.map(clientTool)],
    ...(prompt === undefined ? {} : { prompt }),
  });
}

/** Data alone: whatever else came with it is left behind. */
function clientTool({ name, description, parameters, label, timeoutMs }: DeclaredTool): Tool {
  const optional = { ...(label === undefined ? {} : { label }), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  return defineTool({ name, description, parameters, ...optional });
}

/** What a session is beneath its door. */
type Handle = SubmitScene;

const handles = new WeakMap<AgentSession, Handle>();

/**
 * A handle on a session, new or restored. Nothing is read or written before its first use.
 * @throws AgentError CONFIG_INVALID when an option is wrong.
 */
export function createSession(options: SessionOptions): AgentSession {
  const { agent: base, context, title, metadata, tools, prompt } = options;
  const agent = tools || prompt !== undefined ? withDeclared(base, options) : base;
  const deps = depsOf({ ...options, agent });
  if (context) checkPayload(context, "The context");
  if (metadata) checkPayload(metadata, "The metadata");
  const opening: FactBody = {
    type: "session.opened",
    agent: agent.name,
    participants: [deps.access.user, agent.name],
    ...(title === undefined ? {} : { title }),
    ...(context && context.length > 0 ? { context } : {}),
    ...(tools && tools.length > 0 ? { tools } : {}),
    ...(prompt === undefined ? {} : { prompt }),
    ...(metadata ? { metadata } : {}),
  };
  const driver = new SessionDriver(deps);
  const handle: Handle = { deps, driver, keeper: createKeeper(driver, deps.clock), opening };
  const session = sessionOver(handle);
  handles.set(session, handle);
  return session;
}

/**
 * Begins a run with a user's words, or goes on with one by the results of its client calls. Starts at once, whether or not anybody reads.
 * @throws AgentError INPUT_INVALID when the input is no input at all; everything else rejects `result()`.
 */
export function execute(session: AgentSession, input: ExecuteInput, options: ExecuteOptions = {}): ExecuteStream {
  const handle = handleOf(session);
  const { deps, driver, opening } = handle;
  if (Array.isArray(input)) return watchRun(handle, (state) => acceptResults(state, input, deps), options.signal);
  const accepted = newInput(input as Exclude<ExecuteInput, readonly unknown[]>, options, deps);
  const begin = (state: State): AcceptedInput => acceptInput(state, accepted, { deps, opening, isRecovering: driver.isRecovering });
  return watchRun(handle, begin, options.signal);
}

/** Goes on with an open run that a crash cut off, or follows one that runs elsewhere. Where none is open the stream ends at once. */
export function resume(session: AgentSession, options: { readonly signal?: AbortSignal } = {}): ExecuteStream {
  const begin = (state: State): AcceptedInput => ({
    bodies: [],
    runId: state.run?.runId ?? state.inputs[0]?.runId ?? state.lastRun?.runId ?? "",
  });
  return watchRun(handleOf(session), begin, options.signal);
}

function watchRun({ deps, driver }: Handle, begin: (state: State) => AcceptedInput, signal: AbortSignal | undefined): ExecuteStream {
  return new Execution({ driver, sessionId: deps.sessionId, user: deps.access.user, begin, signal });
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
  const { deps, driver, opening } = handle;
  const record = (bodies: (state: State) => readonly FactBody[]): Promise<unknown> => driver.offer({ bodies, needsOwner: false });
  const change = (bodies: (state: State) => readonly FactBody[]): Promise<unknown> => record((state) => bodies(openState(state, deps)));
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
    get isInterrupted() {
      return driver.wasRecovered && !isAtRest(driver.state);
    },
    async ready() {
      await driver.load();
      return session;
    },
    submit: (input, options = {}) => submitInput(handle, input, options),
    follow: (follower) => followSession(handle, follower),
    lanes: (runId) => driver.hub.snapshots(runId),
    get lastSeq() {
      return driver.state.seq;
    },
    get runId() {
      return driver.state.run?.runId;
    },
    get isResting() {
      return isAtRest(driver.state);
    },
    async open() {
      let isNew = false;
      await record(({ status }) => {
        isNew = status === "new";
        return isNew ? [opening] : [];
      });
      return isNew;
    },
    snapshot: () => snapshotOf(driver.state, deps.sessionId),
    async abort(reason = "user", by = deps.access.user) {
      let isAborting = false;
      await record(({ run, inputs: [waiting] }) => {
        const target = run ?? waiting;
        isAborting = target !== undefined && !target.abort;
        return target && isAborting ? [{ type: "abort.requested", runId: target.runId, reason, by }] : [];
      });
      return isAborting;
    },
    async change(changes) {
      const body = changedBy(changes);
      await change((state) => (state.status === "new" ? [opening, body] : [body]));
    },
    async moveHead(to) {
      await change((state) => {
        if (placeOf(state, to) !== undefined) return [{ type: "head.moved", to }];
        throw noMessage(to);
      });
    },
    subscribe: (listener) => driver.hub.listen(guarded(deps)((events: readonly SessionEvent[]) => listener(events))),
    async close() {
      const closed: FactBody = { type: "session.closed" };
      await record(({ status }) => (status === "closed" ? [] : status === "new" ? [opening, closed] : [closed]));
    },
    [Symbol.asyncDispose]: () => driver.dispose(),
  };
  return session;
}

function followSession({ deps, driver }: Handle, follower: SessionFollower): () => void {
  const guard = guarded(deps);
  const stop = (): void => {
    for (const stopOne of stops) stopOne();
  };
  const stops = [
    driver.hub.listen(guard((news, runId) => follower.events(news, runId))),
    driver.watch({
      settled: guard((state) => void (isAtRest(state) && follower.rested?.())),
      lost: guard((error) => {
        stop();
        follower.lost?.(error);
      }),
    }),
  ];
  driver.kick();
  return stop;
}

function openState(state: State, { sessionId }: Deps): State {
  if (state.status === "closed") throw sessionClosed(sessionId);
  return state;
}

const noMessage = (id: MessageId | null): AgentError =>
  new AgentError("INPUT_INVALID", { message: `There is no message \`${String(id)}\`.`, fix: "Take an id from `session.messageIds`." });

function changedBy({ title, metadata }: Parameters<AgentSession["change"]>[0]): FactBody {
  if (metadata) checkPayload(metadata, "The metadata");
  return { type: "session.changed", ...(title === undefined ? {} : { title }), ...(metadata ? { metadata } : {}) };
}

/** Makes listeners whose errors are their own affair. */
function guarded({
  logger,
  sessionId,
}: Deps): <Args extends readonly unknown[]>(listener: (...args: Args) => void) => (...args: Args) => void {
  return (listener) =>
    (...args) => {
      try {
        listener(...args);
      } catch (error) {
        logger.log("error", "A listener of the session threw.", { session: sessionId, error: failureOf(error).message });
      }
    };
}

function statusOf(state: State): SessionStatus {
  if (pendingToolCalls(state).length > 0 && isAtRest(state)) return "awaiting_tool_execution";
  if (state.run || (state.inputs.length > 0 && state.status === "open")) return "running";
  return state.lastRun?.status === "failed" ? "error" : "completed";
}
