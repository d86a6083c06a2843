import type { EventChannel, SessionEvent, SessionRef } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { sampleRef } from "../samples/sample-facts.ts";
import { channelSamples } from "./channel-samples.ts";
import { type ChannelUnderTest, deltas, foreignRef, joined, otherRef, secondOf } from "./channel-under-test.ts";

const needs = ["recall"];
const ringBytes = 2 * 1024 * 1024;

async function recalled(channel: EventChannel, ref: SessionRef, lane: number): Promise<readonly SessionEvent[]> {
  expectThat(channel.recall !== undefined, "The channel has no `recall`.");
  return channel.recall(ref, lane);
}

const ofLane = (lane: number): readonly SessionEvent[] => channelSamples.flat().filter((event) => "lane" in event && event.lane === lane);

/** Promises about recalled lanes. */
export const recallCases: StoreKit<ChannelUnderTest> = [
  {
    id: "recall",
    needs,
    promise: "what a lane has sent can be recalled, as it was sent, by `n`; of other lanes, sessions and scopes nothing is in it",
    async run(make) {
      const { channel } = await make();
      for (const ref of [otherRef, foreignRef]) channel.publish(ref, deltas(99));
      for (const batch of channelSamples) channel.publish(sampleRef, batch);
      for (const lane of [4, 7, 8]) expectSame(await recalled(channel, sampleRef, lane), ofLane(lane), `lane ${lane}`);
      expectSame(await recalled(channel, sampleRef, 1), [], "a lane of other sessions");
    },
  },
  {
    id: "recall-grows",
    needs,
    promise: "a lane that continues is recalled with all that it sent, over many batches",
    async run(make) {
      const { channel } = await make();
      for (let n = 1; n <= 600; n += 3) {
        channel.publish(sampleRef, deltas(n, n + 1, n + 2));
        if (n % 30 === 1) expectSame((await recalled(channel, sampleRef, 1)).length, n + 2, "events recalled");
      }
      expectSame(await recalled(channel, sampleRef, 1), deltas(...Array.from({ length: 600 }, (_, index) => index + 1)), "lane");
    },
  },
  {
    id: "recall-bounded",
    needs,
    promise: "of a lane that holds more than 2 MiB the end is recalled, at most 2 MiB of it, without a hole",
    async run(make) {
      const { channel } = await make();
      const size = 1_000;
      const count = 2 * Math.ceil(ringBytes / size);
      for (let n = 1; n <= count; n += 100) {
        const numbers = Array.from({ length: 100 }, (_, index) => n + index);
        channel.publish(
          sampleRef,
          deltas(...numbers).map((event) => ({ ...event, delta: "x".repeat(size) })),
        );
        // What is published at once may be too much for a channel to carry.
        if (n % 500 === 1) await recalled(channel, sampleRef, 1);
      }
      const last = count % 100 === 0 ? count : count - (count % 100) + 100;
      const events = await recalled(channel, sampleRef, 1);
      expectThat(events.length > 100, `only ${events.length} events are recalled`);
      expectThat(
        JSON.stringify(events.map((event) => "delta" in event && event.delta)).length <= ringBytes * 1.1,
        "more than 2 MiB are recalled",
      );
      const numbers = events.map((event) => ("n" in event ? event.n : 0));
      expectSame(
        numbers,
        numbers.map((_, index) => last - numbers.length + 1 + index),
        "numbers recalled",
      );
    },
  },
  {
    id: "recall-nodes",
    needs: [...needs, "second node"],
    promise: "a caller that has been notified of an event on another node can recall it there, and all before it",
    async run(make) {
      const subject = await make();
      const second = secondOf(subject);
      let newest = 0;
      second.subscribe(sampleRef, (events) => {
        for (const event of events) if ("n" in event) newest = event.n;
      });
      await joined(subject, sampleRef);
      newest = 0;
      for (let n = 1; n <= 30; n++) {
        subject.channel.publish(
          sampleRef,
          deltas(n).map((event) => ({ ...event, lane: 2 }) as SessionEvent),
        );
        await expectSoon(() => newest === n, { what: `receives ${n}`, withinMs: subject.patienceMs ?? 2_000 });
        const events = await recalled(second, sampleRef, 2);
        expectSame(
          events.map((event) => ("n" in event ? event.n : 0)),
          Array.from({ length: n }, (_, index) => index + 1),
          "recalled on the second node",
        );
      }
    },
  },
];
