import { systemClock } from "@loopwright/core/memory";
import { expect, test } from "vitest";
import { expectSoon } from "./store-expectation.ts";

/** Runs nothing else of this process for a while. */
function block(ms: number): void {
  const until = systemClock.monotonic() + ms;
  while (systemClock.monotonic() < until);
}

test("a process that was blocked for longer than it may wait still sees what happens in its next turns", async () => {
  let happened = false;
  setImmediate(() => {
    block(200);
    setImmediate(() =>
      setImmediate(() => {
        happened = true;
      }),
    );
  });
  await expectSoon(() => happened, { what: "it happens", withinMs: 60 });
});

test("what never happens is an error that names it", async () => {
  await expect(expectSoon(() => false, { what: "the node receives it", withinMs: 20 })).rejects.toThrow(
    "Not within 20 ms: the node receives it",
  );
});
