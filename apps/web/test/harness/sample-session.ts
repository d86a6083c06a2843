import type { SessionSnapshot, SnapshotMessage } from "@loopwright/core/protocol";
import { everyBlock } from "./sample-text.ts";

const words =
  "the log of a session keeps every fact in order so that a watcher who comes late can read what happened and a runner that died can go on where it was without asking anybody twice".split(
    " ",
  );

const start = Date.UTC(2026, 10, 20, 8, 0, 0);

/** Text of about so many words, the same for the same seed. */
function prose(seed: number, count: number): string {
  let value = seed * 2654435761 + 1;
  const next = (): number => {
    value = (Math.imul(value, 1664525) + 1013904223) >>> 0;
    return value;
  };
  let text = "";
  for (let i = 0; i < count; i++) {
    text += (i === 0 ? "" : next() % 23 === 0 ? ".\n\n" : next() % 11 === 0 ? ", " : " ") + words[next() % words.length];
  }
  return `${text}.`;
}

/** A session with so many messages: questions, answers of many lengths, calls and their results. */
export function longSession(count: number): SessionSnapshot {
  const messages: SnapshotMessage[] = [];
  let parent: string | null = null;
  const add = (message: SnapshotMessage["message"], runId: string): void => {
    const id = String(messages.length + 2);
    messages.push({ id, parent, runId, at: start + messages.length * 45_000, message });
    parent = id;
  };
  for (let run = 0; messages.length < count; run++) {
    const runId = `run${run}`;
    add({ role: "user", content: prose(run, 6 + ((run * 7) % 40)) }, runId);
    if (run % 4 === 1) {
      const callKey = `${runId}.1.0`;
      const call = { type: "tool_call", callKey, id: callKey, name: "read_file", args: { path: `notes/${run}.md` } } as const;
      add(
        { role: "assistant", content: [{ type: "text", text: "I will look." }, call], stopReason: "tool_calls", model: "sample-1" },
        runId,
      );
      add(
        { role: "tool_result", toolCallId: callKey, callKey, toolName: "read_file", content: prose(run + 9, 60), durationMs: 240 },
        runId,
      );
    }
    const text = run % 9 === 4 ? everyBlock : prose(run + 3, 20 + ((run * 37) % 260));
    const usage = { input: 900 + run, output: 200 + run, cacheRead: 4000 };
    add(
      { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", model: "sample-1", usage, cost: { totalUsd: 0.0021 } },
      runId,
    );
  }
  const kept = messages.slice(0, count);
  const head = kept.at(-1)?.id ?? null;
  return {
    sessionId: "sample",
    agent: "assistant",
    status: "idle",
    createdAt: start,
    updatedAt: start,
    cursor: `${kept.length + 2}.0`,
    messages: kept,
    head,
    waiting: [],
  };
}
