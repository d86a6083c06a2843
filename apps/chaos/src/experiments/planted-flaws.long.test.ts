import { redisMissing } from "@loopwright/simulator/node";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { filesGround, sqliteGround } from "../world/ground.ts";
import { damagedSession } from "./damaged-session.ts";
import { type Experiment, isWithin } from "./experiment.ts";
import { redirects } from "./redirects.ts";
import { removals } from "./removals.ts";
import { restoredStore } from "./restored-store.ts";
import { timedKills } from "./timed/timed-kills.ts";
import { trees } from "./trees.ts";

/** The failures that the experiment reports, as one text. */
async function complaintsOf(experiment: Experiment): Promise<string> {
  const { failures, figures } = await experiment.run(1, () => {});
  const bad = figures.filter((figure) => !isWithin(figure)).map(({ name, value }) => `${name}: ${value}`);
  return [...failures, ...bad].join("\n");
}

// Processes read the sources, as tests do.
beforeEach(() => void vi.stubEnv("NODE_OPTIONS", "--conditions=@loopwright/source"));
afterEach(() => void vi.unstubAllEnvs());

describe("a flaw that is planted in real processes is found:", () => {
  it("a transport that follows redirects", { timeout: 120_000 }, async () => {
    expect(await complaintsOf(redirects({ count: 5, flaw: "follows redirects" }))).toMatch(/requests that came there: [1-9]/);
  });

  it("payloads that outlive their session", { timeout: 120_000 }, async () => {
    expect(await complaintsOf(removals({ ground: filesGround, nodes: 1, sessions: 4, flaw: "keeps blobs" }))).toMatch(
      /was removed and its payload sha256-\w+ can be read/,
    );
  });

  it("one damaged session that stops the sweeps", { timeout: 120_000 }, async () => {
    const experiment = damagedSession({
      ground: filesGround,
      nodes: 1,
      sessions: 3,
      restMs: 8_000,
      flaw: "one damaged session fails every sweep",
    });
    expect(await complaintsOf(experiment)).toMatch(/does not show as completed: d1/);
  });

  it("a tool of a grandchild that runs once and is started twice, and parents that count more than their children spent", {
    timeout: 240_000,
  }, async () => {
    const few = { ground: sqliteGround, sessions: 2, kills: 1 };
    const [twice, more] = await Promise.all(
      (["pays twice", "reports more usage"] as const).map((flaw) => complaintsOf(trees({ ...few, flaw }))),
    );
    expect(twice).toMatch(/child-\w+: I5: the tool of \S+ runs once and was started 2 times/);
    expect(more).toMatch(/I16: the child child-\w+ spent \d+ tokens .* and its parent counts \d+/);
  });

  it("schedules that fire twice for one date", { timeout: 120_000 }, async () => {
    const few = { sessions: 1, schedulesPerSession: 2, everyMs: 1_000, firings: 4, kills: 0, pauses: 0 };
    const complaints = await complaintsOf(timedKills({ ...few, ground: sqliteGround, nodes: 1, flaw: "fires twice" }));
    expect(complaints).toMatch(/t0: I17: the schedule p1 fired 2 times for \d+/);
  });

  it.skipIf(redisMissing() !== undefined)("nodes that drive a Redis which went back", { timeout: 180_000 }, async () => {
    const complaints = await complaintsOf(restoredStore({ sessions: 3, flaw: "drives a store that went back" }));
    expect(complaints).toMatch(/I5: the call \S+ of b\d runs once and was started 2 times/);
  });
});
