import type { EventChannel, SessionRef } from "@loopwright/core";
import type { Notification } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { sampleRef } from "../samples/sample-facts.ts";
import { channelSamples } from "./channel-samples.ts";
import { type ChannelUnderTest, deltas, foreignRef, joined, Listener, otherRef, secondOf, withoutKnocks } from "./channel-under-test.ts";

const needs = ["second node"];

/** Listens to a session on the second node, once it is connected. */
async function listenerOf(subject: ChannelUnderTest, ref: SessionRef): Promise<Listener> {
  const listener = new Listener({ ...subject, channel: secondOf(subject) }, ref);
  await joined(subject, ref);
  return listener;
}

async function receives(subject: ChannelUnderTest, { received }: Listener, ...wanted: readonly number[]): Promise<void> {
  await expectSoon(() => withoutKnocks(received).length >= wanted.length, {
    what: `receives ${wanted.length} events of the other node`,
    withinMs: subject.patienceMs ?? 2_000,
  });
  expectSame(withoutKnocks(received), wanted, "received of the other node");
}

/** Ids of which one is the beginning, the end or the two halves of another. */
const alike: readonly SessionRef[] = ["a", "a-b", "a_b", "ab", "b", "a-b-c", "c", "events", "lane"].flatMap((scope) =>
  ["a", "b", "c", "a-b", "b-c", "a_b", "events"].map((session) => ({ scope, session })),
);
/** No scope or session may have such a name; where one has, no other receives its events. */
const hostile: readonly string[] = [
  "a:b",
  "a/b",
  "a.b",
  "*",
  "?",
  "!",
  "a*",
  "{a}",
  "{a.b}",
  "a\nb ",
  "a\r\n? a",
  "a\u2028b",
  "a b",
  "",
  "\0",
  "~61",
  "é",
  "A",
];

/** What is promised between two nodes. */
export const nodeCases: StoreKit<ChannelUnderTest> = [
  {
    id: "nodes-order",
    needs,
    promise: "another node receives every event once, in the order of publishing, over many batches",
    async run(make) {
      const subject = await make();
      const listener = await listenerOf(subject, sampleRef);
      const wanted = Array.from({ length: 400 }, (_, index) => index);
      for (let at = 0; at < 400; at += 4) {
        subject.channel.publish(sampleRef, deltas(...wanted.slice(at, at + 4)));
        subject.channel.publish(otherRef, deltas(at));
        if (at % 40 === 0) await new Promise<void>((resolve) => void Promise.resolve().then(() => resolve()));
      }
      await receives(subject, listener, ...wanted);
    },
  },
  {
    id: "nodes-both-ways",
    needs,
    promise: "what each of two nodes publishes both receive, each once",
    async run(make) {
      const subject = await make();
      const second = secondOf(subject);
      const turned = { ...subject, channel: second, secondNode: subject.channel };
      const [here, there] = [new Listener(subject, sampleRef), new Listener({ ...subject, channel: second }, sampleRef)];
      await joined(subject, sampleRef);
      await joined(turned, sampleRef);
      subject.channel.publish(sampleRef, deltas(1, 2));
      for (const listener of [here, there]) await receives(subject, listener, 1, 2);
      second.publish(sampleRef, deltas(3));
      for (const listener of [here, there]) await receives(subject, listener, 1, 2, 3);
    },
  },
  {
    id: "nodes-apart",
    needs,
    promise: "another node receives nothing of other sessions and scopes, also where their ids are alike",
    async run(make) {
      const subject = await make();
      const listeners: [SessionRef, Listener][] = [];
      for (const ref of alike) listeners.push([ref, new Listener({ ...subject, channel: secondOf(subject) }, ref)]);
      await joined(subject, ...alike);
      for (const [index, ref] of alike.entries()) subject.channel.publish(ref, deltas(index));
      for (const [index, [, listener]] of listeners.entries()) await receives(subject, listener, index);
    },
  },
  {
    id: "nodes-hostile",
    needs,
    promise: "what is sent under an id that is none, with a separator, a pattern or a line break in it, is received by no other listener",
    async run(make) {
      const subject = await make();
      const legal: readonly SessionRef[] = ["a", "b"].flatMap((scope) => ["a", "b"].map((session) => ({ scope, session })));
      const listeners = legal.map((ref) => new Listener({ ...subject, channel: secondOf(subject) }, ref));
      const otherUsers = hostile.flatMap((scope) =>
        ["a", "b"].map((session) => new Listener({ ...subject, channel: secondOf(subject) }, { scope, session })),
      );
      await joined(subject, ...legal);
      for (const id of hostile) {
        for (const ref of [
          { scope: id, session: id },
          { scope: "a", session: id },
        ])
          subject.channel.publish(ref, deltas(7));
        subject.channel.notify(id, { type: "theirs" });
      }
      for (const ref of legal) subject.channel.publish(ref, deltas(1));
      for (const listener of listeners) await receives(subject, listener, 1);
      for (const { received } of otherUsers) expectSame(received, [], "received under another id");
    },
  },
  {
    id: "nodes-content",
    needs,
    promise: "another node receives every kind of event as it was sent, whatever its text",
    async run(make) {
      const subject = await make();
      const received: unknown[] = [];
      secondOf(subject).subscribe(foreignRef, (events) => void received.push(...events.filter((event) => !("n" in event && event.n < 0))));
      await joined(subject, foreignRef);
      for (const batch of channelSamples) subject.channel.publish(foreignRef, batch);
      const wanted = channelSamples.flat();
      await expectSoon(() => received.length >= wanted.length, { what: "receives all samples", withinMs: subject.patienceMs ?? 2_000 });
      for (const [index, event] of wanted.entries()) expectSame(received[index], event, `event ${index}`);
    },
  },
  {
    id: "nodes-scope",
    needs,
    promise:
      "a caller that listens to a scope on another node receives its events and notifications in order, once, and nothing of other scopes",
    async run(make) {
      const subject = await make();
      const received: unknown[] = [];
      receiveScope(secondOf(subject), sampleRef.scope, received);
      await joined(subject, sampleRef);
      subject.channel.notify(foreignRef.scope, { type: "theirs" });
      subject.channel.publish(sampleRef, deltas(1));
      subject.channel.notify(sampleRef.scope, { type: "job_done", to: "ada", data: { job: 7, text: "line\nline" } });
      subject.channel.publish(sampleRef, deltas(2));
      const wanted = ["first 1", { type: "job_done", to: "ada", data: { job: 7, text: "line\nline" } }, "first 2"];
      await expectSoon(() => written(received).length >= wanted.length, {
        what: "receives the scope",
        withinMs: subject.patienceMs ?? 2_000,
      });
      expectSame(written(received), wanted, "received of the scope");
    },
  },
  {
    id: "nodes-gap",
    needs: [...needs, "cut"],
    promise:
      "a node that could not receive for a while is notified that it may have missed something, and receives what comes after, nothing twice",
    async run(make) {
      const subject = await make();
      const { channel, cut } = subject;
      expectThat(cut !== undefined, "The subject cannot be cut.");
      const listener = await listenerOf(subject, sampleRef);
      let scopeGaps = 0;
      secondOf(subject).subscribeScope(sampleRef.scope, {
        gap: () => {
          scopeGaps++;
        },
      });
      channel.publish(sampleRef, deltas(1));
      await receives(subject, listener, 1);
      let [before, scopeBefore] = [0, 0];
      await cut(() => {
        channel.publish(sampleRef, deltas(2, 3));
        // A gap that was reported before this does not cover it.
        [before, scopeBefore] = [listener.gaps, scopeGaps];
      });
      await expectSoon(() => listener.gaps > before && scopeGaps > scopeBefore, {
        what: "is notified of the gap",
        withinMs: subject.patienceMs ?? 2_000,
      });
      await joined(subject, sampleRef);
      channel.publish(sampleRef, deltas(4));
      await expectSoon(() => listener.received.at(-1) === 4, { what: "receives what comes after", withinMs: subject.patienceMs ?? 2_000 });
      const received = withoutKnocks(listener.received);
      expectSame(new Set(received).size, received.length, `events received twice: ${received.join(" ")}`);
    },
  },
  {
    id: "nodes-again",
    needs,
    promise: "a listener of a session, or of a scope, that leaves and comes back in one turn receives what another node publishes",
    async run(make) {
      const subject = await make();
      const second = secondOf(subject);
      const first = await listenerOf(subject, sampleRef);
      first.stop();
      const again = new Listener({ ...subject, channel: second }, sampleRef);
      await receivesAgain(subject, again.received);
      again.stop();
      const received: unknown[] = [];
      receiveScope(second, sampleRef.scope, received);
      await receivesAgain(subject, received);
    },
  },
];

/** Publishes until it arrives, three times: what is published before the second node has joined again may be lost, and before it has left, arrive. */
async function receivesAgain({ channel, patienceMs = 2_000 }: ChannelUnderTest, received: readonly unknown[]): Promise<void> {
  for (let times = 1; times <= 3; times++) {
    const before = received.length;
    const speak = (): boolean => {
      if (received.length === before) channel.publish(sampleRef, deltas(1));
      return received.length > before;
    };
    await expectSoon(speak, { what: "receives the other node again", withinMs: patienceMs });
  }
}

function receiveScope(channel: EventChannel, scope: string, received: unknown[]): void {
  channel.subscribeScope(scope, {
    events: (session, events) => void received.push(...events.map((event) => `${session} ${"n" in event ? event.n : event.type}`)),
    notification: (notification: Notification) => void received.push(notification),
  });
}

const written = (received: readonly unknown[]): readonly unknown[] => received.filter((one) => one !== "first -1");
