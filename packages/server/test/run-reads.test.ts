import { createSession, execute } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { SessionStore } from "@loopwright/core/ports";
import type { DurableEvent } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { scriptedAgent, testServer } from "./test-server.ts";

const ref = { scope: "local", session: "a" };

it("the view of a run reads the facts of that run, wherever it stands in a session of 2,000 facts", async () => {
  const real = memoryStore();
  const agent = scriptedAgent();
  const session = createSession({ agent, store: real, id: ref.session, access: { user: "local", scope: ref.scope } });
  const runIds: string[] = [];
  for (let lastSeq = 0; lastSeq < 2_000; { lastSeq } = await real.log.head(ref))
    runIds.push((await execute(session, `Question ${runIds.length}`).result()).runId ?? "");
  await session[Symbol.asyncDispose]();
  let facts = 0;
  const read: SessionStore["log"]["read"] = async (of, range) => {
    const page = await real.log.read(of, range);
    facts += page.length;
    return page;
  };
  const { ask, refused, server } = testServer({ agents: [agent], store: { ...real, log: { ...real.log, read } } });
  await ask("/api/sessions/a");
  for (const place of [0, 1, Math.floor(runIds.length / 2), runIds.length - 1]) {
    facts = 0;
    const { body } = await ask<{ readonly events: readonly DurableEvent[]; readonly next?: string }>(
      `/api/sessions/a/runs/${runIds[place]}`,
    );
    expect(body.next).toBeUndefined();
    expect([body.events[0]?.type, body.events.at(-1)?.type]).toEqual(["input_accepted", "run_end"]);
    expect(body.events.every(({ runId }) => runId === runIds[place])).toBe(true);
    expect(JSON.stringify(body.events)).toContain(`Question ${place}"`);
    expect(facts).toBeLessThanOrEqual(32);
  }
  facts = 0;
  expect(await refused("/api/sessions/a/runs/none")).toMatchObject({ status: 404, code: "RUN_NOT_FOUND" });
  expect(facts).toBe(0);
  await server.close();
});
