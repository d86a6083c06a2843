import { type AgentEvent, contextTokensOf, type DurableEvent, type EphemeralEvent, type Message } from "@loopwright/core";
import { addSpent } from "@loopwright/core/protocol";
import { neutralise, oneLine } from "../terminal/neutralise.ts";
import { foldAgents, stepOf } from "./agent-tree.ts";
import { finishBlocks, messageBlocks, reconcile } from "./message-blocks.ts";
import type { Activity, Block, Screen, Tone, ToolBlock } from "./screen.ts";
import { argsText, changeTool, endTool, growOutput, lateTool, outputText, replaceOutput, toolBlock } from "./tool-blocks.ts";

/** The screen after one event. `now` is in milliseconds since the epoch; unknown events change nothing. */
export function foldScreen(screen: Screen, event: AgentEvent, now: number): Screen {
  if ("lane" in event) return withAgents(foldEphemeral(screen, event, now), event);
  return "seq" in event ? withAgents(foldDurable(withSpent(screen, event), event, now), event) : screen;
}

/** With what the event reports as used: by a model call, whether its answer counts or not, by a tool, by a child, or beside them. */
function withSpent(screen: Screen, event: DurableEvent): Screen {
  switch (event.type) {
    case "message_end":
    case "attempt_discarded":
    case "tool_execution_end":
    case "agent_end":
    case "context_compacted":
    case "expense":
      return event.usage || event.cost ? { ...screen, ...addSpent(screen, event) } : screen;
    default:
      return screen;
  }
}

/** With what the event reports of children: their tree, and the step of the call that waits for them. */
function withAgents(screen: Screen, event: DurableEvent | EphemeralEvent): Screen {
  const agents = foldAgents(screen.agents, event);
  const step = stepOf(event);
  const known = agents === screen.agents ? screen : { ...screen, agents };
  return step === undefined || !("callKey" in event) || event.callKey === undefined
    ? known
    : changed(known, event.callKey, (tool) => ({ ...tool, step }));
}

/** The screen with a notice of the program's own. */
export function addNotice(screen: Screen, tone: Tone, lines: readonly string[]): Screen {
  const notice: Block = { kind: "notice", id: `notice-${screen.blocks.length}`, tone, lines: lines.map(neutralise), isDone: true };
  return { ...screen, blocks: [...screen.blocks, notice] };
}

/** The screen of a transcript: what a resumed session shows of its past. */
export function screenOf(screen: Screen, messages: readonly Message[]): Screen {
  let blocks = screen.blocks;
  for (const [place, message] of messages.entries()) blocks = [...blocks, ...messageBlocks(message, `past-${place}`)];
  for (const message of messages) if (message.role === "tool_result") blocks = endTool(blocks, message);
  return { ...screen, blocks: blocks.map((block) => (block.isDone ? block : ({ ...block, isDone: true } as Block))) };
}

function foldDurable(screen: Screen, event: DurableEvent, now: number): Screen {
  switch (event.type) {
    case "run_start":
      return { ...screen, provider: event.provider, model: event.model, activity: "waiting" };
    case "message_start":
      return event.role === "assistant" ? { ...screen, lane: event.seq, activity: "waiting" } : screen;
    case "message_end":
      return endMessage(screen, event, now);
    case "attempt_discarded":
      return discardAttempt(screen, event, now);
    case "retry_scheduled":
      return { ...screen, activity: "retrying", retryAt: event.until };
    case "tool_execution_start":
      return startTool(screen, event, now);
    case "tool_execution_end": {
      const blocks = changeTool(screen.blocks, event.callKey, (tool) => ({
        ...tool,
        phase: "ended",
        isDone: true,
        outcome: event.outcome,
        output: outputText(event.output),
        durationMs: event.durationMs ?? now - tool.since,
      }));
      return { ...screen, blocks };
    }
    case "awaiting_tool_execution": {
      let blocks = screen.blocks;
      for (const call of event.toolCalls) blocks = changeTool(blocks, call.callKey, (tool) => ({ ...tool, phase: "asking" }));
      return { ...screen, blocks, pending: event.toolCalls, activity: "asking" };
    }
    case "approval_requested": {
      const asked = changed(screen, event.callKey, (tool) => ({ ...tool, phase: "asking" }));
      return { ...asked, approvals: [...screen.approvals, event], activity: "asking" };
    }
    case "approval_decided": {
      const decided = changed(screen, event.callKey, (tool) => ({ ...tool, phase: "waiting" }));
      return withoutQuestion(decided, event.callKey);
    }
    case "aborting":
      return { ...screen, activity: "aborting" };
    case "limit_reached":
      return addNotice(screen, "warning", [limitText(event.which, event.value)]);
    case "verdict":
      return isShown(event) ? addNotice(screen, "quiet", [verdictText(event)]) : screen;
    case "context_compacted":
      return addNotice(screen, "quiet", [compactionText(event)]);
    case "run_end":
      return endRun(screen, event, now);
    default:
      return screen;
  }
}

type VerdictEvent = Extract<DurableEvent, { type: "verdict" }>;

type Compacted = Extract<DurableEvent, { type: "context_compacted" }>;

function compactionText({ tokensBefore, tokensAfter }: Compacted): string {
  const sizes =
    tokensBefore === undefined || tokensAfter === undefined ? "" : `: about ${tokensBefore} tokens before, ${tokensAfter} after`;
  return `Older messages were summarised to make room${sizes}.`;
}

/** A change of a request by `prepare` is shown only with a reason. */
const isShown = ({ point, reason }: VerdictEvent): boolean => point !== "prepare" || reason !== undefined;

function verdictText({ hook, point, action, reason }: VerdictEvent): string {
  return `${hook} (${point}): ${action}${reason === undefined ? "" : `, ${reason}`}`;
}

function foldEphemeral(screen: Screen, event: EphemeralEvent, now: number): Screen {
  switch (event.type) {
    case "text_start":
    case "text_delta":
    case "thinking_start":
    case "thinking_delta":
      return growBlock(screen, event, now);
    case "text_end":
    case "thinking_end":
      return { ...screen, blocks: finishBlocks(screen.blocks, (block) => block.id === `${event.lane}.${event.index}`, now) };
    case "toolcall_start":
      return writeCalls(screen, event.lane, { calls: [event], now });
    case "toolcall_end":
      return {
        ...screen,
        blocks: changeTool(screen.blocks, `${event.lane}.${event.index}`, (tool) => ({
          ...tool,
          id: event.toolCall.callKey,
          args: argsText(event.toolCall),
          phase: "waiting",
        })),
      };
    case "message_snapshot":
      return foldSnapshot({ ...screen, lane: event.lane }, event, now);
    case "tool_execution_delta":
      return changed(screen, event.callKey, (tool) => growOutput(tool, event.delta));
    case "tool_execution_snapshot":
      return changed(screen, event.callKey, (tool) => replaceOutput(tool, event.output));
    case "progress":
      return changed(screen, event.callKey, ({ step: _, ...tool }) =>
        event.state === "open" ? { ...tool, step: oneLine(event.title, 60) } : tool,
      );
    default:
      return screen;
  }
}

type MessageSnapshot = Extract<EphemeralEvent, { type: "message_snapshot" }>;

function foldSnapshot(screen: Screen, { lane, content, calls = [] }: MessageSnapshot, now: number): Screen {
  return writeCalls({ ...screen, blocks: reconcile(screen, content, now) }, lane, { calls, now });
}

interface CallsBeingWritten {
  readonly calls: readonly { readonly index: number; readonly toolName: string }[];
  readonly now: number;
}

/** With a block for each call that the model writes, once: a snapshot has those too that are known. */
function writeCalls(screen: Screen, lane: number, { calls, now }: CallsBeingWritten): Screen {
  const isKnown = (place: string): boolean => screen.blocks.some((block) => block.kind === "tool" && block.place === place);
  const fresh = calls.flatMap(({ index, toolName }) => {
    const place = `${lane}.${index}`;
    return isKnown(place) ? [] : [{ ...toolBlock({ id: place, name: toolName, args: "", since: now, phase: "writing" }), place }];
  });
  return fresh.length === 0 ? screen : { ...screen, blocks: [...screen.blocks, ...fresh], activity: "writing" };
}

/** What waited for the person under this key waits no more. */
function withoutQuestion({ pending, approvals, ...screen }: Screen, callKey: string): Screen {
  const isOther = (call: { readonly callKey: string }): boolean => call.callKey !== callKey;
  return { ...screen, pending: pending.filter(isOther), approvals: approvals.filter(isOther) };
}

function changed(screen: Screen, callKey: string, change: (tool: ToolBlock) => ToolBlock): Screen {
  return { ...screen, blocks: changeTool(screen.blocks, callKey, change) };
}

type Growing = Extract<EphemeralEvent, { type: "text_start" | "text_delta" | "thinking_start" | "thinking_delta" }>;

function growBlock(screen: Screen, event: Growing, now: number): Screen {
  const id = `${event.lane}.${event.index}`;
  const kind = event.type.startsWith("text") ? "text" : "thinking";
  const delta = "delta" in event ? neutralise(event.delta) : "";
  const known = screen.blocks.findLastIndex((block) => block.id === id);
  // A reader that joined in the middle has the piece from a snapshot only, which has no index.
  const isOpenLate = (block: Block): boolean => block.kind === kind && !block.isDone && block.id.startsWith(`${event.lane}.late-`);
  const at = known >= 0 || delta === "" ? known : screen.blocks.findLastIndex(isOpenLate);
  const activity = kind === "text" ? "writing" : "thinking";
  const block = screen.blocks[at];
  if (block?.kind === kind) return { ...screen, activity, blocks: screen.blocks.with(at, { ...block, id, text: block.text + delta }) };
  const fresh: Block = kind === "text" ? { kind, id, text: delta, isDone: false } : { kind, id, text: delta, isDone: false, since: now };
  return addBlock(screen, fresh, activity);
}

function addBlock(screen: Screen, block: Block, activity: Activity): Screen {
  return { ...screen, blocks: [...screen.blocks, block], activity };
}

type ToolStart = Extract<DurableEvent, { type: "tool_execution_start" }>;

function startTool(screen: Screen, event: ToolStart, now: number): Screen {
  const start = (tool: ToolBlock): ToolBlock => ({
    ...tool,
    label: oneLine(event.label ?? event.toolName, 60),
    args: neutralise(JSON.stringify(event.args)),
    output: "",
    phase: "running",
    since: now,
  });
  if (screen.blocks.some((block) => block.kind === "tool" && block.id === event.callKey && !block.isDone)) {
    return { ...changed(screen, event.callKey, start), activity: "tools" };
  }
  const fresh = toolBlock({ id: event.callKey, name: event.toolName, args: "", since: now, phase: "running" });
  return addBlock(screen, start(fresh), "tools");
}

type MessageEnd = Extract<DurableEvent, { type: "message_end" }>;

function endMessage(screen: Screen, event: MessageEnd, now: number): Screen {
  const { message } = event;
  if (message.role === "tool_result") {
    const key = message.callKey ?? message.toolCallId;
    return withoutQuestion({ ...screen, blocks: lateTool(endTool(screen.blocks, message), message, now) }, key);
  }
  if (message.role !== "assistant")
    return { ...screen, blocks: [...screen.blocks, ...messageBlocks(message, `message-${event.messageId}`)] };
  const contextTokens = contextTokensOf(event.usage) ?? screen.contextTokens;
  const { lane: _, ...rest } = screen;
  const ended: Screen = {
    ...rest,
    blocks: finishBlocks(reconcile(screen, message.content, now), ({ kind }) => kind === "text" || kind === "thinking", now),
    activity: message.content.some((part) => part.type === "tool_call") ? "tools" : screen.activity,
    ...(contextTokens === undefined ? {} : { contextTokens }),
  };
  if (message.stopReason === "length") return addNotice(ended, "warning", ["The answer was cut off at the length limit."]);
  return message.stopReason === "error" && message.errorMessage ? addNotice(ended, "error", [oneLine(message.errorMessage, 500)]) : ended;
}

/** The blocks with those of a thrown-away attempt ended; calls that it was writing go, because they were never made. */
function closeLane({ blocks, lane }: Screen, now: number): readonly Block[] {
  if (lane === undefined) return blocks;
  const kept = blocks.filter((block) => block.kind !== "tool" || block.isDone || block.phase === "running" || block.phase === "asking");
  return finishBlocks(kept, (block) => block.id.startsWith(`${lane}.`), now);
}

type RunEnd = Extract<DurableEvent, { type: "run_end" }>;

function endRun(screen: Screen, event: RunEnd, now: number): Screen {
  const { retryAt: _, lane: __, ...rest } = screen;
  const ended: Screen = {
    ...rest,
    blocks: finishBlocks(closeLane(screen, now), () => true, now),
    activity: "idle",
    pending: [],
    approvals: [],
  };
  return event.status === "aborted" ? addNotice(ended, "quiet", ["Stopped. What was written so far is kept."]) : ended;
}

type Discarded = Extract<DurableEvent, { type: "attempt_discarded" }>;

function discardAttempt(screen: Screen, event: Discarded, now: number): Screen {
  const closed: Screen = { ...screen, blocks: closeLane(screen, now), activity: event.willRetry ? "waiting" : screen.activity };
  if (event.code !== "ANSWER_WITHDRAWN" || event.willRetry) return addNotice(closed, "warning", [discardedText(event)]);
  // The application has withdrawn what was written: there is nothing to explain where a person has read nothing of it.
  const wasRead = screen.blocks.some(({ kind, id }) => kind === "text" && id.startsWith(`${screen.lane}.`));
  return wasRead ? addNotice(closed, "quiet", [oneLine(event.reason, 200)]) : closed;
}

function discardedText(event: Discarded): string {
  // What follows an attempt that is not made again is the error itself.
  if (!event.willRetry) return `Attempt ${event.attempt} was thrown away.`;
  const why = event.code === "CRASHED" ? "the process that made it died" : oneLine(event.reason, 200).replace(/\.$/, "");
  return `Attempt ${event.attempt} was thrown away: ${why} (${event.code}). It is made again.`;
}

const limitNames: { readonly [which: string]: string } = {
  turns: "model calls",
  toolCalls: "tool calls",
  costUsd: "US dollars",
  durationMs: "milliseconds",
};

function limitText(which: string, value: number): string {
  return `The limit of ${value} ${Object.hasOwn(limitNames, which) ? limitNames[which] : which} is reached.`;
}
