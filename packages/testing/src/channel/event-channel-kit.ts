import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { sampleRef } from "../samples/sample-facts.ts";
import { type ChannelUnderTest, deltas, foreignRef, Listener, otherRef } from "./channel-under-test.ts";
import { lossCases } from "./loss-cases.ts";
import { nodeCases } from "./node-cases.ts";
import { recallCases } from "./recall-cases.ts";
import { scopeCases } from "./scope-cases.ts";

/** The promises of `EventChannel`. Capabilities: `second node`, `cut` (of the second node), `recall`. */
export const eventChannelKit: StoreKit<ChannelUnderTest> = [
  {
    id: "order",
    promise: "a listener receives every event once, in the order of publishing, over many batches",
    async run(make) {
      const subject = await make();
      const listener = new Listener(subject, sampleRef);
      const wanted = Array.from({ length: 200 }, (_, index) => index);
      for (let at = 0; at < 200; at += 4) {
        subject.channel.publish(sampleRef, deltas(...wanted.slice(at, at + 4)));
        if (at % 40 === 0) await Promise.resolve();
      }
      await listener.receives(...wanted);
    },
  },
  {
    id: "two-listeners",
    promise: "two listeners receive the same",
    async run(make) {
      const subject = await make();
      const listeners = [new Listener(subject, sampleRef), new Listener(subject, sampleRef)];
      subject.channel.publish(sampleRef, deltas(1, 2));
      subject.channel.publish(sampleRef, deltas(3));
      for (const listener of listeners) await listener.receives(1, 2, 3);
    },
  },
  {
    id: "from-now-on",
    promise: "a listener receives what is published from now on, nothing from before",
    async run(make) {
      const subject = await make();
      const early = new Listener(subject, sampleRef);
      subject.channel.publish(sampleRef, deltas(1));
      await early.receives(1);
      const late = new Listener(subject, sampleRef);
      subject.channel.publish(sampleRef, deltas(2));
      await late.receives(2);
    },
  },
  {
    id: "unsubscribe",
    promise: "a listener that has left receives nothing more, not even what was published just before; leaving twice is harmless",
    async run(make) {
      const subject = await make();
      const [leaves, stays] = [new Listener(subject, sampleRef), new Listener(subject, sampleRef)];
      subject.channel.publish(sampleRef, deltas(1));
      leaves.stop();
      leaves.stop();
      subject.channel.publish(sampleRef, deltas(2));
      await stays.receives(1, 2);
      expectSame(leaves.received, [], "what the one that left received");
    },
  },
  {
    id: "sessions-apart",
    promise: "a listener receives nothing of other sessions",
    async run(make) {
      const subject = await make();
      const [mine, others] = [new Listener(subject, sampleRef), new Listener(subject, otherRef)];
      subject.channel.publish(otherRef, deltas(7));
      subject.channel.publish(sampleRef, deltas(1));
      await others.receives(7);
      await mine.receives(1);
    },
  },
  {
    id: "scopes-apart",
    promise: "a listener receives nothing of a session of the same id in another scope",
    async run(make) {
      const subject = await make();
      const [mine, theirs] = [new Listener(subject, sampleRef), new Listener(subject, foreignRef)];
      subject.channel.publish(foreignRef, deltas(7));
      subject.channel.publish(sampleRef, deltas(1));
      await theirs.receives(7);
      await mine.receives(1);
    },
  },
  {
    id: "publisher-first",
    promise: "publishing returns before a listener is called, so that none can hold the publisher up",
    async run(make) {
      const subject = await make();
      const listener = new Listener(subject, sampleRef);
      subject.channel.publish(sampleRef, deltas(1));
      expectSame(listener.received, [], "received during the call");
      await listener.receives(1);
    },
  },
  {
    id: "throwing-listener",
    promise: "a listener that throws disturbs neither the publisher nor the others, and receives what comes later",
    async run(make) {
      const subject = await make();
      let calls = 0;
      subject.channel.subscribe(sampleRef, () => {
        calls++;
        throw new Error("a listener's own trouble");
      });
      const listener = new Listener(subject, sampleRef);
      subject.channel.publish(sampleRef, deltas(1));
      await listener.receives(1);
      subject.channel.publish(sampleRef, deltas(2));
      await listener.receives(1, 2);
      expectThat(calls === 2, `the listener that throws was called ${calls} times`);
    },
  },
  ...scopeCases,
  ...nodeCases,
  ...lossCases,
  ...recallCases,
];
