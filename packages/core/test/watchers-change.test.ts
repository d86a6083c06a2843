import { expect, it } from "vitest";
import { execute, type SessionEvent } from "../src/index.ts";
import { memoryStore } from "../src/memory/index.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { calm, deferred, world } from "./harness.ts";

it("a subscriber that begins while a batch is written, just after the last one left, gets what others append meanwhile", async () => {
  const inner = memoryStore();
  const written = deferred();
  const proceed = deferred();
  const slow: SessionStore = {
    ...inner,
    log: {
      ...inner.log,
      append: async (ref, request) => {
        const outcome = await inner.log.append(ref, request);
        written.resolve();
        await proceed.promise;
        return outcome;
      },
    },
  };
  const { session, again } = world([{ text: "one" }, { text: "two" }], { session: { store: inner } });
  await execute(session, "first").result();
  const other = again({ store: slow, drives: false });
  const leave = other.follow({ events() {} });
  await other.ready();
  await calm();
  const renamed = other.change({ title: "seen" });
  await written.promise;
  leave();
  const received: SessionEvent[] = [];
  other.follow({ events: (events) => void received.push(...events) });
  await execute(session, "second").result();
  proceed.resolve();
  await renamed;
  await calm();
  expect(received.some(({ type }) => type === "run_end")).toBe(true);
  await session[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});
