import { describe, it } from "vitest";
import { memoryQueue } from "../memory/memory-queue.ts";
import { runKit } from "./kit.ts";
import { runQueueKit } from "./run-queue-kit.ts";
import { queueSaboteurs } from "./run-queue-saboteurs.ts";
import { proveKit } from "./saboteur.ts";

describe("the queue in memory keeps every promise", () =>
  runKit(it, runQueueKit, {
    make: async () => {
      const queue = memoryQueue();
      return { queue, other: queue };
    },
  }));
describe("run queue kit", () => proveKit(it, runQueueKit, queueSaboteurs));
