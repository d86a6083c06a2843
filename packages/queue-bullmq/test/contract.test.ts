import { runKit, runQueueKit } from "@loopwright/testing";
import { it, onTestFinished } from "vitest";
import { bullQueue } from "../src/index.ts";
import { describeWithRedis } from "./redis-suite.ts";

let tests = 0;

describeWithRedis("the queue over BullMQ keeps the promises of run queues", (redis) => {
  runKit(it, runQueueKit, {
    make: async () => {
      const prefix = `test-${tests++}`;
      const open = () => {
        const queue = bullQueue({ url: redis().url, prefix, deadlineMs: 20_000 });
        onTestFinished(() => queue.close());
        return queue;
      };
      return { queue: open(), other: open(), patienceMs: 10_000 };
    },
  });
});
