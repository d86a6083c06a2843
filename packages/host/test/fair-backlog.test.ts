import { createAgent } from "@loopwright/core";
import { manualClock, memoryChannel, memoryQueue, memoryStore, scripted, silentLogger } from "@loopwright/core/memory";
import { expect, it, onTestFinished } from "vitest";
import { createHost, createRuntime, createWorker } from "../src/index.ts";
import { runClock, until } from "./turn-of-loop.ts";

/** Long tests queue as many runs as a tenant that imports a list of documents. */
const backlog = Number(process.env["LOOPWRIGHT_BACKLOG"] ?? 300);

it("a tenant with a long backlog of runs does not hold up the runs of another tenant", async () => {
  const clock = manualClock();
  const shared = { store: memoryStore({ clock }), queue: memoryQueue(), channel: memoryChannel(), clock, logger: silentLogger };
  const asked: string[] = [];
  const provider = scripted(({ messages }) => {
    asked.push(JSON.stringify(messages).includes("quiet") ? "quiet" : "busy");
    return { text: "Done." };
  });
  const runtimeOf = () => createRuntime({ ...shared, agents: [createAgent({ name: "helper", provider })] });
  const server = createHost({ runtime: runtimeOf(), role: "server" });
  onTestFinished(() => server.close());
  const queue = async (scope: string, count: number): Promise<void> => {
    for (let at = 0; at < count; at++) {
      const { session, release } = await server.sessions.create({ user: "ann", scope }, { id: `s${at}` });
      await session.submit(scope);
      release();
    }
  };
  await queue("busy", backlog);
  await queue("quiet", 5);
  const worker = createWorker({ runtime: runtimeOf(), limits: { workerSessions: 2 } });
  onTestFinished(() => worker.close());
  onTestFinished(runClock(clock, 10));
  await until(() => asked.filter((scope) => scope === "quiet").length === 5, "the runs of the other tenant are done");
  // Its fair share is every second run; two are in progress at once, and the first sweep may take some by itself.
  expect(asked.lastIndexOf("quiet")).toBeLessThan(2 * 5 + 4);
  await until(() => asked.length >= backlog + 5, "the backlog is done");
});
