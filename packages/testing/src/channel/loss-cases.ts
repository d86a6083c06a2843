import type { EventChannel, SessionEvent } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { sampleRef } from "../samples/sample-facts.ts";
import { type ChannelUnderTest, deltas, joined, Listener, secondOf } from "./channel-under-test.ts";

const [second, cut, recall] = ["second node", "cut", "recall"];
/** So much at once that a channel may have to drop some of it. */
const burst = { batches: 200, eventsPerBatch: 100, deltaCharacters: 100 };
/** So much takes a while on a busy machine. */
const withinMs = (patienceMs = 0): number => Math.max(2_000, patienceMs);
/** Characters of two, three and four bytes. */
const wide = "é漢😀";

/** Publishes a burst at once; the listener receives all of it in order, or a gap. */
async function expectAllOrGap({ channel, patienceMs }: ChannelUnderTest, listener: Listener): Promise<void> {
  const total = burst.batches * burst.eventsPerBatch;
  const { gaps, received } = listener;
  const before = received.length;
  const text = "x".repeat(burst.deltaCharacters);
  for (let batch = 0; batch < burst.batches; batch++) {
    const numbers = Array.from({ length: burst.eventsPerBatch }, (_, index) => batch * burst.eventsPerBatch + index + 1);
    channel.publish(
      sampleRef,
      deltas(...numbers).map((event) => ({ ...event, delta: text })),
    );
  }
  // What comes after the burst shows that nothing of it is still on its way.
  const speak = (): boolean => {
    if (received.at(-1) === total + 1) return true;
    channel.publish(sampleRef, deltas(total + 1));
    return false;
  };
  await expectSoon(speak, { what: "receives what is sent after a burst", withinMs: withinMs(patienceMs) });
  const all = received
    .slice(before)
    .map(Number)
    .filter((n) => n > 0 && n <= total);
  const isWhole = all.length === total && all.every((n, index) => n === index + 1);
  expectThat(isWhole || listener.gaps > gaps, `${all.length} of ${total} events were received, and no gap was reported`);
  expectThat(
    all.every((n, index) => index === 0 || n > (all[index - 1] ?? 0)),
    "events of the burst came twice or out of order",
  );
}

/** Texts that no border of a frame, wherever it is, leaves whole; halves of a character apart; many small ones. */
function wideSamples(): readonly (readonly SessionEvent[])[] {
  const ends = [0, 1, 2, 3].map((index) => [
    { type: "text_end", lane: 4, n: 1 + index, index, text: "x".repeat(index) + wide.repeat(30_000) } as const,
  ]);
  const halves = ["\ud83d", "\ude00"].map((delta, index) => [{ type: "text_delta", lane: 4, n: 5 + index, index: 0, delta } as const]);
  const small = Array.from(
    { length: 2_000 },
    (_, index) => ({ type: "text_delta", lane: 4, n: 7 + index, index: 0, delta: wide }) as const,
  );
  return [...ends, ...halves, small];
}

/** What is promised where something may be lost: nothing in silence, and no character torn. */
export const lossCases: StoreKit<ChannelUnderTest> = [
  {
    id: "burst",
    promise: "a burst of 20,000 events is received whole and in order, or the listener is notified that something may be missing",
    async run(make) {
      const subject = await make();
      await expectAllOrGap(subject, new Listener(subject, sampleRef));
    },
  },
  {
    id: "nodes-burst",
    needs: [second],
    promise: "another node receives a burst of 20,000 events whole and in order, or is notified that something may be missing",
    async run(make) {
      const subject = await make();
      const listener = new Listener({ ...subject, channel: secondOf(subject) }, sampleRef);
      await joined(subject, sampleRef);
      await expectAllOrGap(subject, listener);
    },
  },
  {
    id: "nodes-gap-again",
    needs: [second, cut],
    promise:
      "a node is notified again and again that it may be missing something, of a session and of a scope, as long as it cannot receive",
    async run(make) {
      const subject = await make();
      expectThat(subject.cut !== undefined, "The subject cannot be cut.");
      const node = secondOf(subject);
      const notified = { session: 0, scope: 0 };
      node.subscribe(sampleRef, () => {}, { gap: () => void notified.session++ });
      node.subscribeScope(sampleRef.scope, { gap: () => void notified.scope++ });
      await joined(subject, sampleRef);
      await subject.cut(async () => {
        const before = { ...notified };
        const isDeliveredThrice = (): boolean => notified.session >= before.session + 3 && notified.scope >= before.scope + 3;
        // About once a second, so much longer than other things take.
        await expectSoon(isDeliveredThrice, {
          what: "is notified three times while it is away",
          withinMs: 5 * (subject.patienceMs ?? 2_000),
        });
      });
    },
  },
  {
    id: "nodes-characters",
    needs: [second],
    promise: "no character is torn on the way to another node: not of a long text, not between two events, not in a run of small ones",
    async run(make) {
      const subject = await make();
      const received: SessionEvent[] = [];
      secondOf(subject).subscribe(
        sampleRef,
        (events) => void received.push(...events.filter((event) => "lane" in event && event.lane === 4)),
      );
      await joined(subject, sampleRef);
      const wanted = wideSamples();
      const count = wanted.flat().length;
      for (const batch of wanted) subject.channel.publish(sampleRef, batch);
      await expectSoon(() => received.length >= count, { what: "receives all texts", withinMs: withinMs(subject.patienceMs) });
      for (const [index, event] of wanted.flat().entries()) expectSame(received[index], event, `event ${index}`);
    },
  },
  {
    id: "recall-characters",
    needs: [recall],
    promise: "no character is torn in what is recalled of a lane, also where its beginning is gone",
    async run(make) {
      const { channel } = await make();
      const written = (n: number): SessionEvent => ({
        type: "text_delta",
        lane: 1,
        n,
        index: 0,
        delta: `${n} ${wide.repeat(1_000 + (n % 7))}`,
      });
      for (let n = 1; n <= 300; n++) {
        channel.publish(sampleRef, [written(n)]);
        if (n % 50 === 0) await recalledOf(channel);
      }
      const events = await recalledOf(channel);
      expectThat(events.length > 50, `only ${events.length} events are recalled`);
      for (const event of events) expectSame(event, written("n" in event ? event.n : 0), "an event recalled");
    },
  },
];

async function recalledOf(channel: EventChannel): Promise<readonly SessionEvent[]> {
  expectThat(channel.recall !== undefined, "The channel has no `recall`.");
  return channel.recall(sampleRef, 1);
}
