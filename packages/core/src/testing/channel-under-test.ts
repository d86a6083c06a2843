import type { SessionEvent } from "../loop/event.ts";
import type { EventChannel } from "../ports/event-channel.ts";
import type { SessionRef } from "../ports/session-log.ts";
import { expectSame } from "./kit.ts";
import { sampleRef } from "./sample-facts.ts";
import { expectSoon } from "./store-expectation.ts";

/** A fresh channel. */
export interface ChannelUnderTest {
  readonly channel: EventChannel;
  /** How long events may take. Default 2 s. */
  readonly patienceMs?: number;
}

/** Another session of the same scope. */
export const otherRef: SessionRef = { scope: "local", session: "second" };
/** The same id in another scope. */
export const foreignRef: SessionRef = { scope: "other", session: sampleRef.session };

/** Events that can be told apart by their `n`. */
export function deltas(...numbers: readonly number[]): readonly SessionEvent[] {
  return numbers.map((n) => ({ type: "text_delta", lane: 1, n, index: 0, delta: `${n} ` }) as const);
}

/** Hears a session. */
export class Listener {
  readonly heard: unknown[] = [];
  readonly stop: () => void;
  readonly #patienceMs: number;

  constructor({ channel, patienceMs = 2_000 }: ChannelUnderTest, ref: SessionRef) {
    this.#patienceMs = patienceMs;
    this.stop = channel.subscribe(ref, (events) => this.heard.push(...events.map((event) => ("n" in event ? event.n : event.type))));
  }

  async hears(...wanted: readonly number[]): Promise<void> {
    await expectSoon(() => this.heard.length >= wanted.length, { what: `hears ${wanted.length} events`, withinMs: this.#patienceMs });
    expectSame(this.heard, wanted, "events heard");
  }
}
