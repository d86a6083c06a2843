import type {
  AcceptedDecision,
  AcceptedSubmission,
  ApprovalDecision,
  DeclaredTool,
  DurableEvent,
  ExecuteInput,
  ExecuteStream,
  Followed,
  JsonObject,
  Message,
  MessageId,
  RememberRequest,
  Retention,
  ScheduleFiring,
  ScheduleRequest,
  SessionHit,
  SessionSchedule,
  SessionSnapshot,
  SessionSummary,
  Sharing,
  SubmitOptions,
  ToolResultMessage,
} from "@loopwright/core/protocol";
import { type ClientContext, newId } from "./client-context.ts";
import { isKnownError } from "./client-error.ts";
import { connectAttempts, retryCapMs } from "./client-limits.ts";
import { mayPass, requestJson, requestText, sendRequest, type WireRequest } from "./send-request.ts";
import { createBackOff, sleep } from "./stream/back-off.ts";
import { type FollowedRun, streamOfRun } from "./stream/followed-run.ts";

/** Options of every request. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
}

/** Labels of an input as fields; the deployment declares which of them it takes. */
export interface InputFields {
  /** Modes that the user has switched on. */
  readonly modes?: readonly string[];
  /** False: the answer is given without tools. */
  readonly toolsRequired?: boolean;
  /** Keys of files of `uploadFile`: they become parts of the message. */
  readonly attachments?: readonly string[];
  readonly chatbotId?: string;
}

/** What a new session begins with. Only trusted callers may send a prompt and messages of other roles than `user`. */
export interface SessionContext {
  readonly systemPrompt?: string;
  readonly messages?: readonly Message[];
  readonly tools?: readonly DeclaredTool[];
}

export interface NewSession {
  /** `[a-z0-9][a-z0-9_-]{0,63}`. Default: a new one. */
  readonly id?: string;
  /** Default: the server's first. */
  readonly agent?: string;
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly context?: SessionContext;
}

/** A session that begins with the messages of another one. */
export interface NewFork {
  /** The last message that it has. Default: the last one that people see. */
  readonly message?: MessageId;
  /** In place of `message`: the number of an event. The fork has what people had seen then. */
  readonly at?: number;
  /** A prompt in place of that of the agent, from trusted callers only. Another model is chosen with the next message. */
  readonly context?: Pick<SessionContext, "systemPrompt">;
  /** `[a-z0-9][a-z0-9_-]{0,63}`. Default: a new one. */
  readonly id?: string;
  /** Default: that of the source. */
  readonly agent?: string;
  /** Default: that of the source. */
  readonly title?: string;
  /** Beside `forkedFrom: { session, message }`. */
  readonly metadata?: JsonObject;
}

/** A session as a file to keep. */
export interface ExportedSession {
  /** Made from the title, with its ending. */
  readonly fileName: string;
  readonly mediaType: string;
  readonly text: string;
}

export interface ListOptions extends RequestOptions {
  readonly limit?: number;
  /** `next` of the page before. */
  readonly before?: string;
  /** Lists the children of this session. Default: the sessions that are children of none. */
  readonly parent?: string;
  /** Of these the sessions with this agent, in this state, or with this participant. A page may then have fewer than `limit`, and a `next`. */
  readonly agent?: string;
  readonly status?: SessionSummary["status"];
  readonly participant?: string;
}

/** What a search found. */
export interface FoundSessions {
  readonly hits: readonly SessionHit[];
  /** There may be more than these. */
  readonly more?: true;
}

export interface PageOptions extends RequestOptions {
  /** The events after this cursor. Default: from the start. */
  readonly after?: string;
  /** Events of the page, at most 1,000, which is the default. The server may give fewer: about 512 KiB. */
  readonly limit?: number;
}

/** The sessions of the caller's scope. Every method @throws AgentError as the server refuses, SERVER_UNREACHABLE. */
export interface SessionRequests {
  /** Newest change first. */
  list(options?: ListOptions): Promise<{ readonly sessions: readonly SessionSummary[]; readonly next?: string }>;
  /** Best first; `more` where there may be others than these. A search has no second page: a larger `limit` or another word finds them. */
  search(words: string, options?: RequestOptions & { readonly limit?: number }): Promise<FoundSessions>;
  /** Sent again when the response was lost or the store was busy; a second session is never created. */
  create(session?: NewSession, options?: RequestOptions & { readonly idempotencyKey?: string }): Promise<SessionSnapshot>;
  get(sessionId: string, options?: RequestOptions): Promise<SessionSnapshot>;
  /** Begins a session with the messages of another one. Sent again when the response was lost; a second session is never created. */
  fork(sessionId: string, fork?: NewFork, options?: RequestOptions & { readonly idempotencyKey?: string }): Promise<SessionSnapshot>;
  /** What people see, as Markdown, or the whole session as JSON. */
  export(sessionId: string, format: "markdown" | "json", options?: RequestOptions): Promise<ExportedSession>;
  /** Every fact of the session, oldest first, in several requests. For trusted callers alone. */
  log(sessionId: string, options?: RequestOptions): Promise<readonly JsonObject[]>;
  change(
    sessionId: string,
    change: {
      readonly title?: string;
      readonly metadata?: JsonObject;
      readonly retention?: Retention;
      readonly forget?: readonly string[];
    },
    options?: RequestOptions,
  ): Promise<SessionSnapshot>;
  /** Sets what other users of the scope may do in a session, in place of the sharing before. `{}`: nothing. */
  share(sessionId: string, sharing: Sharing, options?: RequestOptions): Promise<SessionSnapshot>;
  /** Puts a session under a legal hold: until it is lifted, neither a request nor its retention erases it. */
  hold(sessionId: string, options?: RequestOptions & { readonly reason?: string }): Promise<SessionSnapshot>;
  /** Lifts the legal hold of a session. */
  releaseHold(sessionId: string, options?: RequestOptions): Promise<SessionSnapshot>;
  /** Chooses the branch that people see and the next input continues. */
  moveHead(sessionId: string, to: MessageId | null, options?: RequestOptions): Promise<SessionSnapshot>;
  remove(sessionId: string, options?: RequestOptions): Promise<void>;
  /** Resolves when the input is durable. Sent again when the response was lost; the input is recorded once. */
  submit(
    sessionId: string,
    input: ExecuteInput,
    options?: Omit<SubmitOptions, "access"> & RequestOptions & InputFields & { readonly streamVersion?: number },
  ): Promise<AcceptedSubmission & { readonly sessionId: string; readonly dialect?: string }>;
  /** Answers calls that wait for the client. Sent again when the response was lost. */
  sendResults(
    sessionId: string,
    results: readonly ToolResultMessage[],
    options?: RequestOptions & { readonly idempotencyKey?: string },
  ): Promise<AcceptedSubmission & Followed & { readonly sessionId: string }>;
  /** Decides whether a call that waits for approval may run; `remember`: and later calls that fit. Sent again when the response was lost. */
  decide(
    sessionId: string,
    callKey: string,
    decision: Omit<ApprovalDecision, "remember"> & RequestOptions & { readonly remember?: RememberRequest },
  ): Promise<AcceptedDecision & Followed & { readonly sessionId: string }>;
  /** Sets a schedule, or changes it. Sent again where the answer got lost: the same request changes nothing. */
  schedule(sessionId: string, name: string, request: Omit<ScheduleRequest, "access"> & RequestOptions): Promise<SessionSchedule>;
  /** False when there is no schedule of this name. */
  unschedule(sessionId: string, name: string, options?: RequestOptions): Promise<boolean>;
  /** The schedules that will fire, the next one first. */
  schedules(sessionId: string, options?: RequestOptions): Promise<readonly SessionSchedule[]>;
  /** Due times of schedules that have passed, the newest first. */
  firings(sessionId: string, options?: RequestOptions): Promise<readonly ScheduleFiring[]>;
  /** The open run, or that of `runId` or of the input with this key. False when it does not run. The partial answer is kept. */
  abort(
    id: string,
    reason?: string,
    options?: RequestOptions & { readonly runId?: string | undefined; readonly inputKey?: string },
  ): Promise<boolean>;
  /** A page of the durable events after a cursor, without waiting for more. `next` where more follow: the `after` of the next page. */
  events(
    sessionId: string,
    options?: PageOptions,
  ): Promise<{ readonly events: readonly DurableEvent[]; readonly cursor: string; readonly next?: string }>;
  /** A page of the durable events of one run. `next` where more follow: the `after` of the next page. */
  run(
    sessionId: string,
    runId: string,
    options?: PageOptions,
  ): Promise<{ readonly runId: string; readonly events: readonly DurableEvent[]; readonly next?: string }>;
  /** A run from its beginning, or from its fact `seq`, until it ends or waits; one that is over, too. `signal` stops watching, not the run. */
  stream(sessionId: string, runId: string, options?: RequestOptions & { readonly seq?: number }): Promise<ExecuteStream>;
}

interface LogPage {
  readonly facts: readonly JsonObject[];
  readonly next?: number;
}

type Recorded<Accepted> = Accepted & { readonly sessionId: string };

async function wholeLog(read: (from: number) => Promise<LogPage>): Promise<readonly JsonObject[]> {
  const facts: JsonObject[] = [];
  for (let from: number | undefined = 1; from !== undefined; ) {
    const page: LogPage = await read(from);
    facts.push(...page.facts);
    from = page.next;
  }
  return facts;
}

export function createSessionRequests(client: ClientContext): SessionRequests {
  const json = <T>(request: WireRequest): Promise<T> => requestJson<T>(client, request);
  const keyed = <T>(
    path: string,
    { idempotencyKey, headers, ...more }: Omit<WireRequest, "path"> & { readonly idempotencyKey: string },
  ): Promise<T> => requestSurely<T>(client, { ...more, path, headers: { ...headers, "Idempotency-Key": idempotencyKey } });
  const streamFrom = ({ sessionId, runId, ...from }: Pick<FollowedRun, "sessionId" | "runId" | "seq" | "signal">): ExecuteStream => {
    const abort = (reason: string): Promise<boolean> => requests.abort(sessionId, reason, { runId });
    return streamOfRun(client, { sessionId, runId, ...from, snapshot: () => requests.get(sessionId), abort });
  };
  const followed = <T extends Recorded<Pick<AcceptedDecision, "runId" | "seq">>>(accepted: T): T & Followed => {
    const { sessionId, runId, seq } = accepted;
    return { ...accepted, stream: () => streamFrom({ sessionId, runId, seq }) };
  };
  const requests: SessionRequests = {
    list: ({ signal, ...query } = {}) => json({ path: `/api/sessions${queryOf(query)}`, signal }),
    search: (words, { signal, limit } = {}) => json({ path: `/api/sessions${queryOf({ search: words, limit })}`, signal }),
    create: (session = {}, { signal, idempotencyKey = newId(client) } = {}) =>
      keyed("/api/sessions", { json: session, idempotencyKey, signal }),
    get: (id, { signal } = {}) => json({ path: pathOf(id), signal }),
    fork: (id, fork = {}, { signal, idempotencyKey = newId(client) } = {}) =>
      keyed(`${pathOf(id)}/fork`, { json: fork, idempotencyKey, signal }),
    async export(id, format, { signal } = {}) {
      const { headers, text } = await requestText(client, { path: `${pathOf(id)}/export${queryOf({ format })}`, signal });
      const [, name = ""] = /filename\*=UTF-8''([^;]+)/.exec(headers.get("Content-Disposition") ?? "") ?? [];
      return { fileName: decodeURIComponent(name), mediaType: headers.get("Content-Type") ?? "", text };
    },
    log: (id, { signal } = {}) => wholeLog((from) => json<LogPage>({ path: `${pathOf(id)}/log${queryOf({ from })}`, signal })),
    change: (id, change, { signal } = {}) => json({ method: "PATCH", path: pathOf(id), json: change, signal }),
    share: (id, sharing, { signal } = {}) => requestSurely(client, { method: "PUT", path: `${pathOf(id)}/sharing`, json: sharing, signal }),
    hold: (id, { signal, reason } = {}) => requestSurely(client, { method: "PUT", path: `${pathOf(id)}/hold`, json: { reason }, signal }),
    releaseHold: (id, { signal } = {}) => requestSurely(client, { method: "DELETE", path: `${pathOf(id)}/hold`, signal }),
    moveHead: (id, head, { signal } = {}) => json({ method: "PATCH", path: pathOf(id), json: { head }, signal }),
    async remove(id, { signal } = {}) {
      await sendRequest(client, { method: "DELETE", path: pathOf(id), signal });
    },
    submit(id, input, { idempotencyKey = newId(client), mode, parent, streamVersion, signal, trace, ...options } = {}) {
      const body = typeof input === "object" && "regenerate" in input ? input : { input };
      const json = { ...body, mode, parent, streamVersion, options };
      return keyed(`${pathOf(id)}/messages`, { json, idempotencyKey, signal, headers: { traceparent: trace } });
    },
    sendResults: async (id, results, { signal, idempotencyKey = newId(client) } = {}) =>
      followed(
        await keyed<Recorded<AcceptedSubmission>>(`${pathOf(id)}/tool-results`, {
          json: { results },
          idempotencyKey,
          signal,
        }),
      ),
    decide: async (id, callKey, { idempotencyKey = newId(client), signal, ...json }) =>
      followed(
        await keyed<Recorded<AcceptedDecision>>(`${pathOf(id)}/approvals/${encodeURIComponent(callKey)}`, { json, idempotencyKey, signal }),
      ),
    ...scheduleRequests(client),
    async abort(id, reason, { signal, ...which } = {}) {
      const request = { path: `${pathOf(id)}/abort`, json: { reason, ...which }, signal };
      return (await requestSurely<{ readonly aborting: boolean }>(client, request)).aborting;
    },
    events: (id, { signal, ...page } = {}) =>
      json({ path: `${pathOf(id)}/events${queryOf({ ...page })}`, headers: { Accept: "application/json" }, signal }),
    run: (id, runId, { signal, ...page } = {}) =>
      json({ path: `${pathOf(id)}/runs/${encodeURIComponent(runId)}${queryOf({ ...page })}`, signal }),
    async stream(sessionId, runId, { signal, seq } = {}) {
      const path = `${pathOf(sessionId)}/runs/${encodeURIComponent(runId)}?limit=1`;
      const run = seq ? undefined : await requestSurely<{ readonly events: readonly DurableEvent[] }>(client, { path, signal });
      return streamFrom({ sessionId, runId, seq: seq ?? run?.events[0]?.seq ?? 1, signal });
    },
  };
  return requests;
}

interface ScheduleList {
  readonly schedules: readonly SessionSchedule[];
  readonly firings: readonly ScheduleFiring[];
}

/** Requests about the schedules of a session. */
function scheduleRequests(client: ClientContext): Pick<SessionRequests, "schedule" | "unschedule" | "schedules" | "firings"> {
  const list = (id: string, { signal }: RequestOptions = {}): Promise<ScheduleList> =>
    requestJson(client, { path: `${pathOf(id)}/schedules`, signal });
  return {
    schedule(id, name, { signal, input, at, timeZone, everyMs, cron, missed, mode, ...options }) {
      return requestSurely(client, {
        method: "PUT",
        path: scheduleOf(id, name),
        json: { input, at, timeZone, everyMs, cron, missed, mode, options },
        signal,
      });
    },
    async unschedule(id, name, { signal } = {}) {
      return (await requestJson<{ readonly removed: boolean }>(client, { method: "DELETE", path: scheduleOf(id, name), signal })).removed;
    },
    schedules: async (id, options) => (await list(id, options)).schedules,
    firings: async (id, options) => (await list(id, options)).firings,
  };
}

const pathOf = (sessionId: string): string => `/api/sessions/${encodeURIComponent(sessionId)}`;

const scheduleOf = (sessionId: string, name: string): string => `${pathOf(sessionId)}/schedules/${encodeURIComponent(name)}`;

/** The query of a request; fields that are `undefined` are left out. */
export function queryOf(fields: { readonly [name: string]: string | number | undefined }): string {
  const given = Object.entries(fields).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, String(value)]]));
  return given.length > 0 ? `?${new URLSearchParams(given)}` : "";
}

/** Sends an idempotent request a few times while its error is worth a repeat and the wait is short. */
async function requestSurely<T>(client: ClientContext, request: WireRequest): Promise<T> {
  const backOff = createBackOff(client);
  for (;;) {
    try {
      return await requestJson<T>(client, request);
    } catch (error) {
      if (request.signal?.aborted || !isKnownError(error) || !mayPass(error)) throw error;
      const waitMs = backOff.next(error.retryAfterMs);
      if (waitMs > retryCapMs || backOff.failures >= connectAttempts) throw error;
      await sleep(client.clock, waitMs, request.signal);
    }
  }
}
