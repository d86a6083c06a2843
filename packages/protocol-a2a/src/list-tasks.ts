import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError, type JsonObject, type SessionSnapshot } from "@loopwright/core/protocol";
import type { Task } from "./a2a-task.ts";
import { refuse } from "./json-rpc.ts";
import { readHistoryLength } from "./message-request.ts";
import { readTask } from "./read-task.ts";
import { type Caller, contextIdOf, contextPrefix, sessionsOfContext, type TaskPlace, taskIdOf } from "./task-place.ts";

const [pageSizeDefault, pageSizeMax] = [50, 100];

/** Sessions of one read of the list, and such reads of one request. */
const [sessionsPerRead, readsMax] = [50, 20];

/** Sessions and runs that one request reads. */
const logReadsMax = 100;

/** Where a page begins: the tasks on the pages before it, and a run, the newest first, of a session of a read of the list. */
interface Token {
  readonly count: number;
  readonly before: string | undefined;
  readonly session: number;
  readonly run: number;
}

interface Wish {
  readonly status: string | undefined;
  readonly since: number;
  readonly pageSize: number;
  readonly historyLength: number;
  readonly withArtifacts: boolean;
}

interface TaskList {
  readonly tasks: readonly Task[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  /** The tasks up to the end of this page. */
  readonly totalSize: number;
}

/**
 * The tasks of the contexts that the caller may see, or those of one context: the newest change first. A page ends early, with a token, after 100 reads of logs or
 * when the signal is aborted. @throws RpcRefused
 */
export async function listTasks(
  client: LoopwrightClient,
  params: JsonObject,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
): Promise<TaskList> {
  const wish = readWish(params);
  const begin = readToken(params["pageToken"]);
  const { contextId } = params;
  const tasks: Task[] = [];
  const end = (next?: Omit<Token, "count">): TaskList => {
    const totalSize = begin.count + tasks.length;
    const page = { tasks, pageSize: wish.pageSize, totalSize };
    return { ...page, nextPageToken: next ? tokenOf({ ...next, count: totalSize }) : "" };
  };
  let logReads = 0;
  const mayRead = (): boolean => !signal.aborted && tasks.length < wish.pageSize && logReads++ < logReadsMax;
  let { before, session, run } = begin;
  for (let reads = 0; reads < readsMax && !signal.aborted; reads += 1) {
    const read =
      typeof contextId === "string" && contextId !== ""
        ? { sessions: await sessionsOfContext(caller, contextId), next: undefined }
        : await contexts(client, { before, agent: caller.agent });
    for (; session < read.sessions.length; session += 1) {
      if (!mayRead()) return end({ before, session, run });
      const places = await placesOf(client, read.sessions[session] ?? "");
      for (; run < places.length; run += 1) {
        if (!mayRead()) return end({ before, session, run });
        const task = await taskAt(client, places[run] as TaskPlace, wish);
        if (task) tasks.push(task);
      }
      run = 0;
    }
    if (read.next === undefined) return end();
    before = read.next;
    [session, run] = [0, 0];
  }
  return end({ before, session, run });
}

async function contexts(
  client: LoopwrightClient,
  { before, agent }: { readonly before: string | undefined; readonly agent: string | undefined },
): Promise<{ readonly sessions: readonly string[]; readonly next: string | undefined }> {
  const filter = { ...(before === undefined ? {} : { before }), ...(agent === undefined ? {} : { agent }) };
  const { sessions, next } = await client.sessions.list({ limit: sessionsPerRead, ...filter });
  return { sessions: sessions.map(({ id }) => id).filter((id) => id.startsWith(contextPrefix)), next };
}

/** The runs of a context, the newest first. */
async function placesOf(client: LoopwrightClient, session: string): Promise<readonly TaskPlace[]> {
  const snapshot = await sessionIfAny(client, session);
  if (!snapshot) return [];
  const runs = [...snapshot.messages.map(({ runId }) => runId), ...snapshot.waiting.map(({ runId }) => runId)];
  const contextId = contextIdOf(snapshot);
  return [...new Set(runs.reverse())].flatMap((runId) =>
    runId === undefined ? [] : [{ session, runId, taskId: taskIdOf(session, runId), contextId }],
  );
}

/** The task of a run, if it is wanted. */
async function taskAt(client: LoopwrightClient, place: TaskPlace, wish: Wish): Promise<Task | undefined> {
  const task = (await readTask(client, place)).fold.task(wish.historyLength);
  if (wish.status !== undefined && task.status.state !== wish.status) return undefined;
  if (Date.parse(task.status.timestamp ?? "") < wish.since) return undefined;
  return wish.withArtifacts ? task : { ...task, artifacts: [] };
}

async function sessionIfAny(client: LoopwrightClient, session: string): Promise<SessionSnapshot | undefined> {
  try {
    return await client.sessions.get(session);
  } catch (error) {
    if (isAgentError(error, "SESSION_NOT_FOUND")) return undefined;
    throw error;
  }
}

function readWish({ status, pageSize, historyLength, includeArtifacts, statusTimestampAfter }: JsonObject): Wish {
  const size = pageSize === undefined || pageSize === 0 ? pageSizeDefault : pageSize;
  if (typeof size !== "number" || !Number.isInteger(size) || size < 1 || size > pageSizeMax)
    return refuse("INVALID_PARAMS", `\`pageSize\`: send a whole number from 1 to ${pageSizeMax}.`);
  const since = typeof statusTimestampAfter === "string" ? Date.parse(statusTimestampAfter) : 0;
  if (Number.isNaN(since)) return refuse("INVALID_PARAMS", "`statusTimestampAfter`: send a time as ISO 8601 has it.");
  const isAnyStatus = typeof status !== "string" || status === "" || status === "TASK_STATE_UNSPECIFIED";
  return {
    ...{ status: isAnyStatus ? undefined : status, since, pageSize: size },
    historyLength: readHistoryLength(historyLength) ?? 0,
    withArtifacts: includeArtifacts === true,
  };
}

const tokenOf = ({ count, session, run, before }: Token): string => [count, session, run, before ?? ""].join("~");

function readToken(value: unknown): Token {
  if (value === undefined || value === "") return { count: 0, before: undefined, session: 0, run: 0 };
  const [, count, session, run, before = ""] = (typeof value === "string" && /^(\d{1,9})~(\d{1,4})~(\d{1,9})~(.*)$/.exec(value)) || [];
  if (count === undefined) return refuse("INVALID_PARAMS", "`pageToken`: send the `nextPageToken` of the page before.");
  return { count: Number(count), session: Number(session), run: Number(run), before: before === "" ? undefined : before };
}
