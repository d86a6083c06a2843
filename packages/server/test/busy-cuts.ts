import { readHistory } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { compareCursors, type DurableEvent, encodeCursor, type Message } from "@loopwright/core/protocol";
import { differenceOf, findEventViolation } from "@loopwright/testing";
import { wordsOf } from "./busy-agent.ts";
import { answerCalls, type Deeds, keepBusy, keepBusyUntil } from "./busy-people.ts";
import { type BusyScene, openBusyScene } from "./busy-scene.ts";
import { type Connect, connectInProcess } from "./connection.ts";
import { type ExecutionRecord, executeWithCuts, followWithCuts, type Manner, type Tally } from "./cut-readers.ts";
import type { StreamDoor } from "./stream-door.ts";
import type { ReaderCounts, StrictReader } from "./strict-reader.ts";

/** What one busy session showed. */
export interface BusyCuts {
  readonly tally: Tally;
  readonly counts: ReaderCounts;
  readonly deeds: Deeds;
  readonly events: number;
  readonly executions: number;
  /** What is wrong. Empty: nothing. */
  readonly flaws: readonly string[];
}

export interface BusyCutsOptions {
  /** Default: in process. */
  readonly connectTo?: (door: StreamDoor) => Connect;
  readonly scene?: BusyScene;
  readonly readers?: number;
  readonly deeds?: number;
}

/** People, executions and readers with cut connections on one session; in the end everybody's record is held against the log. */
export async function busyCuts(seed: number, options: BusyCutsOptions = {}): Promise<BusyCuts> {
  const { connectTo = ({ fetch }) => connectInProcess(fetch), scene = openBusyScene(seed), readers: count = 6 } = options;
  const { door, store, random, isTight, faulty } = scene;
  const sessionId = `busy-${seed}`;
  await door.open(sessionId);
  faulty.spoil();
  const tally: Tally = { connections: 0, cuts: 0 };
  const connect = connectTo(door);
  let isOver = false;
  const shared = { connect, random, tally, sessionId, isTight, mayBeAway: true };
  const manners: readonly Manner[] = ["header", "query", "now"];
  const following = Array.from({ length: count }, (_, at) =>
    followWithCuts({ ...shared, isOver: () => isOver, manner: manners[at % 3] ?? "header" }),
  );
  const executing = executeSome({ ...shared, door, seed });
  const [deeds, executions] = await keepBusyUntil(executing, { door, sessionId, random, deeds: options.deeds ?? 25 });
  faulty.heal();
  await keepBusy({ door, sessionId, random, deeds: 0 });
  isOver = true;
  const readers = await Promise.all(following);
  await scene.close();
  const history = await historyOf(store, sessionId);
  const flaws = [
    ...readers.flatMap((reader, at) => flawsOf(reader, history).map((flaw) => `reader ${at} (${manners[at % 3]}): ${flaw}`)),
    ...executions.flatMap((execution, at) => flawsOfExecution(execution, history).map((flaw) => `execution ${at}: ${flaw}`)),
  ];
  const counts = readers.map((reader) => reader.counts).reduce(sumOf);
  return { tally, counts, deeds, events: history.length, executions: executions.length, flaws };
}

/** Executions one after the other; results of their client calls are sent the same way. */
async function executeSome({
  door,
  seed,
  ...shared
}: {
  readonly door: StreamDoor;
  readonly seed: number;
  readonly connect: Connect;
  readonly random: () => number;
  readonly tally: Tally;
  readonly sessionId: string;
  readonly isTight: boolean;
  readonly mayBeAway: boolean;
}): Promise<readonly ExecutionRecord[]> {
  const records: ExecutionRecord[] = [];
  for (let at = 0; at < 4; at++) {
    const input = wordsOf(shared.random, 4).replaceAll("\u0000", "0");
    const record = await executeWithCuts({ ...shared, input, key: `key-${seed}-${at}` });
    records.push(record);
    if (record.complete["status"] !== "awaiting_tool_execution") continue;
    await door.use(shared.sessionId, ({ session }) => answerCalls(session, () => 1)).catch(() => {});
  }
  return records;
}

export async function historyOf(store: SessionStore, session: string, scope = "local"): Promise<readonly DurableEvent[]> {
  const events: DurableEvent[] = [];
  for await (const batch of readHistory(store, { scope, session })) events.push(...batch);
  return events;
}

/** What of a reader's record is not as the log has it. */
export function flawsOf(reader: StrictReader, history: readonly DurableEvent[]): readonly string[] {
  const begins = reader.plain.find(({ type }) => type === "session_snapshot");
  const [first] = reader.durable;
  const expected = begins && first ? history.filter((event) => compareCursors(event, first) >= 0) : begins ? [] : history;
  const violation = findEventViolation(reader.events, { mayLoseDeltas: true, ...(begins ? { joins: true } : {}) });
  return [
    ...reader.flaws,
    ...(violation ? [`event ${violation.at}: ${violation.message}`] : []),
    ...differences(reader.durable, expected),
    ...(begins && first ? gapAfterSnapshot(begins, first, history) : []),
  ];
}

/** What followed the snapshot follows its cursor in the log. */
function gapAfterSnapshot(begins: { readonly [field: string]: unknown }, first: DurableEvent, history: readonly DurableEvent[]): string[] {
  const { cursor } = begins["snapshot"] as { readonly cursor: string };
  const after = Number.parseInt(cursor, 10);
  const next = history.find((event) => event.seq > after);
  return next && compareCursors(next, first) === 0 ? [] : [`after the snapshot at ${cursor} came ${encodeCursor(first)}`];
}

export function differences(got: readonly DurableEvent[], expected: readonly DurableEvent[]): readonly string[] {
  const at = expected.findIndex((event, place) => JSON.stringify(event) !== JSON.stringify(got[place]));
  if (at < 0 && got.length === expected.length) return [];
  const place = at < 0 ? expected.length : at;
  const [mine, logs] = [got[place], expected[place]];
  const name = (event: DurableEvent | undefined): string => (event ? `${event.type} ${encodeCursor(event)}` : "nothing");
  return [`event ${place} of ${expected.length} (got ${got.length}) is ${name(mine)} and in the log ${name(logs)}`];
}

export function flawsOfExecution({ reader, complete, end }: ExecutionRecord, history: readonly DurableEvent[]): readonly string[] {
  const { runId, status } = complete;
  const [first] = reader.durable;
  const last = reader.durable.at(-1);
  if (!first || !last) return ["it has no events"];
  const ofRun = history.filter((event) => event.runId === runId);
  const expected = ofRun.filter((event) => compareCursors(event, last) <= 0);
  const isWhole = status === "awaiting_tool_execution" || last.type === "run_end";
  const messages = (end?.["messages"] ?? []) as readonly Message[];
  const written = expected.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
  const isNotified =
    messages.length === written.length &&
    written.every((one) => messages.some((other) => differenceOf(one, other, "message") === undefined));
  return [
    ...reader.flaws,
    ...differences(reader.durable, expected),
    ...(isWhole ? [] : [`it ended as ${String(status)} after ${last.type}`]),
    ...(isNotified ? [] : [`its end tells ${messages.length} messages, the log ${written.length}`]),
  ];
}

function sumOf(one: ReaderCounts, other: ReaderCounts): ReaderCounts {
  return {
    wholeTexts: one.wholeTexts + other.wholeTexts,
    partTexts: one.partTexts + other.partTexts,
    wholeOutputs: one.wholeOutputs + other.wholeOutputs,
    snapshots: one.snapshots + other.snapshots,
    ephemeral: one.ephemeral + other.ephemeral,
  };
}
