import { expect, it } from "vitest";
import { defineTool, execute } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { calm, type Deferred, deferred, howStands, world } from "./harness.ts";

const pick = defineTool({ name: "pick", description: "Asks the client.", parameters: { type: "object" } });

/** A store whose next reading after `hold` has looked already, and answers when it is let through. */
function lateStore(inner: SessionStore): { store: SessionStore; hold: () => { readonly reached: Promise<void>; letThrough: () => void } } {
  let held: { readonly reached: Deferred<void>; readonly gate: Deferred<void> } | undefined;
  const read: SessionStore["log"]["read"] = async (ref, options) => {
    const facts = await inner.log.read(ref, options);
    const mine = held;
    held = undefined;
    mine?.reached.resolve();
    await mine?.gate.promise;
    return facts;
  };
  const hold = (): { readonly reached: Promise<void>; letThrough: () => void } => {
    const mine = { reached: deferred(), gate: deferred() };
    held = mine;
    return { reached: mine.reached.promise, letThrough: () => mine.gate.resolve() };
  };
  return { store: { ...inner, log: { ...inner.log, read } }, hold };
}

it("what comes while another's reading is under way is judged by what the log has by then, not by what that reading has seen", async () => {
  const inner = memoryStore();
  const { session, again } = world([{ calls: [{ name: "pick", args: {}, id: "c1" }] }, { text: "Thanks." }], {
    tools: [pick],
    session: { store: inner },
  });
  await session.open();
  const late = lateStore(inner);
  const other = await again({ store: late.store, drives: false }).ready();
  const { reached, letThrough } = late.hold();
  const renamed = other.change({ title: "Colours" });
  await reached;
  // The reading for the new title has seen nothing of the run that begins now, and of its question.
  execute(session, "Which colour?");
  while (session.pendingToolCalls.length === 0) await calm();
  const answered = other.submit([{ role: "tool_result", toolCallId: "c1", content: "red" }]);
  letThrough();
  await renamed;
  expect(await howStands(answered)).toBe("resolved");
});
