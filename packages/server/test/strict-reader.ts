import {
  type AgentEvent,
  type AssistantMessage,
  compareCursors,
  type DurableEvent,
  decodeCursor,
  type EphemeralEvent,
  type EventCursor,
  encodeCursor,
  type SessionEvent,
  type SessionSnapshot,
  textOf,
} from "@loopwright/core/protocol";
import { createFrameParser, type Frame } from "./frame-parser.ts";

/** A frame that is no event of a session. */
export interface PlainFrame {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What was checked: a test shows that it was not nothing. */
export interface ReaderCounts {
  /** Answers whose deltas added up to what was committed. */
  wholeTexts: number;
  /** Answers of which the deltas were the beginning: the connection was away when they ended. */
  partTexts: number;
  wholeOutputs: number;
  snapshots: number;
  ephemeral: number;
}

/**
 * A reader that follows the client rule (durable: greater than the last; ephemeral: its lane is open and `n` the next one; a snapshot replaces the
 * lane) and takes nothing for granted: whatever the rule would have to skip or repair within one connection is a flaw of the server.
 */
export interface StrictReader {
  /** Where it stands: what it hands in when it comes back. */
  readonly cursor: string | undefined;
  /** As applied, in order. */
  readonly events: readonly AgentEvent[];
  readonly durable: readonly DurableEvent[];
  readonly plain: readonly PlainFrame[];
  readonly flaws: readonly string[];
  readonly counts: ReaderCounts;
  /** A new connection begins: what the last one left unfinished is gone. */
  connection(): (bytes: Uint8Array) => readonly Frame[];
}

interface Lane {
  n: number;
  /** Everything it sent up to `n` is here, and nothing was missed since. */
  isCurrent: boolean;
  isMine: boolean;
  readonly callKey: string | undefined;
  texts: Map<number, string>;
  thoughts: Map<number, string>;
  args: Map<number, string>;
  output: string;
}

export interface StrictReaderOptions {
  /** Only of this session: for streams that carry several. */
  readonly sessionId?: string;
  /** The stream carries many sessions: frames have no ids, ephemeral ones name their session. */
  readonly isShared?: boolean;
  /** Where it begins. */
  readonly after?: EventCursor;
  /** The server may leave out deltas, because the reader is slow. */
  readonly isSlow?: boolean;
  /**
   * The next server may have received less of an open lane than the one before: it reports again what the reader has, which the rule skips, or shows an
   * older snapshot, which replaces.
   */
  readonly mayLag?: boolean;
}

export function createStrictReader(options: StrictReaderOptions = {}): StrictReader {
  const events: AgentEvent[] = [];
  const durable: DurableEvent[] = [];
  const plain: PlainFrame[] = [];
  const flaws: string[] = [];
  const counts: ReaderCounts = { wholeTexts: 0, partTexts: 0, wholeOutputs: 0, snapshots: 0, ephemeral: 0 };
  const lanes = new Map<number, Lane>();
  const flaw = (text: string): void => void flaws.push(text);
  let last: EventCursor | undefined = options.after;

  function takeDurable(event: DurableEvent, frame: Frame): void {
    const id = encodeCursor(event);
    if (!options.isShared && frame.id !== id) flaw(`the frame of event ${id} has the id ${frame.id ?? "none"}`);
    if (last && compareCursors(event, last) <= 0) {
      flaw(`${event.type} ${id} came after ${encodeCursor(last)}`);
      return;
    }
    last = event;
    durable.push(event);
    events.push(event);
    if (event.type === "message_start" && event.role === "assistant") open(event.seq, undefined);
    if (event.type === "tool_execution_start") open(event.seq, event.callKey);
    if (event.type === "attempt_discarded") closeAnswer(undefined);
    if (event.type === "message_end" && event.message.role === "assistant") closeAnswer(event.message);
    if (event.type === "tool_execution_end") closeTool(event);
  }

  function open(id: number, callKey: string | undefined): void {
    // A tool that is run again states everything anew.
    for (const [other, lane] of lanes) if (callKey !== undefined && lane.callKey === callKey) lanes.delete(other);
    const empty = { texts: new Map(), thoughts: new Map(), args: new Map(), output: "" };
    lanes.set(id, { n: 0, isCurrent: true, isMine: true, callKey, ...empty });
  }

  function closeAnswer(message: AssistantMessage | undefined): void {
    for (const [id, lane] of lanes) {
      if (lane.callKey !== undefined) continue;
      lanes.delete(id);
      if (message) compareText(id, lane, message);
    }
  }

  function compareText(id: number, lane: Lane, message: AssistantMessage): void {
    const written = [...lane.texts.entries()].sort(([a], [b]) => a - b).map(([, text]) => text);
    const committed = textOf(message);
    const text = written.join("");
    const thought = [...lane.thoughts.values()].join("");
    const thinking = message.content.map((part) => (part.type === "thinking" ? part.text : "")).join("");
    const isWhole = lane.isCurrent && lane.n > 0 && !options.isSlow;
    if (isWhole && (text !== committed || thought !== thinking))
      flaw(`lane ${id} said ${JSON.stringify(text.slice(-40))} and the log has ${JSON.stringify(committed.slice(-40))}`);
    else if (!committed.startsWith(text) || !thinking.startsWith(thought)) flaw(`lane ${id} said what the log does not have`);
    if (isWhole && committed !== "") counts.wholeTexts += 1;
    else if (text !== "") counts.partTexts += 1;
  }

  function closeTool(event: Extract<DurableEvent, { readonly type: "tool_execution_end" }>): void {
    for (const [id, lane] of lanes) {
      if (lane.callKey !== event.callKey) continue;
      lanes.delete(id);
      const output = event.output.map((part) => (part.type === "text" ? part.text : "")).join("");
      if (event.outcome !== "ok" || !output.startsWith("count")) continue;
      const isWhole = lane.isCurrent && lane.n > 0 && !options.isSlow;
      if (isWhole && lane.output !== output) flaw(`tool lane ${id} said ${lane.output.length} of ${output.length} characters`);
      else if (!output.startsWith(lane.output)) flaw(`tool lane ${id} said what the log does not have`);
      if (isWhole) counts.wholeOutputs += 1;
    }
  }

  function takeEphemeral(event: EphemeralEvent, frame: Frame): void {
    const name = `${event.type} ${event.n} of lane ${event.lane}`;
    if (frame.id !== undefined) flaw(`${name} has an id`);
    const isSnapshot = event.type === "message_snapshot" || event.type === "tool_execution_snapshot";
    // A reader that begins in the middle of an answer is given all of it.
    if (isSnapshot && durable.length === 0 && !lanes.has(event.lane)) open(event.lane, undefined);
    const lane = lanes.get(event.lane);
    if (options.mayLag && lane && !lane.isMine && !isSnapshot) {
      if (event.n <= lane.n) return;
      lane.isMine = event.n === lane.n + 1;
    }
    const why = whyNot(lane, { n: event.n, isSnapshot });
    if (why !== undefined || !lane) {
      flaw(`${name} came ${why ?? ""}`);
      return;
    }
    counts.ephemeral += 1;
    events.push(event);
    lane.n = event.n;
    lane.isMine = true;
    if (isSnapshot) counts.snapshots += 1;
    apply(lane, event);
  }

  function whyNot(lane: Lane | undefined, { n, isSnapshot }: { readonly n: number; readonly isSnapshot: boolean }): string | undefined {
    if (!lane) return "while the lane was not open";
    const mayBeOlder = options.mayLag && !lane.isMine;
    if (isSnapshot ? n < lane.n && !mayBeOlder : n !== lane.n + 1) return `after number ${lane.n}`;
    return isSnapshot || lane.isMine ? undefined : "before the snapshot of its lane";
  }

  function apply(lane: Lane, event: EphemeralEvent): void {
    const add = (map: Map<number, string>, index: number, delta: string): unknown => map.set(index, (map.get(index) ?? "") + delta);
    switch (event.type) {
      case "text_delta":
        return void add(lane.texts, event.index, event.delta);
      case "thinking_delta":
        return void add(lane.thoughts, event.index, event.delta);
      case "toolcall_start":
        return void lane.args.set(event.index, "");
      case "toolcall_delta":
        if (!lane.args.has(event.index)) flaw(`toolcall_delta ${event.index} came without its call`);
        return void add(lane.args, event.index, event.delta);
      case "toolcall_end": {
        const written = lane.args.get(event.index);
        if (lane.isCurrent && written !== undefined && JSON.stringify(JSON.parse(written)) !== JSON.stringify(event.toolCall.args))
          flaw(`call ${event.toolCall.callKey} was told with other arguments than its deltas`);
        return;
      }
      case "message_snapshot": {
        lane.isCurrent = true;
        lane.args = new Map((event.calls ?? []).map(({ index, argsText }) => [index, argsText]));
        lane.texts = new Map(event.content.map((part, index) => [index, part.type === "text" ? part.text : ""]));
        lane.thoughts = new Map(event.content.map((part, index) => [index, part.type === "thinking" ? part.text : ""]));
        return;
      }
      case "tool_execution_delta":
        lane.output += event.delta;
        return;
      case "tool_execution_snapshot":
        lane.isCurrent = true;
        lane.output = event.output;
        return;
      default:
    }
  }

  function take(frame: Frame, isFirst: boolean): void {
    const event = JSON.parse(frame.data) as SessionEvent | PlainFrame;
    if ((event.type === "error" ? "run_error" : event.type) !== frame.event) flaw(`a frame named ${frame.event} holds ${event.type}`);
    const isUnnamed = !("sessionId" in event) && !("snapshot" in event) && !(options.mayLag && "lane" in event);
    if (isFirst && !options.isShared && isUnnamed) flaw(`the first frame, ${event.type}, does not name the session`);
    if (options.sessionId !== undefined && "sessionId" in event && event["sessionId"] !== options.sessionId) return;
    if (options.isShared && "lane" in event && !("sessionId" in event)) flaw(`${event.type} does not name its session`);
    if ("seq" in event && "k" in event) takeDurable(event as DurableEvent, frame);
    else if ("lane" in event) takeEphemeral(event as EphemeralEvent, frame);
    else {
      plain.push(event as PlainFrame);
      if (event.type === "session_snapshot") begin(event["snapshot"] as SessionSnapshot);
    }
  }

  /** The state of now, in place of the events so far. */
  function begin({ cursor, run }: SessionSnapshot): void {
    last = decodeCursor(cursor);
    if (run?.answering !== undefined) open(run.answering, undefined);
    for (const { lane, callKey } of run?.tools ?? []) open(lane, callKey);
    for (const lane of lanes.values()) lane.isCurrent = false;
  }

  return {
    get cursor() {
      return last && encodeCursor(last);
    },
    events,
    durable,
    plain,
    flaws,
    counts,
    connection() {
      const parser = createFrameParser();
      for (const lane of lanes.values()) {
        lane.isCurrent = false;
        lane.isMine = false;
      }
      let isFirst = true;
      return (bytes) => {
        const frames = parser.push(bytes);
        for (const frame of frames) {
          take(frame, isFirst);
          isFirst = false;
        }
        return frames;
      };
    },
  };
}
