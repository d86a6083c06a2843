/*
 * Owns: time that passes only when nothing is left to do now. Events run one at a time in order of their moment; before the next one every
 * promise that is ready has been followed to its end.
 * Does not own: what happens (nodes, store, clients).
 */

/** Time of a simulated world. */
export interface VirtualTime {
  /** Milliseconds since the beginning. */
  readonly nowMs: number;
  /** Runs once after so long; events of one moment in the order in which they were planned. Returns what cancels it. */
  schedule(delayMs: number, run: () => void): () => void;
  /** Time stands still while this real work is under way, for at most so many real milliseconds. */
  hold(work: Promise<unknown>): void;
  /** Lets events happen until `isDone`, until nothing is planned, or until the moment `untilMs`. @throws RangeError when time stands still */
  pass(options: { readonly isDone?: () => boolean; readonly untilMs: number }): Promise<void>;
  /** Events that have run. */
  readonly eventCount: number;
  /** How often real work took longer than anybody waits: then the same seed may go another way. */
  readonly lateCount: number;
}

interface Planned {
  readonly atMs: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** Events of one moment: more of them is something that never ends. */
const standingMax = 20_000;
/** After so many events the process gets a turn for what is real: timers, signals, messages. */
const eventsPerTurn = 5_000;

export function createVirtualTime({ realWaitMs }: { readonly realWaitMs: number }): VirtualTime {
  const heap = createHeap();
  const held = new Set<Promise<unknown>>();
  let nowMs = 0;
  let order = 0;
  let eventCount = 0;
  let lateCount = 0;
  let standing = 0;

  const waitForReal = async (): Promise<void> => {
    while (held.size > 0) {
      if (await isStillOpen(held, realWaitMs)) {
        lateCount += 1;
        held.clear();
      }
      await allReady();
    }
  };

  return {
    get nowMs() {
      return nowMs;
    },
    schedule(delayMs, run) {
      const planned: Planned = { atMs: nowMs + Math.max(0, delayMs), order: order++, run };
      heap.push(planned);
      return () => {
        planned.run = undefined;
      };
    },
    hold(work) {
      held.add(work);
      const end = (): void => void held.delete(work);
      work.then(end, end);
    },
    async pass({ isDone, untilMs }) {
      await allReady();
      for (;;) {
        if (held.size > 0) await waitForReal();
        if (isDone?.()) return;
        const next = heap.peek();
        if (!next || next.atMs > untilMs) {
          nowMs = Math.max(nowMs, Math.min(untilMs, next ? untilMs : nowMs));
          return;
        }
        heap.pop();
        if (!next.run) continue;
        standing = next.atMs > nowMs ? 0 : standing + 1;
        if (standing > standingMax) throw new RangeError(`Time stands still at ${nowMs} ms: something happens again and again in no time.`);
        nowMs = next.atMs;
        eventCount += 1;
        next.run();
        await allReady();
        if (eventCount % eventsPerTurn === 0) await oneTurn();
      }
    },
    get eventCount() {
      return eventCount;
    },
    get lateCount() {
      return lateCount;
    },
  };
}

/** Resolves once every promise that is ready, and every one that these make ready, has been followed. */
function allReady(): Promise<void> {
  // A tick that is asked for among promises comes when no promise is ready any more.
  return Promise.resolve().then(() => new Promise((resolve) => process.nextTick(resolve)));
}

function oneTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function isStillOpen(held: ReadonlySet<Promise<unknown>>, realWaitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), realWaitMs);
    const end = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    for (const work of held) work.then(end, end);
  });
}

interface Heap {
  push(planned: Planned): void;
  peek(): Planned | undefined;
  pop(): void;
}

const isBefore = (a: Planned, b: Planned): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** A binary heap, the soonest first. */
function createHeap(): Heap {
  const items: Planned[] = [];
  const sink = (): void => {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const [one, other] = [items[left], items[left + 1]];
      if (!one) return;
      const child = other && isBefore(other, one) ? left + 1 : left;
      const [above, below] = [items[at], items[child]];
      if (!above || !below || isBefore(above, below)) return;
      items[at] = below;
      items[child] = above;
      at = child;
    }
  };
  return {
    peek: () => items[0],
    push(planned) {
      let at = items.push(planned) - 1;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        const above = items[parent];
        if (!above || isBefore(above, planned)) return;
        items[at] = above;
        items[parent] = planned;
        at = parent;
      }
    },
    pop() {
      const last = items.pop();
      if (!last || items.length === 0) return;
      items[0] = last;
      sink();
    },
  };
}
