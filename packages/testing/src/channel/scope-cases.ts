import type { Notification } from "@loopwright/core/ports";
import { expectSame } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { sampleRef } from "../samples/sample-facts.ts";
import { type ChannelUnderTest, deltas, foreignRef, Listener, otherRef } from "./channel-under-test.ts";

/** Listens to a scope: events as `<session> <n>`, notifications as they are. */
class ScopeHearer {
  readonly heard: (string | Notification)[] = [];
  readonly stop: () => void;
  readonly #patienceMs: number;

  constructor({ channel, patienceMs = 2_000 }: ChannelUnderTest, scope: string) {
    this.#patienceMs = patienceMs;
    this.stop = channel.subscribeScope(scope, {
      events: (session, events) => void this.heard.push(...events.map((event) => `${session} ${"n" in event ? event.n : event.type}`)),
      notification: (notification) => void this.heard.push(notification),
    });
  }

  /** Exactly these, in order. */
  async hears(...wanted: readonly (string | Notification)[]): Promise<void> {
    await expectSoon(() => this.heard.length >= wanted.length, { what: `hears ${wanted.length} things`, withinMs: this.#patienceMs });
    expectSame(this.heard, wanted, "heard of the scope");
  }

  /** The events of one session, once all of them have arrived. */
  async hearsOf(session: string, { all, wanted }: { readonly all: number; readonly wanted: readonly number[] }): Promise<void> {
    await expectSoon(() => this.heard.length >= all, { what: `hears ${all} things`, withinMs: this.#patienceMs });
    const own = this.heard.filter((one) => typeof one === "string" && one.startsWith(`${session} `));
    expectSame(
      own,
      wanted.map((n) => `${session} ${n}`),
      `heard of ${session}`,
    );
  }
}

const jobDone: Notification = { type: "job_done", to: "ada", data: { job: 7 } };

/** What is promised of scopes and notifications. */
export const scopeCases: StoreKit<ChannelUnderTest> = [
  {
    id: "scope-events",
    promise: "who listens to a scope hears every event of every session in it once, in the order of each session",
    async run(make) {
      const subject = await make();
      const hearer = new ScopeHearer(subject, "local");
      const wanted = Array.from({ length: 100 }, (_, index) => index);
      for (let n = 0; n < 100; n += 2) {
        subject.channel.publish(sampleRef, deltas(n, n + 1));
        subject.channel.publish(otherRef, deltas(n + 1_000, n + 1_001));
        if (n % 30 === 0) await Promise.resolve();
      }
      await hearer.hearsOf(sampleRef.session, { all: 200, wanted });
      await hearer.hearsOf(otherRef.session, { all: 200, wanted: wanted.map((n) => n + 1_000) });
      expectSame(hearer.heard.length, 200, "number of events");
    },
  },
  {
    id: "scope-apart",
    promise: "who listens to a scope hears nothing of another: neither events nor notifications",
    async run(make) {
      const subject = await make();
      const [mine, theirs] = [new ScopeHearer(subject, "local"), new ScopeHearer(subject, "other")];
      subject.channel.publish(foreignRef, deltas(7));
      subject.channel.notify("other", { type: "theirs" });
      subject.channel.notify("local", jobDone);
      await theirs.hears("first 7", { type: "theirs" });
      await mine.hears(jobDone);
    },
  },
  {
    id: "notification",
    promise: "a notification reaches everybody who listens to its scope once, with whom it is for and its data",
    async run(make) {
      const subject = await make();
      const hearers = [new ScopeHearer(subject, "local"), new ScopeHearer(subject, "local")];
      subject.channel.notify("local", jobDone);
      subject.channel.notify("local", { type: "refresh" });
      for (const hearer of hearers) await hearer.hears(jobDone, { type: "refresh" });
    },
  },
  {
    id: "notification-apart",
    promise: "a notification is no event: who listens to a session hears none",
    async run(make) {
      const subject = await make();
      const [listener, hearer] = [new Listener(subject, sampleRef), new ScopeHearer(subject, "local")];
      subject.channel.notify("local", jobDone);
      subject.channel.publish(sampleRef, deltas(1));
      await hearer.hears(jobDone, "first 1");
      await listener.hears(1);
    },
  },
  {
    id: "scope-unsubscribe",
    promise: "who has left a scope hears nothing more of it, not even what was said just before; leaving twice is harmless",
    async run(make) {
      const subject = await make();
      const [leaves, stays] = [new ScopeHearer(subject, "local"), new ScopeHearer(subject, "local")];
      subject.channel.publish(sampleRef, deltas(1));
      subject.channel.notify("local", jobDone);
      leaves.stop();
      leaves.stop();
      subject.channel.publish(sampleRef, deltas(2));
      await stays.hears("first 1", jobDone, "first 2");
      expectSame(leaves.heard, [], "what the one that left heard");
    },
  },
  {
    id: "scope-publisher-first",
    promise: "publishing and notifying return before who listens to the scope is called",
    async run(make) {
      const subject = await make();
      const hearer = new ScopeHearer(subject, "local");
      subject.channel.publish(sampleRef, deltas(1));
      subject.channel.notify("local", jobDone);
      expectSame(hearer.heard, [], "heard during the calls");
      await hearer.hears("first 1", jobDone);
    },
  },
  {
    id: "scope-throwing",
    promise: "a listener of a scope that throws, or hears only one of both, disturbs nobody and hears what comes later",
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
      await hearer.hears("first 1", jobDone);
      subject.channel.publish(sampleRef, deltas(2));
      await hearer.hears("first 1", jobDone, "first 2");
      expectSame(calls, ["events", "notification", "events"], "calls of the one that throws");
    },
  },
];
