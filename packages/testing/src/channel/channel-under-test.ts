import type { EventChannel, SessionEvent, SessionRef } from "@loopwright/core";
import { expectSame } from "../kit/kit.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { sampleRef } from "../samples/sample-facts.ts";

/** A fresh channel. */
export interface ChannelUnderTest {
  readonly channel: EventChannel;
  /** The same channel as another node has it. For promises that need `second node`. */
  readonly secondNode?: EventChannel;
  /**
   * Runs `act`, which publishes on the first node, while the second is cut off, waits for it, and connects the second again. Resolves when what
   * was published meanwhile can no longer arrive by itself. For promises that need `cut`.
   */
  readonly cut?: (act: () => void | Promise<void>) => Promise<void>;
  /** How long events may take. Default 2 s. */
  readonly patienceMs?: number;
}

/** Another session of the same scope. */
export const otherRef: SessionRef = { scope: "local", session: "second" };
/** The same id in another scope. */
export const foreignRef: SessionRef = { scope: "other", session: sampleRef.session };

/** Events that differ by their `n`. */
export function deltas(...numbers: readonly number[]): readonly SessionEvent[] {
  return numbers.map((n) => ({ type: "text_delta", lane: 1, n, index: 0, delta: `${n} ` }) as const);
}

/** Listens to a session. */
export class Listener {
  readonly received: unknown[] = [];
  readonly stop: () => void;
  gaps = 0;
  readonly #patienceMs: number;

  constructor({ channel, patienceMs = 2_000 }: ChannelUnderTest, ref: SessionRef) {
    this.#patienceMs = patienceMs;
    const gap = (): void => {
      this.gaps++;
    };
    this.stop = channel.subscribe(ref, (events) => this.received.push(...events.map((event) => ("n" in event ? event.n : event.type))), {
      gap,
    });
  }

  async receives(...wanted: readonly number[]): Promise<void> {
    await expectSoon(() => this.received.length >= wanted.length, { what: `receives ${wanted.length} events`, withinMs: this.#patienceMs });
    expectSame(this.received, wanted, "events received");
  }
}

const knock = -1;

/** Resolves when a listener on the second node to one of these sessions, or to its scope, receives what the first node publishes in each. */
export async function joined(subject: ChannelUnderTest, ...refs: readonly SessionRef[]): Promise<void> {
  const { channel, patienceMs = 2_000 } = subject;
  const silent = new Set(refs);
  const stops = refs.map((ref) => secondOf(subject).subscribe(ref, () => silent.delete(ref)));
  const knockAll = (): boolean => {
    // A channel between nodes needs a while to connect; what is published until then is lost.
    for (const ref of silent) channel.publish(ref, deltas(knock));
    return silent.size === 0;
  };
  await expectSoon(knockAll, { what: "receives the other node", withinMs: patienceMs });
  for (const stop of stops) stop();
}

/** The events received, without the probes of `joined`. */
export const withoutKnocks = <Received>(received: readonly Received[]): readonly Received[] => received.filter((one) => one !== knock);

/** The channel of the second node. */
export function secondOf({ secondNode }: ChannelUnderTest): EventChannel {
  if (!secondNode) throw new Error("The subject has no second node.");
  return secondNode;
}
