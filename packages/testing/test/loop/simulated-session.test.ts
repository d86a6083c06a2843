import { expect, it } from "vitest";
import { assertEventStream } from "../../src/events/event-stream.ts";
import { simulatedSession } from "../../src/loop/simulated-session.ts";

it("gives the events of a simulated session as a watcher may see them, twice the same", () => {
  let lanes = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const steps = simulatedSession(seed);
    assertEventStream(
      steps.flatMap(({ events }) => events),
      { mayLoseDeltas: true },
    );
    expect(simulatedSession(seed).map(({ events }) => events)).toEqual(steps.map(({ events }) => events));
    lanes += steps.filter((step) => step.lanes().length > 0).length;
  }
  expect(lanes).toBeGreaterThan(100);
});
