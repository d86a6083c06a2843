import { readFileSync } from "node:fs";
import { assertEventStream, eventTree, findEventViolation, readEventTree, simulateLoop } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  defineTool,
  execute,
  type Fact,
  type MessageId,
  resume,
  type SessionEvent,
  type ToolResultMessage,
} from "../src/index.ts";
import { eventsOf as foldEventsOf } from "../src/loop/events-of.ts";
import { emptyState, type State } from "../src/loop/state.ts";
import type { ScriptedTurn } from "../src/memory/index.ts";
import { type AgentParts, calm, deferred, eventsOf, ofType, world } from "./harness.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const drawn = /<!-- event-tree -->\n```\n([\s\S]*?)\n```/.exec(readme)?.[1] ?? "";
const tree = readEventTree(drawn);
const conforms = (events: readonly AgentEvent[], options: object = {}): void => assertEventStream(events, { tree, ...options });

const object = { type: "object" } as const;
const local = defineTool({
  name: "local",
  description: "Streams.",
  parameters: object,
  async *execute(_, { progress }) {
    const step = progress("Working");
    yield { type: "delta", delta: "a" } as const;
    yield { type: "delta", delta: "b" } as const;
    step.end();
  },
});
const pick = defineTool({ name: "pick", description: "Asks the person.", parameters: object });
const broken = defineTool({
  name: "broken",
  description: "Throws.",
  parameters: object,
  execute: () => {
    throw new Error("no");
  },
});
const tools = [local, pick, broken];
const answer = (toolCallId: string): ToolResultMessage => ({ role: "tool_result", toolCallId, content: "blue" });

/** Lets retries fire until the stream is over. */
async function past(clock: { advance(ms: number): void }): Promise<void> {
  for (let round = 0; round < 8; round++) {
    await calm();
    clock.advance(60_000);
  }
}

describe("the tree in the README", () => {
  it("is the one that assertEventStream goes by", () => {
    expect(tree).toEqual(eventTree);
    expect([...tree.keys()]).toEqual(["execution", "session", "run", "attempt", "remark", "result"]);
  });

  it("may not be drawn askew", () => {
    expect(() => readEventTree("a\n│  │  └─ b")).toThrow(/askew/);
  });
});

describe("the events of an execution are in order", () => {
  const plain: readonly (readonly [string, readonly ScriptedTurn[], AgentParts?])[] = [
    ["of text", [{ text: "a longer answer" }]],
    ["of thinking and text", [{ thinking: "let me think", text: "done" }]],
    ["of an empty answer", [{}]],
    [
      "of tools that run side by side",
      [{ text: "let me", calls: [{ name: "local" }, { name: "local" }, { name: "broken" }] }, { text: "ok" }],
    ],
    ["of an unknown tool and broken arguments", [{ calls: [{ name: "nothing" }, { name: "local", argsText: "{" }] }, { text: "ok" }]],
    ["of several turns", [{ calls: [{ name: "local" }] }, { calls: [{ name: "broken" }] }, { text: "ok" }]],
    ["of a client tool", [{ calls: [{ name: "pick" }, { name: "local" }] }]],
    ["of a refusal", [{ text: "I ca", stopReason: "error" }]],
    [
      "of an answer that was too long",
      [{ text: "and so", calls: [{ name: "local", argsText: '{"a' }], stopReason: "length" }, { text: "ok" }],
    ],
    ["of an error that no attempt heals", [{ text: "half", error: "MODEL_AUTH" }]],
    ["of a limit that takes the tools away", [{ calls: [{ name: "local" }] }, { text: "ok" }], { limits: { turnsMax: 2 } }],
    ["of a limit that stops", [{ calls: [{ name: "local" }] }], { limits: { turnsMax: 1, onLimit: "stop" } }],
    ["of a limit that fails", [{ calls: [{ name: "local" }] }], { limits: { turnsMax: 1, onLimit: "error" } }],
    [
      "of tool calls that are used up",
      [{ calls: [{ name: "local" }, { name: "local" }] }, { text: "ok" }],
      { limits: { toolCallsMax: 1 } },
    ],
    ["of one tool at a time", [{ calls: [{ name: "local" }, { name: "local" }] }, { text: "ok" }], { limits: { parallelMax: 1 } }],
    ["without streaming", [{ thinking: "hm", text: "whole", calls: [{ name: "local" }] }, { text: "ok" }], { stream: false }],
    ["of a hook that stops", [{ calls: [{ name: "local" }] }], { hooks: [{ name: "decide", decide: () => ({ action: "stop" }) }] }],
    ["of a hook that gives notices", [{ text: "ok" }], { hooks: [{ name: "prepare", prepare: () => ({ notices: ["Mind the gap."] }) }] }],
    [
      "of a hook that denies",
      [{ calls: [{ name: "local" }] }, { text: "ok" }],
      { hooks: [{ name: "gate", gate: () => ({ action: "deny", reason: "no" }) }] },
    ],
    [
      "of a hook that throws",
      [],
      {
        hooks: [
          {
            name: "prepare",
            prepare: () => {
              throw new Error("no");
            },
          },
        ],
      },
    ],
  ];
  it.each(plain.map(([of, script, options]) => ({ of, script, options })))("$of", async ({ script, options }) => {
    const { session } = world(script as never, { tools, ...options });
    const published: SessionEvent[] = [];
    session.subscribe((events) => published.push(...events));
    const events = await eventsOf(execute(session, "go"));
    expect(events.length).toBeGreaterThan(6);
    conforms(events);
    conforms(published, { joins: false });
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
  });

  it("of calls whose arguments come interleaved", async () => {
    const args = (index: number, delta: string) => ({ type: "call-args", index, delta }) as const;
    const start = (index: number) => ({ type: "call-start", index, id: `c${index}`, name: "local" }) as const;
    const chunks = [[start(0)], [start(1)], [args(1, "{")], [args(0, "{"), args(1, "}")], [args(0, "}")]];
    const { session } = world([{ chunks }, { text: "ok" }], { tools });
    const events = await eventsOf(execute(session, "go"));
    conforms(events);
    expect(ofType(events, "toolcall_delta").map(({ index }) => index)).toEqual([1, 0, 1, 0]);
  });

  it("of a model that goes back to a block which was over", async () => {
    const piece = (type: "text" | "thinking", index: number, delta: string) => ({ type, index, delta }) as const;
    const chunks = [[piece("thinking", 0, "a")], [piece("text", 1, "b"), piece("thinking", 0, "c")], [piece("text", 1, "d")]];
    const { session } = world([{ chunks }]);
    const events = await eventsOf(execute(session, "go"));
    conforms(events);
    const [snapshot] = ofType(events, "message_snapshot");
    expect(snapshot?.content).toMatchObject([{ text: "ac" }, { text: "bd" }]);
  });

  it("of text that a hook holds back", async () => {
    const hooks = [{ name: "mask", filter: { holdBack: 10, apply: (text: string) => text.replaceAll(/\d{4}/g, "****") } }];
    const { session } = world([{ thinking: "hm 1234", text: "the number 5678 it is", chunkSize: 3 }], { hooks });
    const events = await eventsOf(execute(session, "go"));
    conforms(events);
    expect(JSON.stringify(events)).not.toMatch(/1234|5678/);
  });

  it("of attempts that are made again, with the cause when none is left", async () => {
    const healed = world([{ text: "half", error: "MODEL_OVERLOADED" }, { thinking: "hm", breaksOff: true }, { text: "whole" }]);
    const first = execute(healed.session, "go");
    await past(healed.clock);
    const events = await eventsOf(first);
    conforms(events);
    expect(ofType(events, "attempt_discarded")).toHaveLength(2);
    const hopeless = world((() => ({ text: "half", error: "MODEL_OVERLOADED" })) as never);
    const second = execute(hopeless.session, "go");
    await past(hopeless.clock);
    conforms(await eventsOf(second));
  });

  it("of an abort in mid-answer, in mid-tool, and during the wait for another attempt", async () => {
    const gate = deferred();
    const slow = defineTool({
      name: "slow",
      description: "Waits.",
      parameters: object,
      execute: async () => gate.promise.then(() => "ok"),
    });
    for (const turn of [
      { thinking: "hm", text: "half", hang: true },
      { calls: [{ name: "slow" }, { name: "pick" }] },
      { error: "MODEL_OVERLOADED" },
    ] as const) {
      const { session, clock } = world([turn as ScriptedTurn], { tools: [slow, pick] });
      const stream = execute(session, "go");
      await calm();
      await stream.abort();
      await past(clock);
      const events = await eventsOf(stream);
      conforms(events);
      expect(events.at(-1)).toMatchObject({ status: "aborted" });
    }
  });

  it("of results that continue a run, and of a run that is resumed elsewhere", async () => {
    const { session, again } = world(
      [
        {
          calls: [
            { name: "pick", id: "a" },
            { name: "pick", id: "b" },
          ],
        },
        { text: "ok" },
      ],
      { tools },
    );
    conforms(await eventsOf(execute(session, "go")));
    const partly = await eventsOf(execute(session, [answer("a")]));
    conforms(partly);
    await session[Symbol.asyncDispose]();
    const other = again();
    conforms(await eventsOf(resume(other)));
    const rest = await eventsOf(execute(other, [answer("b")]));
    conforms(rest);
    expect(ofType(rest, "turn_end")).toHaveLength(2);
    conforms(await eventsOf(execute(other, [answer("b")])));
  });

  it("of a message that is steered in while the model speaks, for both readers", async () => {
    const gate = deferred();
    const { session } = world([{ text: "one and two", after: gate.promise }, { text: "three" }]);
    const first = execute(session, "1");
    await calm();
    const second = execute(session, "2", { mode: "steer" });
    gate.resolve();
    conforms(await eventsOf(first));
    const joined = await eventsOf(second);
    conforms(joined);
    expect(ofType(joined, "input_accepted")).toEqual([expect.objectContaining({ mode: "steer" })]);
  });

  it("of messages that wait, interrupt, come again and are answered again", async () => {
    const { session } = world([{ text: "long", hang: true }, { text: "two" }, { text: "three" }, { text: "again" }]);
    const published: SessionEvent[] = [];
    session.subscribe((events) => published.push(...events));
    const first = execute(session, "1");
    await calm();
    const streams = [first, execute(session, "2", { mode: "interrupt" }), execute(session, "3", { idempotencyKey: "k" })];
    for (const stream of streams) conforms(await eventsOf(stream));
    const replayed = await eventsOf(execute(session, "3", { idempotencyKey: "k" }));
    conforms(replayed);
    expect(replayed.map(({ type }) => type)).toEqual(["session_start", "session_end", "execute_complete"]);
    const user = session.messageIds[session.messages.findIndex(({ role }) => role === "user")] as MessageId;
    conforms(await eventsOf(execute(session, { regenerate: user })));
    await session.change({ title: "t" });
    await session.moveHead(user);
    await session.end();
    conforms(published, { joins: false });
    expect(published.at(-1)?.type).toBe("session_closed");
  });

  it("of a session that is closed while a run is open", async () => {
    const { session } = world([{ calls: [{ name: "pick" }] }], { tools });
    const published: SessionEvent[] = [];
    session.subscribe((events) => published.push(...events));
    await execute(session, "go").result();
    await session.end();
    conforms(published, { joins: false });
  });

  it("to a reader that is far behind, with a snapshot in place of deltas", async () => {
    const { session } = world([{ text: "x".repeat(1_200_000), chunkSize: 1_000 }, { text: "next" }]);
    const stream = execute(session, "go");
    await stream.result();
    const events = await eventsOf(stream);
    conforms(events, { mayLoseDeltas: true });
    expect(() => conforms(events)).toThrow();
  });
});

function publishedOf(before: State, fact: Fact): readonly SessionEvent[] {
  return foldEventsOf(before, fact).map((body, k) => ({ ...body, seq: fact.seq, k, at: fact.at, sessionId: "s" }));
}

describe("any session", () => {
  it("is published in order, whatever happens in it", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const { facts, states } = simulateLoop(seed);
      const published = facts.flatMap((fact, i) => publishedOf(states[i] ?? emptyState, fact));
      expect(findEventViolation(published, { tree, joins: false, mayLoseDeltas: true }), `seed ${seed}`).toBeUndefined();
      const middle = Math.floor((published.length * (seed % 10)) / 10);
      expect(findEventViolation(published.slice(middle), { tree, mayLoseDeltas: true }), `seed ${seed} from ${middle}`).toBeUndefined();
    }
  });
});

describe("a wrong stream is refused", () => {
  const record = async (): Promise<readonly AgentEvent[]> => {
    const script = [
      {
        thinking: "hm",
        text: "let me",
        calls: [
          { name: "local", id: "a" },
          { name: "local", id: "b" },
        ],
      },
      { text: "ok" },
    ];
    return eventsOf(execute(world(script, { tools, limits: { parallelMax: 1 } }).session, "go"));
  };
  const find = (events: readonly AgentEvent[], type: AgentEvent["type"], which = 0): number =>
    events.flatMap((event, i) => (event.type === type ? [i] : []))[which] ?? -1;
  const without =
    (type: AgentEvent["type"], which = 0) =>
    (events: readonly AgentEvent[]) =>
      events.toSpliced(find(events, type, which), 1);
  const twice = (type: AgentEvent["type"]) => (events: readonly AgentEvent[]) =>
    events.toSpliced(find(events, type), 0, events[find(events, type)] as AgentEvent);
  const change =
    (type: AgentEvent["type"], fields: object, which = 0) =>
    (events: readonly AgentEvent[]) =>
      events.with(find(events, type, which), { ...events[find(events, type, which)], ...fields } as AgentEvent);
  const swap = (type: AgentEvent["type"]) => (events: readonly AgentEvent[]) => {
    const i = find(events, type);
    return events.with(i, events[i + 1] as AgentEvent).with(i + 1, events[i] as AgentEvent);
  };

  const wrong: readonly (readonly [string, (events: readonly AgentEvent[]) => readonly AgentEvent[], RegExp])[] = [
    ["a delta before its call", without("toolcall_start", 1), /got toolcall_delta index 3 before toolcall_start/],
    ["a delta before its text", without("text_start"), /got text_delta index 1 before text_start/],
    ["an end without a beginning", without("tool_execution_start"), /before tool_execution_start|before lane/],
    ["a lost delta", without("text_delta"), /number/],
    ["text that does not add up", change("text_end", { text: "other" }), /another text than its deltas/],
    ["thinking that is never ended", without("thinking_end"), /text_start number|before the end of thinking 0/],
    ["an event told twice", twice("turn_start"), /got turn_start at/],
    [
      "a message end of another role",
      change("message_end", { message: { role: "notice", text: "x" } }),
      /message_end of role notice for a message of role user/,
    ],
    ["a message that never began", without("message_start", 1), /got thinking_start|before lane/],
    ["a turn without its start", without("turn_start"), /message_start of role assistant/],
    ["a turn with another number", change("turn_start", { turn: 7 }), /turn 7 after turn 0/],
    ["a turn that ends as another", change("turn_end", { turn: 7 }), /turn_end of turn 7/],
    ["a call without its result", (events) => events.toSpliced(find(events, "message_start", 2), 2), /turn_end|before the result/],
    ["a turn that is never ended", without("turn_end"), /got turn_start/],
    ["an answer in a lane that is closed", change("text_delta", { lane: 1 }), /before lane 1 was opened/],
    ["a run without its start", without("run_start"), /got message_start/],
    ["a run without its end", without("run_end"), /got execute_complete completed before run_end/],
    ["an execution without its start", (events) => events.slice(1), /got session_end/],
    ["nothing behind the end", (events) => events.slice(0, -1), /the stream ended where execute_complete may come/],
    ["an end before the end", swap("session_end"), /got execute_complete/],
    ["more behind the end", (events) => [...events, { type: "rest" }, events[0] as AgentEvent], /got session_start where nothing may come/],
    ["other messages at the end", change("session_end", { messages: [] }), /other messages/],
    ["another status than the run's", change("execute_complete", { status: "error" }), /execute_complete error after a run that completed/],
    [
      "a limit that nobody reached first",
      (events) =>
        events.toSpliced(find(events, "text_delta"), 0, {
          type: "limit_reached",
          which: "turns",
          value: 1,
          seq: 99,
          k: 0,
          at: 0,
          sessionId: "s1",
        }),
      /got limit_reached/,
    ],
  ];
  it.each(wrong)("with %s", async (_, spoil, reason) => {
    const events = await record();
    conforms(events);
    const spoilt = spoil(events);
    expect(spoilt).not.toEqual(events);
    expect(() => conforms(spoilt, { joins: false })).toThrow(reason);
  });

  it("but one of a later version, with unknown types, is not", async () => {
    const events = await record();
    conforms([...events.slice(0, 5), { type: "moon_risen", seq: 1 } as never, ...events.slice(5)]);
  });
});
