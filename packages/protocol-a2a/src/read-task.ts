import type { LoopwrightClient } from "@loopwright/client";
import {
  compareCursors,
  cursorAfter,
  type DurableEvent,
  type EventCursor,
  encodeCursor,
  type SessionSnapshot,
} from "@loopwright/core/protocol";
import type { TaskEvent } from "./a2a-task.ts";
import { TaskFold } from "./task-fold.ts";
import type { TaskPlace } from "./task-place.ts";

/** A task as far as it has been read. */
export interface ReadTask {
  readonly place: TaskPlace;
  readonly fold: TaskFold;
  /** The last durable event that the fold has. */
  readonly cursor: EventCursor;
}

/** A task of which nothing has been read; `seq`: the first fact of its input. */
export const unreadTask = (place: TaskPlace, seq: number): ReadTask => ({ place, fold: new TaskFold(place), cursor: cursorAfter(seq - 1) });

/** The task as the log has it. @throws AgentError RUN_NOT_FOUND, SESSION_NOT_FOUND */
export async function readTask(client: LoopwrightClient, place: TaskPlace): Promise<ReadTask> {
  let read = (await readOn(client, unreadTask(place, 1))).read;
  if (read.fold.isEnded) return read;
  const snapshot = await client.sessions.get(place.session);
  // It may have ended between the two requests.
  if (!isOpen(snapshot, place)) read = (await readOn(client, read)).read;
  else if (isAsking(snapshot, place)) read.fold.wait(snapshot.run ?? {});
  return read;
}

const isOpen = ({ run, waiting }: SessionSnapshot, { runId }: TaskPlace): boolean =>
  run?.runId === runId || waiting.some((input) => input.runId === runId);

/** The run waits for people or for the client: not for its children alone. */
const isAsking = ({ run, waitsFor = [] }: SessionSnapshot, { runId }: TaskPlace): boolean =>
  run?.runId === runId && run.aborting === undefined && waitsFor.some((reason) => reason !== "children");

interface ReadOn {
  readonly read: ReadTask;
  readonly events: readonly TaskEvent[];
}

/** What the log has of the run after what was read. */
async function readOn(client: LoopwrightClient, { place, fold, cursor: from }: ReadTask): Promise<ReadOn> {
  let cursor = from;
  const events: TaskEvent[] = [];
  for (let after: string | undefined = encodeCursor(from); after !== undefined; ) {
    const page: { readonly events: readonly DurableEvent[]; readonly next?: string } = await client.sessions.run(
      place.session,
      place.runId,
      {
        after,
      },
    );
    for (const event of page.events) {
      events.push(...fold.take(event));
      cursor = event;
    }
    after = page.next;
  }
  return { read: { place, fold, cursor }, events };
}

/** What follows in a task, until its run ends or asks. Ends before that when the signal is aborted. */
export async function* followTask(
  client: LoopwrightClient,
  read: ReadTask,
  signal: AbortSignal,
): AsyncGenerator<readonly TaskEvent[], void> {
  const { place, fold } = read;
  let { cursor } = read;
  if (fold.isEnded || fold.state === "TASK_STATE_INPUT_REQUIRED") return;
  for await (const batch of client.follow(place.session, { after: encodeCursor(cursor), signal })) {
    for (const event of batch) {
      if (event.type === "rest" || event.type === "session_snapshot") {
        const snapshot = event.type === "rest" ? await client.sessions.get(place.session) : event.snapshot;
        const missed = isOpen(snapshot, place) && event.type === "rest" ? [] : (await readOn(client, { place, fold, cursor })).events;
        if (missed.length > 0) yield missed;
        if (fold.isEnded) return;
        if (!isAsking(snapshot, place)) continue;
        yield fold.wait(snapshot.run ?? {});
        return;
      }
      if ("seq" in event) {
        if (event.runId !== place.runId || compareCursors(event, cursor) <= 0) continue;
        cursor = event;
      } else if (fold.state === "TASK_STATE_SUBMITTED") continue;
      const events = fold.take(event);
      if (events.length > 0) yield events;
      if (fold.isEnded) return;
    }
  }
}
