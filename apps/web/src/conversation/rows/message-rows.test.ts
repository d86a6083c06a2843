import { applyEvents, type SessionView, viewOf } from "@loopwright/client";
import type { SessionEvent } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { longSession } from "../../../test/harness/sample-session.ts";
import { scenes } from "../../../test/harness/scenes.ts";
import type { ConversationRow } from "./conversation-row.ts";
import { lastRow } from "./last-row.ts";
import { messageRows } from "./message-rows.ts";

const viewIn = (name: string): SessionView => scenes[name]?.(0).view ?? viewOf(longSession(1));
const rowsOf = (view: SessionView): readonly ConversationRow[] => messageRows(view, []);
const written = (rows: readonly ConversationRow[]): readonly string[] =>
  rows.map((row) =>
    row.kind === "message" ? `${row.entry.message.role} ${row.results.length} ${row.turns.length} ${row.versions.length}` : row.kind,
  );

it("results lie in the row that asked for them, and an answer of two turns ends with the second", () => {
  expect(written(rowsOf(viewIn("sample"))).slice(0, 3)).toEqual(["user 0 0 1", "assistant 3 0 0", "assistant 0 2 1"]);
});

it("an answer that was made again has its versions", () => {
  expect(written(rowsOf(viewIn("sample"))).slice(3)).toEqual(["user 0 0 1", "assistant 0 1 2"]);
});

it("an answer has no end as long as its run is open", () => {
  expect(written(rowsOf(viewIn("running")))).toEqual(["user 0 0 1", "assistant 1 0 0"]);
});

it("rows with the same content are the same objects when a message is added", () => {
  const view = viewOf(longSession(20));
  const before = messageRows(view, []);
  const after = messageRows(applyEvents(view, answerEvents(view).slice(0, 3)), before);
  expect(after.length).toBe(before.length + 1);
  expect(after.slice(0, before.length).every((row, place) => row === before[place])).toBe(true);
});

it("keys are unique, and an answer keeps its key when it becomes a message", () => {
  const view = viewOf(longSession(200));
  expect(new Set(rowsOf(view).map(({ key }) => key)).size).toBe(rowsOf(view).length);
  const events = answerEvents(view);
  const live = applyEvents(view, events.slice(0, -1));
  expect(lastRow(live)).toMatchObject({ kind: "answer" });
  const done = applyEvents(live, events.slice(-1));
  expect(rowsOf(done).at(-1)?.key).toBe(lastRow(live)?.key);
});

it("the first message of each day begins it", () => {
  const days = rowsOf(viewOf(longSession(4000))).filter((row) => row.kind === "message" && row.beginsDay);
  expect(days.length).toBeGreaterThan(1);
  expect(days.length).toBeLessThan(5);
});

it("below the messages stands the answer, the work, the end of the run, or nothing", () => {
  const view = viewOf(longSession(2));
  const events = answerEvents(view);
  expect(lastRow(view)).toBeUndefined();
  expect(lastRow(applyEvents(view, events.slice(0, 4)))).toMatchObject({ kind: "work" });
  expect(lastRow(applyEvents(view, events.slice(0, 5)))).toMatchObject({ kind: "answer", isContinued: false });
  expect(lastRow(viewIn("failed"))).toMatchObject({ kind: "end" });
  // A call that runs shows it by itself.
  expect(lastRow(viewIn("running"))).toBeUndefined();
});

it("a partial answer that was stopped bears its own mark", () => {
  const view = viewIn("sample");
  const end = { runId: "r3", status: "aborted", reason: "user" } as const;
  expect(lastRow({ ...view, lastRun: end })).toBeUndefined();
  expect(lastRow({ ...view, lastRun: { ...end, status: "failed" } })).toMatchObject({ kind: "end" });
  expect(lastRow({ ...view, lastRun: { ...end, runId: "other" } })).toBeUndefined();
});

function answerEvents({ head }: SessionView): readonly SessionEvent[] {
  const place = { k: 0, at: Date.UTC(2026, 10, 20, 8, 30), sessionId: "sample", runId: "live" };
  return [
    { ...place, seq: 9001, type: "input_accepted", inputId: "i", mode: "enqueue" },
    { ...place, seq: 9002, type: "run_start", model: "m", provider: "p" },
    { ...place, seq: 9003, type: "message_end", messageId: "9003", parent: head, message: { role: "user", content: "Go" } },
    { ...place, seq: 9004, type: "turn_start", turn: 1 },
    { ...place, seq: 9005, type: "message_start", role: "assistant" },
    {
      ...place,
      seq: 9006,
      type: "message_end",
      messageId: "9006",
      parent: "9003",
      message: { role: "assistant", content: [{ type: "text", text: "Done." }], stopReason: "stop" },
    },
  ];
}
