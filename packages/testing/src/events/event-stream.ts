import { type AgentEvent, callsOf, type ExecuteStatus, type Message, type MessageId } from "@loopwright/core";
import { compareCursors, executeStatusOf } from "@loopwright/core/protocol";
import { createRuleNames, type EventToken, endsOf, follow, mayEnd, namesNext, type Rule } from "./event-grammar.ts";
import { createEventLanes, type EventLanes } from "./event-lanes.ts";
import { type EventTree, eventTree, namesIn } from "./event-tree.ts";

export interface EventStreamOptions {
  /** Deltas may be missing: the reader was slow, or came back. Default false. */
  readonly mayLoseDeltas?: boolean;
  /**
   * The stream may begin in the middle of a run. Default: an execution may when it begins no run of its own (`resume`, results, `steer`), the
   * events of a session may.
   */
  readonly joins?: boolean;
  /** Default: the trees in the README of core. */
  readonly tree?: EventTree;
}

/** The first event that may not be where it is: what is wrong, and where. */
export interface EventViolation {
  /** Place in the stream, from 0; its length when the stream ends too early. */
  readonly at: number;
  readonly message: string;
}

/**
 * Looks through the events of one execution (they begin with `session_start`) or of one session. Events of types it does not know are skipped,
 * as every reader must. @throws Error naming the first event that may not be where it is.
 */
export function assertEventStream(events: readonly AgentEvent[], options: EventStreamOptions = {}): void {
  const violation = findEventViolation(events, options);
  if (violation) throw new Error(`Event ${violation.at}: ${violation.message}`);
}

/** The same, as a value; `undefined` when nothing is wrong. */
export function findEventViolation(events: readonly AgentEvent[], options: EventStreamOptions = {}): EventViolation | undefined {
  const { tree = eventTree, mayLoseDeltas = false } = options;
  const isExecution = events[0]?.type === "session_start";
  const joins = options.joins ?? !(isExecution && events.some(beginsRun));
  const root = tree.get(isExecution ? "execution" : "session");
  if (!root) throw new Error("The tree lacks `execution` or `session`.");
  const reader: Reader = {
    known: namesIn(tree),
    seen: new Set(),
    lanes: createEventLanes({ isLossy: mayLoseDeltas, joins }),
    nameOf: createRuleNames(),
    rules: joins ? startsInTheMiddle(root, isExecution) : [root],
    unanswered: new Set(),
    messages: [],
    turn: undefined,
    last: undefined,
    ended: undefined,
    role: undefined,
    id: undefined,
    begun: "nothing",
  };
  for (const [at, event] of events.entries()) {
    const message = flawOf(reader, event, events[at + 1]);
    if (message !== undefined) return { at, message };
  }
  if (!isExecution || reader.rules.some(mayEnd)) return undefined;
  return { at: events.length, message: `the stream ended where ${oneOf(reader.rules)} may come` };
}

const beginsRun = (event: AgentEvent): boolean => event.type === "input_accepted" && event.mode !== "steer";

function startsInTheMiddle(root: Rule, isExecution: boolean): readonly Rule[] {
  if (!isExecution || root.type !== "sequence") return endsOf(root);
  const [start, run, ...rest] = root.items;
  if (!start || !run) return [root];
  return endsOf(run).map((end) => ({ ...root, items: [start, end, ...rest] }));
}

interface Reader {
  readonly known: ReadonlySet<string>;
  /** Opening events so far, for messages that name what is missing. */
  readonly seen: Set<string>;
  readonly lanes: EventLanes;
  readonly nameOf: (rule: Rule) => string;
  rules: readonly Rule[];
  readonly unanswered: Set<string>;
  readonly messages: string[];
  turn: number | undefined;
  last: { readonly seq: number; readonly k: number } | undefined;
  ended: "completed" | "aborted" | "failed" | undefined;
  /** Of the last message that began. */
  role: Message["role"] | undefined;
  /** The id of the message under way, where it is known. */
  id: MessageId | undefined;
  /** What of a run the stream has shown. */
  begun: "nothing" | "part" | "start";
}

function flawOf(reader: Reader, event: AgentEvent, next: AgentEvent | undefined): string | undefined {
  if ("lane" in event) {
    const token = tokenOf(event, undefined);
    const { flaw, isWhole } = reader.lanes.ephemeral(event);
    const order = isWhole && reader.known.has(event.type) ? orderFlaw(reader, token) : undefined;
    return order ?? flaw;
  }
  if (!reader.known.has(event.type)) return undefined;
  return cursorFlaw(reader, event) ?? orderFlaw(reader, tokenOf(event, next)) ?? reader.lanes.durable(event) ?? contentFlaw(reader, event);
}

function cursorFlaw(reader: Reader, event: AgentEvent): string | undefined {
  if (!("seq" in event)) return undefined;
  const { last } = reader;
  reader.last = event;
  return last && compareCursors(event, last) <= 0 ? `got ${event.type} at ${event.seq}.${event.k} after ${last.seq}.${last.k}` : undefined;
}

function orderFlaw(reader: Reader, token: EventToken): string | undefined {
  const ways = reader.rules.flatMap((rule) => follow(rule, token));
  // Ways that have come together again are one: else they would double with every run.
  const next = ways.length > 1 ? [...new Map(ways.map((rule) => [reader.nameOf(rule), rule])).values()] : ways;
  if (next.length === 0) return `got ${written(token)} ${whyNot(reader, token)}`;
  reader.rules = next;
  reader.seen.add(`${token.name} ${token.key}`);
  return undefined;
}

const written = ({ name, key, role }: EventToken): string =>
  role !== undefined ? `${name} of role ${role}` : key === "" ? name : `${name} ${key}`;

function whyNot({ seen, rules }: Reader, { name, key }: EventToken): string {
  const [, part] = /^(.*)_(?:delta|end)$/.exec(name) ?? [];
  const start = `${part}_start`;
  if (part !== undefined && name !== "session_end" && name !== "message_end" && !seen.has(`${start} ${key}`)) return `before ${start}`;
  return `where ${oneOf(rules)} may come`;
}

const oneOf = (rules: readonly Rule[]): string => [...new Set(rules.flatMap(namesNext))].sort().join(", ") || "nothing";

/** A result's `message_start` has no key of its own; the `message_end` behind it has. */
function tokenOf(event: AgentEvent, next: AgentEvent | undefined): EventToken {
  const end = event.type === "message_end" ? event : event.type === "message_start" && next?.type === "message_end" ? next : undefined;
  const callKey = end?.message.role === "tool_result" ? (end.message.callKey ?? end.message.toolCallId) : "";
  if (event.type === "message_start") return { name: event.type, role: event.role, key: event.role === "tool_result" ? callKey : "" };
  if (event.type === "message_end") return { name: event.type, role: event.message.role, key: callKey };
  if (event.type === "awaiting_tool_execution") return { name: event.type, key: event.toolCalls.map((call) => call.callKey).join(" ") };
  if (event.type === "verdict") return { name: event.type, key: "" };
  if (event.type === "agent_start" || event.type === "agent_end" || event.type === "agent_waiting")
    return { name: event.type, role: event.callKey === undefined ? "hook" : "call", key: event.callKey ?? "" };
  if ("callKey" in event) return { name: event.type, key: event.callKey };
  return { name: event.type, key: "index" in event ? `index ${event.index}` : "" };
}

/** What the order alone does not check: turns, answers, sums. */
function contentFlaw(reader: Reader, event: AgentEvent): string | undefined {
  if ("seq" in event && reader.begun === "nothing") reader.begun = "part";
  switch (event.type) {
    case "run_start":
      reader.turn = 0;
      reader.begun = "start";
      reader.ended = undefined;
      return undefined;
    case "turn_start": {
      const { turn } = reader;
      reader.turn = event.turn;
      return turn === undefined || event.turn === turn + 1 ? undefined : `got turn_start of turn ${event.turn} after turn ${turn}`;
    }
    case "message_start":
      reader.role = event.role;
      reader.id = event.messageId;
      return undefined;
    case "message_end":
      return messageFlaw(reader, event);
    case "turn_end": {
      const [unanswered] = reader.unanswered;
      if (unanswered !== undefined) return `got turn_end before the result of ${unanswered}`;
      return reader.turn === undefined || event.turn === reader.turn
        ? undefined
        : `got turn_end of turn ${event.turn} in turn ${reader.turn}`;
    }
    case "run_end":
      reader.ended = event.status;
      return undefined;
    case "session_end":
      // An input that was answered before shows nothing of its run, and its messages again.
      return reader.begun === "nothing" || isSame(reader.messages, event.messages)
        ? undefined
        : "got session_end with other messages than the stream";
    case "execute_complete":
      return completeFlaw(reader, event.status);
    default:
      return undefined;
  }
}

/** A run that waits, or whose session was closed, has no end yet. */
function completeFlaw({ ended, begun }: Reader, status: ExecuteStatus): string | undefined {
  if (ended === undefined)
    return begun === "start" && (status === "completed" || status === "error")
      ? `got execute_complete ${status} before run_end`
      : undefined;
  return status === executeStatusOf(ended) ? undefined : `got execute_complete ${status} after a run that ${ended}`;
}

function messageFlaw(
  { messages, unanswered, role, id }: Reader,
  { message, messageId }: Extract<AgentEvent, { type: "message_end" }>,
): string | undefined {
  if (role !== undefined && role !== message.role) return `got message_end of role ${message.role} for a message of role ${role}`;
  if (id !== undefined && id !== messageId) return `got message_end of ${messageId} for the message ${id}`;
  messages.push(JSON.stringify(message));
  if (message.role === "assistant") for (const { callKey } of callsOf(message)) unanswered.add(callKey);
  if (message.role === "tool_result") unanswered.delete(message.callKey ?? message.toolCallId);
  return undefined;
}

/** Equal in number and content; results may stand in call order. */
function isSame(seen: readonly string[], written: readonly unknown[]): boolean {
  return (
    seen.length === written.length &&
    [...seen].sort().join() ===
      written
        .map((message) => JSON.stringify(message))
        .sort()
        .join()
  );
}
