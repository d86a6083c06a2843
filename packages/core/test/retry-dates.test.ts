import { expect, it } from "vitest";
import { execute } from "../src/index.ts";
import { manualClock } from "../src/testing/manual-clock.ts";
import { calm, world } from "./harness.ts";

it("a handle that does not own the session sets itself no timer for a retry that its owner has left behind", async () => {
  const { session, again } = world([{ error: "MODEL_OVERLOADED" }, { text: "never asked for" }]);
  execute(session, "go");
  await calm();
  const clock = manualClock();
  const other = await again({ clock }).ready();
  clock.advance(120_000);
  await other.change({ title: "seen" });
  await calm();
  expect(clock.pending).toBe(0);
});
