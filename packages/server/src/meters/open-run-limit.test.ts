import { createAgent, createSession } from "@loopwright/core";
import { manualClock, memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { failingStore } from "../../../host/test/failing-store.ts";
import { turnOfLoop } from "../../../host/test/turn-of-loop.ts";
import { createOpenRuns } from "./open-run-limit.ts";

const principal = { user: "ann", scope: "team" };
const agent = createAgent({ name: "helper", provider: scripted([{ text: "One." }, { text: "Two." }]) });

it("forgets a session whose inputs were all refused or answered, whatever order they ended in", async () => {
  const runs = createOpenRuns(1);
  const session = createSession({ agent, access: principal, store: memoryStore() });
  const good = runs.admit({ principal, session }, () => session.submit("Hi."));
  const bad = runs.admit({ principal, session }, () => session.submit("Hi.", { parent: "99" }));
  await expect(bad).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await good;
  while (!session.isResting) await turnOfLoop();
  const other = createSession({ agent, access: principal, store: memoryStore() });
  await expect(runs.admit({ principal, session: other }, () => other.submit("Hi."))).resolves.toMatchObject({ replayed: false });
});

it("forgets a session that was lost while a second input was on its way", async () => {
  const runs = createOpenRuns(1);
  const store = failingStore(memoryStore());
  const clock = manualClock();
  const session = createSession({ agent, access: principal, store, logger: silentLogger, clock });
  await runs.admit({ principal, session }, () => session.submit("Hi."));
  store.state = "failing";
  const again = expect(runs.admit({ principal, session }, () => session.submit("Again."))).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
  });
  for (let second = 0; second < 20; second++) {
    await turnOfLoop();
    clock.advance(1_000);
  }
  await again;
  const other = createSession({ agent, access: principal, store: memoryStore() });
  await expect(runs.admit({ principal, session: other }, () => other.submit("Hi."))).resolves.toMatchObject({ replayed: false });
});
