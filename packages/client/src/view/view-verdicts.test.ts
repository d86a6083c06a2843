import type { DurableEvent, SessionSnapshot } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { applyEvents } from "./apply-events.ts";
import type { SessionView } from "./session-view.ts";
import { viewOf } from "./view-of.ts";

type Body = DurableEvent extends infer E ? (E extends DurableEvent ? Omit<E, "seq" | "k" | "at" | "sessionId" | "runId"> : never) : never;

const snapshot: SessionSnapshot = {
  ...{ sessionId: "s", agent: "a", status: "idle", createdAt: 0, updatedAt: 0, cursor: "1.0" },
  ...{ messages: [], head: null, waiting: [] },
};

/** The view after these events of one run, each of a fact of its own. */
const after = (...bodies: readonly Body[]): SessionView =>
  applyEvents(
    viewOf(snapshot),
    bodies.map((body, at) => ({ ...body, seq: at + 2, k: 0, at, sessionId: "s", runId: "r" }) as DurableEvent),
  );

const verdict = (point: "accept" | "decide" | "gate" | "run", callKey?: string): Body => ({
  ...{ type: "verdict", hook: "guard", point, action: "edit", reason: "because" },
  ...(callKey === undefined ? {} : { callKey }),
});
const written: Body = { type: "message_end", messageId: "2", parent: null, message: { role: "user", content: "Hi" } };
const start: Body = { type: "run_start", model: "m", provider: "p" };
const call = { type: "tool_call", id: "c", callKey: "r.1.0", name: "erase", args: {} } as const;
const answer = (content: readonly (typeof call | { readonly type: "text"; readonly text: string })[]): Body => ({
  ...{ type: "message_end", messageId: "4", parent: "2" },
  message: { role: "assistant", content, stopReason: "stop" },
});
const text = answer([{ type: "text", text: "Hello" }]);
const edited = (point: string, more: object = {}) => ({ hook: "guard", point, action: "edit", reason: "because", runId: "r", ...more });

it("a verdict on an input or an answer waits for its message, and is kept with it", () => {
  const waiting = after(verdict("accept"));
  expect(waiting.verdicts).toEqual([edited("accept")]);
  const view = after(verdict("accept"), start, written, verdict("decide"), text);
  expect(view.verdicts).toBeUndefined();
  expect(view.path.map(({ verdicts }) => verdicts)).toEqual([[edited("accept")], [edited("decide")]]);
});

it("a verdict on a call is kept with the call", () => {
  const view = after(start, written, answer([call]), verdict("gate", "r.1.0"));
  expect(view.calls.get("r.1.0")?.verdicts).toEqual([edited("gate", { callKey: "r.1.0" })]);
  expect([view.verdicts, view.path.at(-1)?.verdicts]).toEqual([undefined, undefined]);
});

it("what still waits when the run ends belongs to its last message", () => {
  const view = after(start, written, text, verdict("run"), { type: "run_end", status: "completed", reason: "answer" });
  expect(view.path.map(({ verdicts }) => verdicts)).toEqual([undefined, [edited("run")]]);
  expect(view.messages.get("4")).toBe(view.path.at(-1));
});

it("an answer that the application replaces is at no moment a failure of the run, and one that cannot be had is", () => {
  const begun: readonly Body[] = [start, written, { type: "turn_start", turn: 1 }, { type: "message_start", role: "assistant" }];
  const discarded = (code: "ANSWER_WITHDRAWN" | "MODEL_OVERLOADED"): Body => ({
    ...{ type: "attempt_discarded", turn: 1, attempt: 1, code, reason: "A hook replaced it.", willRetry: false },
  });
  expect(after(...begun, discarded("ANSWER_WITHDRAWN")).run).not.toHaveProperty("failure");
  expect(after(...begun, discarded("MODEL_OVERLOADED")).run).toHaveProperty("failure");
});
