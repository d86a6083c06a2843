import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import type { Sent } from "../test-server.ts";
import { annesToken, bearer, bensToken, payloadScene, people } from "./payload-scene.ts";

/** Requests of each kind, and how many are timed together. */
const [requests, together] = [2_000, 20];
const differenceMaxMs = 2;

/** Processor time of this thread: what else the machine does is no part of it. */
function usedMs(): number {
  const { user, system } = typeof process.threadCpuUsage === "function" ? process.threadCpuUsage() : process.cpuUsage();
  return (user + system) / 1_000;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

it("T04: what is another scope's costs the time of what does not exist: over 2,000 requests of each the medians differ by less than 2 ms", async () => {
  const limits = { requestsPerMinute: 1_000_000, writesPerMinute: 1_000_000 };
  const { send, ask, writes } = await payloadScene({ authenticate: people, clock: manualClock(), limits });
  const [anne, ben] = [bearer(annesToken), bearer(bensToken)];
  await ask("/api/sessions", { json: { id: "annes", title: "canary" }, headers: anne });
  const { body: file } = await ask("/api/files", { body: "canary", headers: { ...anne, "Content-Type": "text/plain" } });
  const none = `upload-${"0".repeat(64)}`;
  const kinds: readonly (readonly [theirs: string, absent: string, sent: Sent])[] = [
    ["/api/sessions/annes", "/api/sessions/nobys", {}],
    ["/api/sessions/annes/events", "/api/sessions/nobys/events", {}],
    ["/api/sessions/annes/messages", "/api/sessions/nobys/messages", { json: { input: "Hi" } }],
    [`/api/files/${String(file["blob"])}`, `/api/files/${none}`, {}],
  ];
  const before = writes.length;
  const costOf = async (path: string, sent: Sent): Promise<number> => {
    const start = usedMs();
    for (let count = 0; count < together; count++) {
      const response = await send(path, { ...sent, headers: ben });
      if (response.status !== 404) throw new Error(`${path} was answered with ${response.status}.`);
      await response.text();
    }
    return (usedMs() - start) / together;
  };
  for (const [theirs, absent, sent] of kinds) {
    const costs: [number[], number[]] = [[], []];
    for (let round = 0; round < requests / together / kinds.length; round++) {
      // Turn by turn, and each of them first in every second round.
      const order = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
      for (const which of order) costs[which].push(await costOf(which === 0 ? theirs : absent, sent));
    }
    expect(Math.abs(median(costs[0]) - median(costs[1])), theirs).toBeLessThan(differenceMaxMs);
  }
  expect(writes).toHaveLength(before);
}, 120_000);
