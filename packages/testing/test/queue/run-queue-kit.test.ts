import { memoryQueue } from "@loopwright/core/memory";
import { describe, it } from "vitest";
import { runKit } from "../../src/kit/kit.ts";
import { proveKit } from "../../src/kit/saboteur.ts";
import { runQueueKit } from "../../src/queue/run-queue-kit.ts";
import { queueSaboteurs } from "./run-queue-saboteurs.ts";

describe("the queue in memory keeps every promise", () =>
  runKit(it, runQueueKit, {
    make: async () => {
      const queue = memoryQueue();
      return { queue, other: queue };
    },
  }));
describe("run queue kit", () => proveKit(it, runQueueKit, queueSaboteurs));
