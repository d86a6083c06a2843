import type { ToolResultMessage } from "@loopwright/core/protocol";
import { turnOfLoop } from "../../host/test/turn-of-loop.ts";
import { type Connect, type Connection, textOfAnswer } from "./connection.ts";
import { createStrictReader, type PlainFrame, type StrictReader } from "./strict-reader.ts";

/** What happened to the connections of a test. */
export interface Tally {
  connections: number;
  /** Cut by the reader, at a byte it had drawn. */
  cuts: number;
}

export interface CutReaderOptions {
  readonly connect: Connect;
  readonly random: () => number;
  readonly tally: Tally;
  /** True once nothing more will happen: the next connection is not cut. */
  readonly isOver: () => boolean;
  /** The server may answer that its store is not there. */
  readonly mayBeAway?: boolean;
  /** The server may leave out deltas within a connection. */
  readonly isTight?: boolean;
  /** One server may have received less of what is being sent than another. */
  readonly mayLag?: boolean;
}

/** How a reader states where it stands: by `Last-Event-ID`, by `?after=`, or at first by `?from=now`. */
export type Manner = "header" | "query" | "now";

/** Bytes until the cut: none, within the first frame, or some frames later. */
const drawCut = (random: () => number): number =>
  random() < 0.08 ? 0 : Math.floor(random() < 0.3 ? random() * 200 : random() * random() * 12_000);

/** Follows a session over connections that are cut at any byte, until nothing more happens. */
export async function followWithCuts(
  options: CutReaderOptions & { readonly sessionId: string; readonly manner: Manner },
): Promise<StrictReader> {
  const { connect, random, tally, isOver, sessionId, manner, isTight = false, mayBeAway = false, mayLag = false } = options;
  const reader = createStrictReader({ isSlow: isTight, mayLag });
  for (let isLast = false; !isLast; ) {
    isLast = isOver();
    const cutAfter = isLast ? Number.POSITIVE_INFINITY : drawCut(random);
    tally.connections += 1;
    const connection = await connect({ ...askFor(sessionId, manner, reader.cursor), cutAfter });
    const isEnd = connection !== undefined && connection.status === 200 && (await readOn(connection, { reader, random, isLast }));
    if (connection?.wasCut ?? true) tally.cuts += isEnd ? 0 : 1;
    if (connection && connection.status !== 200 && connection.status !== 204 && !(mayBeAway && connection.status === 503))
      throw new Error(`The answer was ${connection.status}.`);
    if (isLast && connection === undefined) throw new Error("There was no answer.");
    if (!isEnd) await turnOfLoop();
  }
  return reader;
}

function askFor(sessionId: string, manner: Manner, cursor: string | undefined): { path: string; headers?: { [name: string]: string } } {
  const path = `/api/sessions/${sessionId}/events`;
  if (manner === "now" && cursor === undefined) return { path: `${path}?from=now` };
  if (manner === "query" || (manner === "now" && cursor?.endsWith("3"))) return { path: `${path}?after=${cursor ?? ""}` };
  return { path, ...(cursor === undefined ? {} : { headers: { "Last-Event-ID": cursor } }) };
}

/** True when the session rested, and was to. */
async function readOn(
  connection: Connection,
  { reader, random, isLast }: { readonly reader: StrictReader; readonly random: () => number; readonly isLast: boolean },
): Promise<boolean> {
  const take = reader.connection();
  const idle = random() < 0.3 ? 2 : 0;
  for (let bytes = await connection.read(); bytes; bytes = await connection.read()) {
    const frames = take(bytes);
    if (isLast && frames.some(({ event }) => event === "rest")) {
      await connection.cut();
      return true;
    }
    for (let turns = idle; turns > 0; turns--) await turnOfLoop();
  }
  return false;
}

/** One execution as its caller has it in the end. */
export interface ExecutionRecord {
  readonly reader: StrictReader;
  readonly complete: PlainFrame;
  readonly end: PlainFrame | undefined;
}

/** Sends an input by `POST /api/agent/execute`, again and again the same after every cut, until `execute_complete` has come. */
export async function executeWithCuts(
  options: Omit<CutReaderOptions, "isOver"> & {
    readonly sessionId: string;
    readonly input: string | readonly ToolResultMessage[];
    /** Absent for results: they are their own key. */
    readonly key?: string;
    readonly more?: object;
  },
): Promise<ExecutionRecord> {
  const { connect, random, tally, sessionId, input, key, more, isTight = false, mayBeAway = false, mayLag = false } = options;
  const reader = createStrictReader({ isSlow: isTight, mayLag });
  for (let tries = 0; ; tries++) {
    const { cursor } = reader;
    const headers = {
      ...(key === undefined ? {} : { "Idempotency-Key": key }),
      ...(cursor === undefined ? {} : { "Last-Event-ID": cursor }),
    };
    const cutAfter = tries > 200 ? Number.POSITIVE_INFINITY : drawCut(random);
    tally.connections += 1;
    const body = { sessionId, input, ...more };
    const connection = await connect({ path: "/api/agent/execute", method: "POST", headers, body, cutAfter });
    if (mayBeAway && connection?.status === 503) {
      await turnOfLoop();
      continue;
    }
    if (connection && connection.status !== 200) throw new Error(`The answer was ${connection.status}: ${await textOfAnswer(connection)}`);
    const before = reader.plain.length;
    if (connection) {
      const take = reader.connection();
      for (let bytes = await connection.read(); bytes; bytes = await connection.read()) take(bytes);
    }
    const plain = reader.plain.slice(before);
    const complete = plain.find(({ type }) => type === "execute_complete");
    if (complete) return { reader, complete, end: plain.find(({ type }) => type === "session_end") };
    if (connection?.wasCut ?? true) tally.cuts += 1;
    await turnOfLoop();
  }
}
