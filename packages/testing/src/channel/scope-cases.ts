import type { Notification } from "@loopwright/core/ports";
import { expectSame } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { sampleRef } from "../samples/sample-facts.ts";
import { type ChannelUnderTest, deltas, foreignRef, Listener, otherRef } from "./channel-under-test.ts";

/** Listens to a scope: events as `<session> <n>`, notifications as they are. */
class ScopeHearer {
  readonly received: (string | Notification)[] = [];
  readonly stop: () => void;
  readonly #patienceMs: number;

  constructor({ channel, patienceMs = 2_000 }: ChannelUnderTest, scope: string) {
    this.#patienceMs = patienceMs;
    this.stop = channel.subscribeScope(scope, {
      events: (session, events) => void this.received.push(...events.map((event) => `${session} ${"n" in event ? event.n : event.type}`)),
      notification: (notification) => void this.received.push(notification),
    });
  }

  /** Exactly these, in order. */
  async receives(...wanted: readonly (string | Notification)[]): Promise<void> {
    await expectSoon(() => this.received.length >= wanted.length, { what: `receives ${wanted.length} things`, withinMs: this.#patienceMs });
    expectSame(this.received, wanted, "received of the scope");
  }

  /** The events of one session, once all of them have arrived. */
  async receivesOf(session: string, { all, wanted }: { readonly all: number; readonly wanted: readonly number[] }): Promise<void> {
    await expectSoon(() => this.received.length >= all, { what: `receives ${all} things`, withinMs: this.#patienceMs });
    const own = this.received.filter((one) => typeof one === "string" && one.startsWith(`${session} `));
    expectSame(
      own,
      wanted.map((n) => `${session} ${n}`),
      `received of ${session}`,
    );
  }
}

const jobDone: Notification = { type: "job_done", to: "ada", data: { job: 7 } };

/** What is promised of scopes and notifications. */
export const scopeCases: StoreKit<ChannelUnderTest> = [
  {
    id: "scope-events",
    promise: "a caller that listens to a scope receives every event of every session in it once, in the order of each session",
    async run(make) {
      const subject = await make();
      const hearer = new ScopeHearer(subject, "local");
      const wanted = Array.from({ length: 100 }, (_, index) => index);
      for (let n = 0; n < 100; n += 2) {
        subject.channel.publish(sampleRef, deltas(n, n + 1));
        subject.channel.publish(otherRef, deltas(n + 1_000, n + 1_001));
        if (n % 30 === 0) await Promise.resolve();
      }
      await hearer.receivesOf(sampleRef.session, { all: 200, wanted });
      await hearer.receivesOf(otherRef.session, { all: 200, wanted: wanted.map((n) => n + 1_000) });
      expectSame(hearer.received.length, 200, "number of events");
    },
  },
  {
    id: "scope-apart",
    promise: "a caller that listens to a scope receives nothing of another: neither events nor notifications",
    async run(make) {
      const subject = await make();
      const [mine, theirs] = [new ScopeHearer(subject, "local"), new ScopeHearer(subject, "other")];
      subject.channel.publish(foreignRef, deltas(7));
      subject.channel.notify("other", { type: "theirs" });
      subject.channel.notify("local", jobDone);
      await theirs.receives("first 7", { type: "theirs" });
      await mine.receives(jobDone);
    },
  },
  {
    id: "notification",
    promise: "a notification reaches every reader that listens to its scope once, with its user and its data",
    async run(make) {
      const subject = await make();
      const hearers = [new ScopeHearer(subject, "local"), new ScopeHearer(subject, "local")];
      subject.channel.notify("local", jobDone);
      subject.channel.notify("local", { type: "refresh" });
      for (const hearer of hearers) await hearer.receives(jobDone, { type: "refresh" });
    },
  },
  {
    id: "notification-apart",
    promise: "a notification is no event: a caller that listens to a session receives none",
    async run(make) {
      const subject = await make();
      const [listener, hearer] = [new Listener(subject, sampleRef), new ScopeHearer(subject, "local")];
      subject.channel.notify("local", jobDone);
      subject.channel.publish(sampleRef, deltas(1));
      await hearer.receives(jobDone, "first 1");
      await listener.receives(1);
    },
  },
  {
    id: "scope-unsubscribe",
    promise: "a caller that has left a scope receives nothing more of it, not even what was sent just before; leaving twice is harmless",
    async run(make) {
      const subject = await make();
      const [leaves, stays] = [new ScopeHearer(subject, "local"), new ScopeHearer(subject, "local")];
      subject.channel.publish(sampleRef, deltas(1));
      subject.channel.notify("local", jobDone);
      leaves.stop();
      leaves.stop();
      subject.channel.publish(sampleRef, deltas(2));
      await stays.receives("first 1", jobDone, "first 2");
      expectSame(leaves.received, [], "what the one that left received");
    },
  },
  {
    id: "scope-publisher-first",
    promise: "publishing and notifying return before the listeners of the scope are called",
    async run(make) {
      const subject = await make();
      const hearer = new ScopeHearer(subject, "local");
      subject.channel.publish(sampleRef, deltas(1));
      subject.channel.notify("local", jobDone);
      expectSame(hearer.received, [], "received during the calls");
      await hearer.receives("first 1", jobDone);
    },
  },
  {
    id: "scope-throwing",
    promise: "a listener of a scope that throws, or receives only one of both, disturbs no other and receives what comes later",
    async run(make) {
      const subject = await make();
      const calls: string[] = [];
      const trouble = (what: string): never => {
        calls.push(what);
        throw new Error("a listener's own trouble");
      };
      subject.channel.subscribeScope("local", { events: () => trouble("events"), notification: () => trouble("notification") });
      subject.channel.subscribeScope("local", {});
      const hearer = new ScopeHearer(subject, "local");
      subject.channel.publish(sampleRef, deltas(1));
      subject.channel.notify("local", jobDone);
      await hearer.receives("first 1", jobDone);
      subject.channel.publish(sampleRef, deltas(2));
      await hearer.receives("first 1", jobDone, "first 2");
      expectSame(calls, ["events", "notification", "events"], "calls of the one that throws");
    },
  },
];
