import { AgentError } from "@loopwright/core";
import type { RunQueue, SessionRef } from "@loopwright/core/ports";
import type { Dice } from "./dice.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** How often the queue fails a hint. Each a share from 0 to 1. */
export interface QueueFaults {
  readonly lost: number;
  readonly doubled: number;
  readonly late: number;
}

export interface SimulatedQueue {
  viewOf(node: SimulatedNode): RunQueue;
}

interface Worker {
  readonly node: SimulatedNode;
  readonly take: (ref: SessionRef) => Promise<void>;
  readonly concurrency: number;
  busy: number;
  isOn: boolean;
  /** Called when nothing is in progress. */
  readonly idleListeners: (() => void)[];
}

export function createQueue({
  time,
  dice,
  faults,
}: {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly faults: () => QueueFaults;
}): SimulatedQueue {
  const workers: Worker[] = [];
  const waiting: SessionRef[] = [];

  const hand = (): void => {
    const free = workers.filter(({ isOn, node, busy, concurrency }) => isOn && node.state !== "dead" && busy < concurrency);
    if (free.length === 0) return;
    const ref = waiting.shift();
    if (!ref) return;
    const worker = dice.oneOf(free);
    worker.busy += 1;
    worker.node.enter(() => {
      const end = (): void => {
        worker.busy -= 1;
        if (worker.busy === 0) for (const listener of worker.idleListeners.splice(0)) listener();
        hand();
      };
      worker.take(ref).then(end, end);
    });
    hand();
  };
  const put = (ref: SessionRef): void => {
    const { lost, doubled, late } = faults();
    if (dice.chance(lost)) return;
    for (let times = dice.chance(doubled) ? 3 : 1; times > 0; times--)
      time.schedule(dice.chance(late) ? dice.between(100, 20_000) : dice.between(0.2, 5), () => {
        waiting.push(ref);
        hand();
      });
  };
  return {
    viewOf: (node) => ({
      offer: (ref) =>
        node.ask({
          kind: "offer",
          detail: ref.session,
          run: async () => put(ref),
          lost: () => {
            throw new AgentError("QUEUE_UNAVAILABLE", { message: "The simulated queue did not answer." });
          },
        }),
      work(take, { concurrency }) {
        const worker: Worker = { node, take, concurrency, busy: 0, isOn: true, idleListeners: [] };
        workers.push(worker);
        hand();
        return {
          async stop() {
            worker.isOn = false;
            if (worker.busy > 0) await new Promise<void>((resolve) => void worker.idleListeners.push(resolve));
          },
        };
      },
      async close() {
        for (const worker of workers) if (worker.node === node) worker.isOn = false;
      },
    }),
  };
}
