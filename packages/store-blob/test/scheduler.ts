/*
 * Runs actors whose requests to a shared place wait until they are chosen: every order of the requests can be tried.
 */

/** One request that waits for its turn. */
interface Waiting {
  readonly actor: string;
  readonly go: () => void;
}

/** Decides which of the waiting actors continues; given their names in the order of their start. */
export type Choose = (waiting: readonly string[]) => number;

export class Scheduler {
  readonly #waiting: Waiting[] = [];
  #isOver = false;

  /** To be waited for before a request of the actor is served. */
  turn(actor: string): Promise<void> {
    return this.#isOver ? Promise.resolve() : new Promise((go) => this.#waiting.push({ actor, go }));
  }

  /** Lets requests through one after the other, as chosen, until all the work is done. Gives the order. */
  async run(work: readonly Promise<unknown>[], choose: Choose): Promise<readonly string[]> {
    const order: string[] = [];
    let isDone = false;
    const all = Promise.allSettled(work).then(() => {
      isDone = true;
    });
    for (;;) {
      await idle();
      if (isDone) break;
      if (this.#waiting.length === 0) {
        // Between two requests an actor may pause, by the real clock.
        await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 1))]);
        continue;
      }
      // An actor's own requests come in the order in which it made them.
      const actors = [...new Set(this.#waiting.map(({ actor }) => actor))].sort();
      const actor = actors[choose(actors)];
      const [chosen] = this.#waiting.splice(
        this.#waiting.findIndex((one) => one.actor === actor),
        1,
      );
      if (!chosen) throw new Error("Nobody was chosen.");
      order.push(chosen.actor);
      chosen.go();
    }
    // Work in the background need not wait any more.
    this.#isOver = true;
    for (const { go } of this.#waiting.splice(0)) go();
    return order;
  }
}

/** Every promise that could settle has. */
function idle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Tries every sequence of choices, by depth first; gives how many there were. */
export async function everyOrder(
  attempt: (choose: Choose) => Promise<void>,
  ordersMax: number = Number.POSITIVE_INFINITY,
): Promise<number> {
  const path: { chosen: number; readonly of: number }[] = [];
  for (let orders = 1; ; orders++) {
    let depth = 0;
    await attempt((waiting) => {
      path[depth] ??= { chosen: 0, of: waiting.length };
      const step = path[depth++];
      return step?.chosen ?? 0;
    });
    path.length = depth;
    // The last step that has another choice takes it; what comes after begins anew.
    for (let last = path.at(-1); last && last.chosen + 1 >= last.of; last = path.at(-1)) path.pop();
    const last = path.at(-1);
    if (!last || orders >= ordersMax) return orders;
    last.chosen++;
  }
}
