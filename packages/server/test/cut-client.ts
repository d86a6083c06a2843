import { applyEvents, createClient, type FollowedEvent, type LoopwrightClient, type SessionView, viewOf } from "@loopwright/client";
import { manualClock } from "@loopwright/core/memory";
import { compareCursors, type DurableEvent, type SessionEvent, type SessionSnapshot } from "@loopwright/core/protocol";
import { differenceOf, findEventViolation } from "@loopwright/testing";
import { runClock, until } from "../../host/test/turn-of-loop.ts";
import { historyOf } from "./busy-cuts.ts";
import { keepBusyUntil } from "./busy-people.ts";
import { openBusyScene } from "./busy-scene.ts";
import type { StreamDoor } from "./stream-door.ts";

interface Watched {
  readonly events: SessionEvent[];
  view: SessionView | undefined;
  isResting: boolean;
}

/** The client itself, following and executing over connections that are cut at any byte; what it has in the end is held against the log. */
export async function clientCuts(seed: number): Promise<{ readonly cuts: number; readonly flaws: readonly string[] }> {
  const scene = openBusyScene(seed, { mayHang: false });
  const { door, store, random } = scene;
  const sessionId = `client-${seed}`;
  await door.open(sessionId);
  const tally = { cuts: 0 };
  // Its waits are long beside a turn of the loop.
  const clock = manualClock();
  const stop = runClock(clock, 1_000);
  const client = createClient({ url: "http://127.0.0.1", clock, random, fetch: cutFetch(door, random, tally) });
  const ending = new AbortController();
  const options = { signal: ending.signal };
  const [all, now] = [followBy(client, sessionId, { ...options, after: "" }), followBy(client, sessionId, options)];
  const executing = executeSome(client, sessionId, random);
  const [, executed] = await keepBusyUntil(executing, { door, sessionId, random, deeds: 15 });
  const history = await historyOf(store, sessionId);
  const last = history.at(-1);
  const hasAll = ({ events }: Watched): boolean =>
    last !== undefined && compareCursors(events.findLast(isDurable) ?? { seq: 0, k: 0 }, last) >= 0;
  await until(() => [all, now].every((one) => hasAll(one.watched)), `the client has everything, seed ${seed}`);
  const snapshot = await door.use(sessionId, ({ session }) => session.snapshot());
  ending.abort();
  await Promise.all([all.done, now.done]);
  stop();
  await scene.close();
  const notified = all.watched.events.filter(isDurable);
  const violation = findEventViolation(all.watched.events, { mayLoseDeltas: true });
  const flaws = [
    ...executed,
    violation?.message,
    differenceOf(notified, history, "the events"),
    now.watched.view && differenceOf(shown(now.watched.view), shown(viewOf(snapshot)), "the view"),
  ];
  return { cuts: tally.cuts, flaws: flaws.filter((flaw) => flaw !== undefined) };
}

function followBy(
  client: LoopwrightClient,
  sessionId: string,
  options: { readonly after?: string; readonly signal: AbortSignal },
): { readonly watched: Watched; readonly done: Promise<void> } {
  const watched: Watched = { events: [], view: undefined, isResting: false };
  const read = async (): Promise<void> => {
    for await (const batch of client.follow(sessionId, options)) for (const event of batch) take(watched, event);
  };
  return { watched, done: read() };
}

function take(watched: Watched, event: FollowedEvent): void {
  if (event.type === "session_snapshot") watched.view = viewOf(event.snapshot satisfies SessionSnapshot);
  else if (event.type !== "rest") {
    watched.events.push(event);
    if (watched.view) watched.view = applyEvents(watched.view, [event]);
  }
}

const isDurable = (event: SessionEvent): event is DurableEvent => "seq" in event;

/** What both ways of coming by a view know. */
function shown({ messages, head, path, status, pendingToolCalls, lastRun, usage }: SessionView): object {
  const all = [...messages.values()].map(({ id, parent, message }) => ({ id, parent, message }));
  return { all, head, status, pendingToolCalls, usage, path: path.map(({ id }) => id), lastRun: lastRun?.runId, ended: lastRun?.status };
}

/** Executions through the client: their results are what the events of their runs report. */
async function executeSome(client: LoopwrightClient, sessionId: string, random: () => number): Promise<readonly string[]> {
  const flaws: string[] = [];
  for (let at = 0; at < 4; at++) {
    const stream = client.execute(`Tell me ${random()} 世界`, { sessionId });
    const events: DurableEvent[] = [];
    for await (const event of stream) if ("seq" in event) events.push(event);
    const { status, messages } = await stream.result();
    if (events.some((event, place) => place > 0 && compareCursors(event, events[place - 1] ?? event) <= 0))
      flaws.push("its events are out of order");
    const written = events.filter(({ type }) => type === "message_end").length;
    if (status !== "awaiting_tool_execution" && written !== messages.length)
      flaws.push(`${written} messages were told, ${messages.length} are in the result`);
  }
  return flaws;
}

/** The server's answers to streams break off at a byte that is drawn. */
function cutFetch(door: StreamDoor, random: () => number, tally: { cuts: number }): (request: Request) => Promise<Response> {
  return async (request) => {
    const response = await door.fetch(request);
    if (!response.body || !response.headers.get("Content-Type")?.includes("event-stream")) return response;
    let left = Math.floor(random() * random() * 12_000);
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        controller.enqueue(bytes.subarray(0, left));
        left -= bytes.byteLength;
        if (left >= 0) return;
        tally.cuts += 1;
        controller.error(new TypeError("terminated"));
      },
    });
    return new Response(response.body.pipeThrough(cut), { status: response.status, headers: response.headers });
  };
}
