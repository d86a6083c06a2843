import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { historyLimits } from "../src/driver/log/read-event-history.ts";
import { type DurableEvent, execute, readHistory } from "../src/index.ts";
import type { Fact } from "../src/loop/fact.ts";
import { weigh } from "../src/message/json-bytes.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { world } from "./harness.ts";

const ref = { scope: "local", session: "s1" };

/** A session of so many messages with so many characters each, in a store that gives a copy of its own to each reader, as one on a disk does. */
async function longSession(
  exchanges: number,
  chars: number,
): Promise<{ readonly store: SessionStore; readonly pages: (readonly Fact[])[] }> {
  const { session, store } = world(Array.from({ length: exchanges }, () => ({ text: "Yes." })));
  for (let count = 0; count < exchanges; count++) await execute(session, `${count} ${"a".repeat(chars)}`).result();
  const pages: (readonly Fact[])[] = [];
  const read: SessionStore["log"]["read"] = async (...args) => {
    const page = structuredClone(await store.log.read(...args));
    pages.push(page);
    return page;
  };
  return { store: { ...store, log: { ...store.log, read } }, pages };
}

function collect(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

describe("the history of a long session", () => {
  it("is read in pages of about 256 KiB, whatever its facts weigh", async () => {
    const { store, pages } = await longSession(40, 60_000);
    for await (const _ of readHistory(store, ref));
    const sizes = pages.map(weigh);
    // What a page weighs is learnt from the one before.
    expect(
      sizes.slice(1).every((size) => size <= 4 * historyLimits.pageBytes),
      String(sizes),
    ).toBe(true);
    expect(pages.flat().map(({ seq }) => seq)).toEqual(pages.flat().map((_, i) => i + 1));
    expect(pages.length).toBeGreaterThan(5);
  });

  it("is not held while a slow reader waits: only its last page is", async () => {
    const { store, pages } = await longSession(40, 60_000);
    const history = readHistory(store, ref);
    const messages: WeakRef<object>[] = [];
    const note = (events: readonly DurableEvent[]): void => {
      for (const event of events) if (event.type === "message_end") messages.push(new WeakRef(event.message));
    };
    for (let page = 0; page < 4; page++) note((await history.next()).value ?? []);
    pages.length = 0;
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    const held = messages.filter((message) => message.deref());
    expect(messages.length).toBeGreaterThan(8);
    expect(held.length).toBeLessThan(messages.length / 2);
    const [next] = (await history.next()).value ?? [];
    expect(next?.seq).toBeGreaterThan(1);
  });
});
