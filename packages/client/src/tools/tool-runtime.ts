/*
 * Owns: which calls that wait for this client run here, each at most once in all tabs, also over reloads, and that each answer arrives.
 * Does not own: how a tool runs (`client-tool`), which calls wait (the session).
 * Invariants
 *  R1 a call runs in the tab that holds its lock; a tab that dies leaves the lock to another one;
 *  R2 before a tool runs that is noted: a tool that may not run twice does not, and its call is answered as interrupted;
 *  R3 the answer is noted before it is sent, and sent under one key until the server has it or no longer wants it.
 */
import type { AgentError, PendingToolCall, Tool, ToolResultMessage } from "@loopwright/core/protocol";
import { isKnownError } from "../client-error.ts";
import { runClientTool } from "../execute/client-tool.ts";
import type { ClientClock } from "../platform.ts";
import { mayPass } from "../send-request.ts";
import type { SessionRequests } from "../session-requests.ts";
import { createBackOff, sleep } from "../stream/back-off.ts";
import type { ToolLocks, ToolNotes } from "./tool-platform.ts";

/** Whether a call may run here: true, or why not. The model reads the reason. */
export type ToolVerdict = true | { readonly deny: string };

/** A call that this page runs, for a screen that shows it. */
export interface RunningCall {
  readonly call: PendingToolCall;
  /** `waiting`: another tab runs it, or `authorise` is asked; `sending`: its answer is on the way. */
  readonly state: "waiting" | "running" | "sending";
}

export interface ToolRuntimeParts {
  readonly sessionId: string;
  readonly tools: readonly Tool[];
  readonly sessions: Pick<SessionRequests, "sendResults">;
  readonly authorise: (call: PendingToolCall) => ToolVerdict | Promise<ToolVerdict>;
  readonly locks: ToolLocks;
  readonly notes: ToolNotes;
  readonly clock: ClientClock;
  readonly random: () => number;
  readonly onChange: (calls: readonly RunningCall[]) => void;
  readonly onError: (error: AgentError) => void;
}

export interface ToolRuntime {
  /** The calls that wait now: new ones begin, those that are gone are given up. `asOf`: the time of the server's clock when they were known to wait. */
  offer(pending: readonly PendingToolCall[], asOf: number): void;
  /** Gives up what runs. */
  close(): void;
}

interface Open {
  readonly call: PendingToolCall;
  readonly ending: AbortController;
  state: RunningCall["state"];
}

type Note = { readonly state: "begun" | "sent" } | { readonly state: "done"; readonly result: ToolResultMessage };

/** Longest answer that is noted: one that is longer is lost with its page. */
const noteCharsMax = 200_000;

export function createToolRuntime(parts: ToolRuntimeParts): ToolRuntime {
  const { sessionId, tools, locks, notes, onChange } = parts;
  const open = new Map<string, Open>();
  const answered = new Set<string>();
  const changed = (): void => onChange([...open.values()].map(({ call, state }) => ({ call, state })));
  const nameOf = (callKey: string): string => `loopwright.call.${sessionId}.${callKey}`;

  const run = async (entry: Open, tool: Tool, timeMs: number | undefined): Promise<void> => {
    const { call, ending } = entry;
    const { signal } = ending;
    const name = nameOf(call.callKey);
    const to = (state: RunningCall["state"]): void => {
      entry.state = state;
      changed();
    };
    try {
      await locks(
        name,
        async () => {
          if (signal.aborted) return;
          const result = await resultOf(parts, { tool, call, timeMs, signal, name, onRun: () => to("running") });
          if (signal.aborted || !result) return;
          to("sending");
          if (!(await sent(parts, { result, signal }))) return;
          answered.add(call.callKey);
          // Another tab may get the lock before it knows that the call is answered.
          write(notes, name, { state: "sent" });
        },
        signal,
      );
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      open.delete(call.callKey);
      changed();
    }
  };

  return {
    offer(pending, asOf) {
      const isPending = (callKey: string): boolean => pending.some((call) => call.callKey === callKey);
      for (const callKey of [...open.keys(), ...answered]) {
        if (isPending(callKey)) continue;
        notes.remove(nameOf(callKey));
        answered.delete(callKey);
        open.get(callKey)?.ending.abort();
      }
      for (const call of pending) {
        const tool = tools.find(({ name }) => name === call.toolName);
        if (!tool?.execute || open.has(call.callKey) || answered.has(call.callKey)) continue;
        const entry: Open = { call, ending: new AbortController(), state: "waiting" };
        open.set(call.callKey, entry);
        changed();
        const timeMs = call.deadline === undefined ? undefined : Math.max(0, call.deadline - asOf);
        void run(entry, tool, timeMs).catch((error: unknown) => {
          if (isKnownError(error)) parts.onError(error);
        });
      }
    },
    close() {
      for (const { ending } of open.values()) ending.abort();
    },
  };
}

interface Attempt {
  readonly tool: Tool;
  readonly call: PendingToolCall;
  readonly timeMs: number | undefined;
  readonly signal: AbortSignal;
  readonly name: string;
  readonly onRun: () => void;
}

/** The answer of the call; `undefined`: it was given up, or another tab has sent it. */
async function resultOf(
  parts: ToolRuntimeParts,
  { tool, call, timeMs, signal, name, onRun }: Attempt,
): Promise<ToolResultMessage | undefined> {
  const { notes, clock, sessionId } = parts;
  const known = noteOf(notes.get(name));
  if (known?.state === "sent") return undefined;
  if (known?.state === "done") return known.result;
  if (known && (tool.replay ?? "once") === "once")
    return failed(call, "TOOL_INTERRUPTED", "The page was closed while it ran, so its outcome is unknown.");
  const verdict = await verdictOf(parts, call);
  if (signal.aborted) return undefined;
  if (verdict !== true) return failed(call, "TOOL_DENIED", verdict.deny.slice(0, 1_000));
  write(notes, name, { state: "begun" });
  onRun();
  const result = await runClientTool({ clock }, { tool, call, timeMs, signal, session: { id: sessionId, messages: () => [] } });
  if (!signal.aborted) write(notes, name, { state: "done", result });
  return result;
}

/** An authoriser that fails denies. */
async function verdictOf({ authorise }: ToolRuntimeParts, call: PendingToolCall): Promise<ToolVerdict> {
  try {
    const verdict = await authorise(call);
    return verdict === true || typeof verdict?.deny === "string" ? verdict : { deny: "The page gave no verdict." };
  } catch (error) {
    return { deny: `The page could not say whether it may run: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** True once the server has the answer or no longer wants it; false where this page gave up. @throws AgentError a refusal that another try cannot change */
async function sent(
  { sessions, sessionId, clock, random, onError }: ToolRuntimeParts,
  { result, signal }: { readonly result: ToolResultMessage; readonly signal: AbortSignal },
): Promise<boolean> {
  const backOff = createBackOff({ random });
  for (;;) {
    try {
      await sessions.sendResults(sessionId, [result], { signal, idempotencyKey: `call-${result.callKey ?? result.toolCallId}` });
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (!isKnownError(error)) throw error;
      if (/^CALL_|^KEY_REUSED$/.test(error.code)) return true;
      if (!mayPass(error)) throw error;
      onError(error);
      await sleep(clock, backOff.next(error.retryAfterMs), signal);
    }
  }
}

function failed({ toolCallId, callKey, toolName }: PendingToolCall, code: string, why: string): ToolResultMessage {
  const content = `${code}: \`${toolName}\` was not run to its end here. ${why}`;
  return { role: "tool_result", toolCallId, callKey, toolName, content, isError: true, outcome: "error", details: { code, reason: why } };
}

function noteOf(text: string | undefined): Note | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Note);
  } catch {
    // It was written by another program: the call counts as begun.
    return { state: "begun" };
  }
}

function write(notes: ToolNotes, name: string, note: Note): void {
  const text = JSON.stringify(note);
  if (text.length <= noteCharsMax) notes.set(name, text);
}
