import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError, type JsonObject, type SessionSnapshot } from "@loopwright/core/protocol";
import type { Task } from "./a2a-task.ts";
import { refuse } from "./json-rpc.ts";
import { readHistoryLength } from "./message-request.ts";
import { readTask } from "./read-task.ts";
import { type Caller, contextIdOf, contextPrefix, sessionOfContext, taskIdOf } from "./task-place.ts";

const [pageSizeDefault, pageSizeMax] = [50, 100];

/** Sessions of one read, and reads of one request. */
const [sessionsPerRead, readsMax] = [50, 20];

/** Where a page begins: the tasks on the pages before it, and a task of a session of a read of the list. */
interface Token {
  readonly count: number;
  readonly before: string | undefined;
  readonly session: number;
  readonly task: number;
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

/** The tasks of the contexts that the caller may see, or those of one context: the newest change first. @throws RpcRefused */
export async function listTasks(client: LoopwrightClient, params: JsonObject, caller: Caller): Promise<TaskList> {
  const wish = readWish(params);
  const begin = readToken(params["pageToken"]);
  const { contextId } = params;
  const tasks: Task[] = [];
  const end = (next?: Omit<Token, "count">): TaskList => {
    const totalSize = begin.count + tasks.length;
    const page = { tasks, pageSize: wish.pageSize, totalSize };
    return { ...page, nextPageToken: next ? tokenOf({ ...next, count: totalSize }) : "" };
  };
  let { before, session: firstSession, task: firstTask } = begin;
  for (let reads = 0; reads < readsMax; reads += 1) {
    const read =
      typeof contextId === "string" && contextId !== ""
        ? { sessions: [await sessionOfContext(caller, contextId)], next: undefined }
        : await contexts(client, { before, agent: caller.agent });
    for (let session = firstSession; session < read.sessions.length; session += 1) {
      const found = await tasksOf(client, read.sessions[session] ?? "", wish);
      const taken = found.slice(firstTask, firstTask + wish.pageSize - tasks.length);
      tasks.push(...taken);
      const task = firstTask + taken.length;
      if (task < found.length) return end({ before, session, task });
      firstTask = 0;
    }
    if (read.next === undefined) return end();
    before = read.next;
    firstSession = 0;
  }
  return end({ before, session: 0, task: 0 });
}

async function contexts(
  client: LoopwrightClient,
  { before, agent }: { readonly before: string | undefined; readonly agent: string | undefined },
): Promise<{ readonly sessions: readonly string[]; readonly next: string | undefined }> {
  const filter = { ...(before === undefined ? {} : { before }), ...(agent === undefined ? {} : { agent }) };
  const { sessions, next } = await client.sessions.list({ limit: sessionsPerRead, ...filter });
  return { sessions: sessions.map(({ id }) => id).filter((id) => id.startsWith(contextPrefix)), next };
}

/** The tasks of a context that are wanted, the newest first. */
async function tasksOf(client: LoopwrightClient, session: string, wish: Wish): Promise<readonly Task[]> {
  const snapshot = await sessionIfAny(client, session);
  if (!snapshot) return [];
  const runs = [...snapshot.messages.map(({ runId }) => runId), ...snapshot.waiting.map(({ runId }) => runId)];
  const tasks: Task[] = [];
  for (const runId of new Set(runs.reverse())) {
    if (runId === undefined) continue;
    const place = { session, runId, taskId: taskIdOf(session, runId), contextId: contextIdOf(snapshot) };
    const task = (await readTask(client, place)).fold.task(wish.historyLength);
    if (wish.status !== undefined && task.status.state !== wish.status) continue;
    if (Date.parse(task.status.timestamp ?? "") < wish.since) continue;
    tasks.push(wish.withArtifacts ? task : { ...task, artifacts: [] });
  }
  return tasks;
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

const tokenOf = ({ count, session, task, before }: Token): string => [count, session, task, before ?? ""].join("~");

function readToken(value: unknown): Token {
  if (value === undefined || value === "") return { count: 0, before: undefined, session: 0, task: 0 };
  const [, count, session, task, before = ""] = (typeof value === "string" && /^(\d{1,9})~(\d{1,4})~(\d{1,9})~(.*)$/.exec(value)) || [];
  if (count === undefined) return refuse("INVALID_PARAMS", "`pageToken`: send the `nextPageToken` of the page before.");
  return { count: Number(count), session: Number(session), task: Number(task), before: before === "" ? undefined : before };
}
