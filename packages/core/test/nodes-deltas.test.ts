import { findEventViolation } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { type AssistantPart, defineTool, type EphemeralEvent, execute, type ModelChunk, resume, type SessionEvent } from "../src/index.ts";
import { seededRandom } from "../src/memory/seeded-random.ts";
import { calm, deferred, eventsOf, ofType } from "./harness.ts";
import { nodeStore, nodes, receivedBy, ref } from "./nodes.ts";

const joined = { joins: true, mayLoseDeltas: true };
const textIn = (events: readonly SessionEvent[]): string =>
  ofType(events, "text_delta")
    .map(({ delta }) => delta)
    .join("");
/** What a reader has at each end of an answer that appends deltas and takes snapshots, beside what the log has. */
function readAnswers(events: readonly SessionEvent[]): readonly (readonly [string, string])[] {
  const answers: (readonly [string, string])[] = [];
  let parts = new Map<string, string>();
  const append = (key: string, text: string): unknown => parts.set(key, (parts.get(key) ?? "") + text);
  const shown = (all: ReadonlyMap<string, string>): string => [...all].map((part) => part.join(" ")).join(" | ");
  for (const event of events) {
    if (event.type === "message_start" || event.type === "attempt_discarded") parts = new Map();
    else if (event.type === "text_delta") append(`text ${event.index}`, event.delta);
    else if (event.type === "thinking_delta") append(`thinking ${event.index}`, event.delta);
    else if (event.type === "toolcall_start") append(`call ${event.index}`, `${event.toolName} `);
    else if (event.type === "toolcall_delta") append(`call ${event.index}`, event.delta);
    else if (event.type === "message_snapshot") {
      parts = partsOf(event.content);
      for (const { index, toolName, argsText } of event.calls ?? []) append(`call ${index}`, `${toolName} ${argsText}`);
    } else if (event.type === "message_end" && event.message.role === "assistant")
      answers.push([shown(parts), shown(partsOf(event.message.content))]);
  }
  return answers;
}

const partsOf = (content: readonly AssistantPart[]): Map<string, string> =>
  new Map(
    content.flatMap((part, index) => {
      if (part.type === "tool_call") return [[`call ${index}`, `${part.name} ${JSON.stringify(part.args)}`]];
      return part.type === "text" || part.type === "thinking" ? [[`${part.type} ${index}`, part.text]] : [];
    }),
  );

const inLanes = (events: readonly SessionEvent[]): readonly EphemeralEvent[] => events.flatMap((event) => ("lane" in event ? [event] : []));

describe("a node that watches what another runs", () => {
  it("gets every delta once and in order, of answers and of tools, as the owner's own listeners do", async () => {
    const proceed = deferred();
    const tool = defineTool({
      name: "work",
      description: "Works",
      parameters: { type: "object" },
      async *execute(_, { progress }) {
        progress("begun");
        yield { type: "delta", delta: "one " };
        await proceed.promise;
        yield { type: "delta", delta: "two" };
      },
    });
    const { node, model } = nodes({ tools: [tool] });
    const far = receivedBy(node({ drives: false }));
    await calm();
    const owner = node();
    const near = receivedBy(owner);
    const stream = execute(owner, "go");
    await calm();
    model[0]?.say("I shall ", "work");
    model[0]?.read([
      { type: "call-start", index: 1, id: "c1", name: "work" },
      { type: "call-args", index: 1, delta: "{}" },
      { type: "end", stopReason: "tool_calls", raw: "tool_calls" },
    ]);
    await calm();
    proceed.resolve();
    await calm();
    model[1]?.say("done");
    model[1]?.end();
    await stream.result();
    await calm();
    expect(far).toEqual(near);
    expect(findEventViolation(far)).toBeUndefined();
    expect(textIn(far)).toBe("I shall workdone");
    expect(ofType(far, "tool_execution_delta")).toHaveLength(2);
  });

  it("holds deltas back until it has published their opening, however late its log is read", async () => {
    const { node, model, store, channel } = nodes();
    const slow = nodeStore(store);
    const watcher = node({ drives: false, store: slow.store });
    const far = receivedBy(watcher);
    await watcher.ready();
    await calm();
    slow.hold();
    execute(node(), "go");
    await calm();
    model[0]?.say("one ", "two ");
    await calm();
    expect(far).toEqual([]);
    slow.letThrough();
    await calm();
    model[0]?.say("three");
    await calm();
    expect(findEventViolation(far)).toBeUndefined();
    expect(textIn(far)).toBe("one two three");
    expect(channel.recalls).toBe(0);
  });

  it("publishes nothing more of an attempt after its end", async () => {
    const { node, model, store } = nodes();
    const slow = nodeStore(store);
    const watcher = node({ drives: false, store: slow.store });
    const far = receivedBy(watcher);
    await watcher.ready();
    await calm();
    const stream = execute(node(), "go");
    await calm();
    slow.hold();
    model[0]?.say("early ");
    await calm();
    model[0]?.say("late");
    model[0]?.end();
    await stream.result();
    slow.letThrough();
    await calm();
    expect(findEventViolation(far, joined)).toBeUndefined();
    expect(watcher.lanes()).toEqual([]);
    expect(far.findLastIndex((event) => "lane" in event)).toBeLessThan(far.findIndex(({ type }) => type === "run_end"));
  });

  it("that joins in the middle begins with a snapshot of the ring, and continues with later events", async () => {
    const { node, model } = nodes();
    execute(node(), "go");
    await calm();
    model[0]?.say("one ", "two ");
    await calm();
    const watcher = node({ drives: false });
    const far = receivedBy(watcher);
    const stream = resume(watcher);
    const published = eventsOf(stream);
    await calm();
    expect(watcher.lanes()).toMatchObject([{ type: "message_snapshot", n: 3, content: [{ type: "text", text: "one two " }] }]);
    model[0]?.say("three");
    await calm();
    expect(watcher.lanes()).toMatchObject([{ content: [{ text: "one two three" }] }]);
    model[0]?.end();
    expect((await stream.result()).text).toBe("one two three");
    expect(findEventViolation(await published, joined)).toBeUndefined();
    expect(ofType(await published, "message_snapshot")[0]).toMatchObject({ n: 3 });
    expect(textIn(far)).toBe("three");
  });

  it("that joins while a tool runs gets its output and its steps", async () => {
    const proceed = deferred();
    const tool = defineTool({
      name: "work",
      description: "Works",
      parameters: { type: "object" },
      async *execute(_, { progress }) {
        const step = progress("reading", { icon: "eye" });
        yield { type: "delta", delta: "half" };
        await proceed.promise;
        step.end();
        yield { type: "delta", delta: " whole" };
      },
    });
    const { node, model } = nodes({ tools: [tool] });
    execute(node(), "go");
    await calm();
    model[0]?.read([
      { type: "call-start", index: 0, id: "c1", name: "work" },
      { type: "end", stopReason: "tool_calls", raw: "tool_calls" },
    ]);
    await calm();
    const watcher = node({ drives: false });
    const far = receivedBy(watcher);
    await calm();
    const progress = [{ id: "1", title: "reading", icon: "eye", state: "open" }];
    expect(watcher.lanes()).toMatchObject([{ type: "tool_execution_snapshot", toolCallId: "c1", output: "half", progress, n: 2 }]);
    proceed.resolve();
    await calm();
    expect(ofType(far, "tool_execution_delta").map(({ delta }) => delta)).toEqual([" whole"]);
    expect(findEventViolation(far, joined)).toBeUndefined();
  });

  it("heals a gap by a snapshot, never by a splice", async () => {
    const { node, model, channel } = nodes();
    const watcher = node({ drives: false });
    const far = receivedBy(watcher);
    await calm();
    execute(node(), "go");
    await calm();
    model[0]?.say("one ");
    await calm();
    channel.loses = (event) => "lane" in event;
    model[0]?.say("two ");
    await calm();
    channel.loses = () => false;
    model[0]?.say("three ");
    await calm();
    model[0]?.say("four");
    await calm();
    expect(inLanes(far).map(({ type, n }) => [type, n])).toEqual([
      ["text_start", 1],
      ["text_delta", 2],
      ["message_snapshot", 4],
      ["text_delta", 5],
    ]);
    expect(watcher.lanes()).toMatchObject([{ content: [{ text: "one two three four" }] }]);
    expect(channel.recalls).toBe(1);
  });

  it("looks at the log and at the ring when the channel reports a gap, even if nothing comes after it", async () => {
    const { node, model, channel } = nodes({ publishes: false });
    const far = receivedBy(node({ drives: false }));
    await calm();
    channel.loses = () => true;
    execute(node(), "go");
    await calm();
    model[0]?.say("one ", "two");
    await calm();
    expect(far).toEqual([]);
    channel.gap();
    await calm();
    expect(inLanes(far)).toMatchObject([{ type: "message_snapshot", content: [{ text: "one two" }] }]);
    model[0]?.say(" three");
    await calm();
    channel.gap();
    channel.gap();
    await calm();
    expect(inLanes(far).map(({ type, n }) => [type, n])).toEqual([
      ["message_snapshot", 3],
      ["message_snapshot", 4],
    ]);
    expect(findEventViolation(far, joined)).toBeUndefined();
  });

  it("reads the draft where the ring has forgotten: once the draft reaches what it holds, the text continues", async () => {
    const { node, model, channel, pass, store } = nodes();
    channel.keeps = () => false;
    execute(node(), "go");
    await calm();
    model[0]?.say("one ", "two ");
    await pass(2_000);
    model[0]?.say("three ");
    await calm();
    const watcher = node({ drives: false });
    const far = receivedBy(watcher);
    await calm();
    expect(watcher.lanes()).toMatchObject([{ n: 3, content: [{ text: "one two " }] }]);
    model[0]?.say("four ");
    await calm();
    expect(textIn(far)).toBe("");
    await pass(4_000);
    expect(watcher.lanes()).toMatchObject([{ n: 5, content: [{ text: "one two three four " }] }]);
    model[0]?.say("five");
    await calm();
    expect(textIn(far)).toBe("five");
    model[0]?.end();
    await calm();
    expect(findEventViolation(far, joined)).toBeUndefined();
    expect(await store.snapshots.get(ref, "lane")).toBeUndefined();
  });

  it("gets the content of the draft every two seconds if there is no channel", async () => {
    const { node, model, pass, clock } = nodes({ hasChannel: false });
    const owner = node();
    const watcher = node({ drives: false });
    const far = receivedBy(watcher);
    const stream = execute(owner, "go");
    await calm();
    model[0]?.say("one ");
    await pass(4_000);
    expect(watcher.lanes()).toMatchObject([{ content: [{ text: "one " }] }]);
    model[0]?.say("two");
    await pass(4_000);
    expect(watcher.lanes()).toMatchObject([{ content: [{ text: "one two" }] }]);
    model[0]?.end();
    await stream.result();
    await calm();
    expect(inLanes(far).map(({ type }) => type)).toEqual(["message_snapshot", "message_snapshot"]);
    expect(findEventViolation(far, joined)).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("falls silent until the end where neither ring nor draft has what is missing", async () => {
    const { node, model, channel, store } = nodes();
    channel.keeps = () => false;
    const snapshots = { ...store.snapshots, get: () => Promise.reject(new Error("gone")), put: () => Promise.reject(new Error("gone")) };
    const stream = execute(node({ store: { ...store, snapshots } }), "go");
    await calm();
    model[0]?.say("one ");
    await calm();
    const watcher = node({ drives: false, store: { ...store, snapshots } });
    const far = receivedBy(watcher);
    await calm();
    model[0]?.say("two");
    await calm();
    expect(inLanes(far)).toEqual([]);
    model[0]?.end();
    expect((await stream.result()).text).toBe("one two");
    await calm();
    expect(far.at(-1)).toMatchObject({ type: "run_end" });
  });

  it("holds at most 1,024 events of a lane, and joins the newest of them with a snapshot", async () => {
    const { node, model, channel } = nodes();
    channel.keeps = () => false;
    execute(node(), "go");
    await calm();
    model[0]?.say("lost ");
    await calm();
    const watcher = node({ drives: false });
    const far = receivedBy(watcher);
    await calm();
    model[0]?.say(...Array.from({ length: 2_000 }, () => "x"));
    for (let turn = 0; turn < 50; turn++) await calm();
    expect(inLanes(far)).toEqual([]);
    channel.keeps = ({ n }) => n <= 900;
    model[0]?.say("!");
    for (let turn = 0; turn < 5; turn++) await calm();
    // The ring reaches n 900; what is held begins later: still a gap.
    expect(watcher.lanes()[0]?.n ?? 0).toBeLessThanOrEqual(900);
    channel.keeps = () => true;
    model[0]?.say("?");
    for (let turn = 0; turn < 5; turn++) await calm();
    expect(watcher.lanes()).toMatchObject([{ n: 2_004 }]);
    expect(findEventViolation(far, joined)).toBeUndefined();
  });
});

describe("a node where facts overtake deltas", () => {
  const answer: readonly ModelChunk[] = [
    { type: "thinking", index: 0, delta: "let me " },
    { type: "thinking", index: 0, delta: "think" },
    { type: "text", index: 1, delta: "I shall " },
    { type: "text", index: 1, delta: "work" },
    { type: "call-start", index: 2, id: "c1", name: "work" },
    { type: "call-args", index: 2, delta: '{"a":' },
    { type: "call-args", index: 2, delta: "1}" },
  ];
  const end: ModelChunk = { type: "end", stopReason: "tool_calls", raw: "tool_calls" };

  /** Plays the answer with so many of its chunks received on the other node before the end; the rest of them come after it. */
  async function play(received: number) {
    const tool = defineTool({ name: "work", description: "Works", parameters: { type: "object" }, execute: () => "worked" });
    const { node, model, channel } = nodes({ tools: [tool] });
    const watcher = node({ drives: false });
    const far = receivedBy(watcher);
    await calm();
    const owner = node();
    const near = receivedBy(owner);
    const stream = execute(owner, "go");
    await calm();
    channel.delays = ({ n }) => n > received;
    model[0]?.read(answer);
    await calm();
    const late = execute(watcher, "and then?").result();
    model[0]?.read([end]);
    await calm();
    channel.letThrough();
    channel.delays = () => true;
    model[1]?.say("quick");
    model[1]?.end();
    await calm();
    model[2]?.say("later");
    model[2]?.end();
    await Promise.all([stream.result(), late]);
    channel.letThrough();
    await calm();
    return { near, far };
  }

  it("publishes what was not streamed before the end: text, thinking and calls, however much of them had come", async () => {
    for (let received = 0; received <= 14; received++) {
      const { near, far } = await play(received);
      const whole = 'thinking 0 let me think | text 1 I shall work | call 2 work {"a":1}';
      for (const events of [near, far]) {
        expect(readAnswers(events), `${received} heard`).toEqual([
          [whole, whole],
          ["text 0 quick", "text 0 quick"],
          ["text 0 later", "text 0 later"],
        ]);
        expect(findEventViolation(events, joined), `${received} heard`).toBeUndefined();
      }
    }
  });

  it("publishes a quick answer as deltas, for readers that only add up", async () => {
    const { far } = await play(0);
    expect(textIn(far)).toBe("I shall workquicklater");
    expect(ofType(far, "message_snapshot")).toEqual([]);
  });
});

describe("a node that runs the session itself", () => {
  it("ignores what comes back of its own words", async () => {
    const { node, model, channel } = nodes({ publishes: false });
    const owner = node();
    const near = receivedBy(owner);
    const stream = execute(owner, "go");
    await calm();
    model[0]?.say("one ", "two");
    await calm();
    expect(channel.received).toBeGreaterThan(3);
    model[0]?.end();
    await stream.result();
    await calm();
    expect(findEventViolation(near)).toBeUndefined();
    expect(textIn(near)).toBe("one two");
    expect(channel.recalls).toBe(0);
  });

  it("uses no subscription of the channel while the log notifies it of appends", async () => {
    const { node, model, channel } = nodes();
    const owner = node();
    receivedBy(owner);
    const stream = execute(owner, "go");
    await calm();
    model[0]?.say("one ", "two");
    await calm();
    expect(channel.received).toBe(0);
    model[0]?.end();
    await stream.result();
  });

  it("writes no draft of what is over within two seconds, and one of what is not, of all its lanes", async () => {
    const { node, model, pass, store } = nodes();
    const stream = execute(node(), "go");
    await calm();
    model[0]?.say("one");
    await pass(1_900);
    expect(await store.snapshots.get(ref, "lane")).toBeUndefined();
    await pass(200);
    expect(await store.snapshots.get(ref, "lane")).toMatchObject({ lanes: [{ type: "message_snapshot", content: [{ text: "one" }] }] });
    model[0]?.end();
    await stream.result();
    await calm();
    expect(await store.snapshots.get(ref, "lane")).toBeUndefined();
  });
});

describe("whatever the channel loses and however late the log is", () => {
  it("a watcher gets a legal stream that ends as the log does", async () => {
    let snapshots = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const random = seededRandom(seed);
      const { node, model, channel, store, pass } = nodes({ publishes: random() < 0.5 });
      const slow = nodeStore(store, { publishes: random() < 0.5 });
      const lossy = random() * 0.3;
      channel.loses = () => random() < lossy;
      const forgets = random();
      channel.keeps = ({ n }) => forgets < 0.5 || n > 5;
      const watcher = node({ drives: false, store: slow.store });
      const far = receivedBy(watcher);
      if (random() < 0.5) await watcher.ready();
      const stream = execute(node(), "go");
      await calm();
      let written = "";
      for (let step = 0; step < 30; step++) {
        const word = `${step} `;
        written += word;
        model[0]?.say(word);
        if (random() < 0.1) slow.hold();
        if (random() < 0.2) slow.letThrough();
        if (random() < 0.5) await calm();
        if (random() < 0.2) await pass(random() * 3_000, 250);
        const [lane] = watcher.lanes();
        if (lane?.type === "message_snapshot")
          for (const part of lane.content) expect(written.startsWith("text" in part ? part.text : "?")).toBe(true);
      }
      slow.letThrough();
      model[0]?.end();
      await stream.result();
      await pass(5_000, 250);
      expect(findEventViolation(far, joined), `seed ${seed}`).toBeUndefined();
      expect(far.at(-1), `seed ${seed}`).toMatchObject({ type: "run_end" });
      snapshots += ofType(far, "message_snapshot").length;
    }
    expect(snapshots).toBeGreaterThan(20);
  });
});
