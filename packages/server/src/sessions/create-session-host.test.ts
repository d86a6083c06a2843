import { createAgent } from "@loopwright/core";
import { memoryChannel, memoryStore, randomIds, scripted, silentLogger } from "@loopwright/core/memory";
import { manualClock } from "@loopwright/core/testing";
import { expect, it } from "vitest";
import { defaultServerLimits } from "../server-limits.ts";
import { createSessionHost } from "./create-session-host.ts";
import type { HostedSession, SessionHost } from "./session-host.ts";

const principal = { user: "ann", scope: "team" };

function hostOf(sessionsLoaded: number): { readonly host: SessionHost; readonly clock: ReturnType<typeof manualClock> } {
  const clock = manualClock();
  const agent = createAgent({ name: "helper", provider: scripted([]) });
  const options = { agents: [agent], store: memoryStore() };
  const limits = { ...defaultServerLimits, sessionsLoaded };
  return { clock, host: createSessionHost({ options, limits, channel: memoryChannel(), clock, ids: randomIds, logger: silentLogger }) };
}

async function make(host: SessionHost, id: string): Promise<HostedSession> {
  const hosted = await host.create(principal, { id });
  await hosted.session.open();
  return hosted;
}

it("lets go of the session that has rested longest when there are too many, never of one in use", async () => {
  const { host } = hostOf(2);
  const used = await make(host, "used");
  const first = await make(host, "first");
  const second = await make(host, "second");
  expect(host.loaded).toBe(3);
  second.release();
  expect(host.loaded).toBe(2);
  first.release();
  expect(host.loaded).toBe(2);
  const again = await host.open({ scope: "team", session: "used" });
  expect(again.session).toBe(used.session);
  await host.close();
});

it("lets go of a session that nobody has used for a while, and keeps one that was asked for again", async () => {
  const { host, clock } = hostOf(10);
  (await make(host, "left")).release();
  const asked = await make(host, "asked");
  asked.release();
  clock.advance(defaultServerLimits.sessionIdleMs / 2);
  (await host.open({ scope: "team", session: "asked" })).release();
  clock.advance(defaultServerLimits.sessionIdleMs / 2);
  expect(host.loaded).toBe(1);
  const kept = await host.open({ scope: "team", session: "asked" });
  expect(kept.session).toBe(asked.session);
  kept.release();
  clock.advance(2 * defaultServerLimits.sessionIdleMs);
  expect(host.loaded).toBe(0);
});
