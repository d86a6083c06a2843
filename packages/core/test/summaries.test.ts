import { describe, expect, it } from "vitest";
import { defineTool, execute, type Message, textOf } from "../src/index.ts";
import type { ScriptedStep } from "../src/memory/index.ts";
import type { ModelRequest } from "../src/ports/index.ts";
import { type World, world } from "./harness.ts";

const parameters = { type: "object" } as const;
const image = { type: "image", mediaType: "image/png", source: { data: "iVBORw0KGgo=" } } as const;
let reads = 0;
const read = defineTool({
  name: "read",
  description: "Reads a page.",
  parameters,
  execute: () => ({ type: "complete", output: `page ${++reads} in full`, summary: `page ${reads}` }),
});
const plain = defineTool({ name: "plain", description: "Says it all.", parameters, execute: () => "all of it" });
const picture = defineTool({
  name: "picture",
  description: "Shows a picture.",
  parameters,
  execute: () => ({ type: "complete", output: [image], summary: "A picture of a cat." }),
});
const choose = defineTool({ name: "choose", description: "Lets the person choose.", parameters });

const resultsIn = (request: ModelRequest | undefined): readonly string[] => resultsOf(request?.messages ?? []);
const resultsOf = (messages: readonly Message[]): readonly string[] => messages.filter(({ role }) => role === "tool_result").map(textOf);

function reading(script: readonly ScriptedStep[], more: Parameters<typeof world>[1] = {}): World {
  reads = 0;
  return world(script, { tools: [read, plain, picture, choose], ...more });
}

describe("the summary of a tool's output", () => {
  const twoCalls = { calls: [{ name: "read" }, { name: "plain" }] };
  const script = [
    twoCalls,
    { calls: [{ name: "read" }] },
    { text: "One." },
    { calls: [{ name: "read" }] },
    { text: "Two." },
    { text: "Three." },
  ];

  it("B56, B58: stands for it from the next run on, and in that run for every model call", async () => {
    const { session, provider } = reading(script);
    await execute(session, "a").result();
    await execute(session, "b").result();
    expect(provider.requests.map(resultsIn)).toEqual([
      [],
      ["page 1 in full", "all of it"],
      ["page 1 in full", "all of it", "page 2 in full"],
      ["page 1", "all of it", "page 2"],
      ["page 1", "all of it", "page 2", "page 3 in full"],
    ]);
    await execute(session, "c").result();
    expect(resultsIn(provider.requests[5])).toEqual(["page 1", "all of it", "page 2", "page 3"]);
  });

  it("B58: stands for it after a restart too, and after one from a snapshot of the fold", async () => {
    const { session, again, provider } = reading(script);
    await execute(session, "a").result();
    await execute(again(), "b").result();
    expect(resultsIn(provider.requests[3])).toEqual(["page 1", "all of it", "page 2"]);
    await execute(again({ snapshotCheckShare: 1 }), "c").result();
    expect(resultsIn(provider.requests[5])).toEqual(["page 1", "all of it", "page 2", "page 3"]);
  });

  it("does not stand for it in a run that another process continues", async () => {
    const { session, again, provider } = reading([{ calls: [{ name: "read" }, { name: "choose", id: "c" }] }, { text: "Done." }]);
    await execute(session, "a").result();
    await session[Symbol.asyncDispose]();
    await execute(again(), [{ role: "tool_result", toolCallId: "c", content: "blue" }]).result();
    expect(resultsIn(provider.requests[1])).toEqual(["page 1 in full", "blue"]);
  });

  it("is for models alone: people see the output, in the transcript, in snapshots and in what `session.messages` gives", async () => {
    const { session, again } = reading(script);
    const first = await execute(session, "a").result();
    await execute(session, "b").result();
    const whole = ["page 1 in full", "all of it", "page 2 in full"];
    expect(resultsOf(first.messages)).toEqual(whole);
    expect(resultsOf(session.messages)).toEqual([...whole, "page 3 in full"]);
    const restored = await again().ready();
    expect(resultsOf(restored.messages)).toEqual([...whole, "page 3 in full"]);
    // A snapshot has results of one turn in the order in which they came.
    const inSnapshot = resultsOf(restored.snapshot().messages.map(({ message }) => message));
    expect([...inSnapshot].sort()).toEqual([...whole, "page 3 in full"].sort());
  });

  it("is the only message that changes: every other one keeps its identity, and a summary has one of its own", async () => {
    const { session, provider } = reading(script);
    await execute(session, "a").result();
    await execute(session, "b").result();
    await execute(session, "c").result();
    const [of2, of3, of5] = [2, 3, 5].map((place) => provider.requests[place]?.messages ?? []);
    const changed = (of2 ?? []).flatMap((message, at) => (of3?.[at] === message ? [] : [textOf(message)]));
    expect(changed).toEqual(["page 1 in full", "page 2 in full"]);
    expect(of3?.every((message, at) => of5?.[at] === message)).toBe(true);
  });

  it("leaves alone the list of a request that went out before", async () => {
    const lists: (readonly Message[])[] = [];
    const { session, provider } = reading(script);
    const stream = provider.stream.bind(provider);
    Object.assign(provider, {
      stream: (request: ModelRequest, io: never) => {
        lists.push(request.messages);
        return stream(request, io);
      },
    });
    await execute(session, "a").result();
    await execute(session, "b").result();
    expect(resultsOf(lists[2] ?? [])).toEqual(["page 1 in full", "all of it", "page 2 in full"]);
  });

  it("takes the place of an image, so that a model without vision can continue", async () => {
    const { session, provider } = reading([{ calls: [{ name: "picture" }] }, { text: "A cat." }, { text: "Still a cat." }]);
    await execute(session, "a").result();
    const capabilities = { ...provider.capabilities("scripted-1"), vision: false };
    Object.assign(provider, { capabilities: () => capabilities });
    expect(await execute(session, "b").result()).toMatchObject({ status: "completed" });
    expect(resultsIn(provider.requests[2])).toEqual(["A picture of a cat."]);
  });

  it("that is blank is none", async () => {
    const blank = defineTool({ ...read, name: "blank", execute: () => ({ type: "complete", output: "all", summary: " \n" }) as const });
    const { session, provider } = reading([{ calls: [{ name: "blank" }] }, { text: "One." }, { text: "Two." }], { tools: [blank] });
    await execute(session, "a").result();
    await execute(session, "b").result();
    expect(resultsIn(provider.requests[2])).toEqual(["all"]);
  });

  it("stands for it on another branch of the session", async () => {
    const { session, provider } = reading([{ calls: [{ name: "read" }] }, { text: "One." }, { text: "Two." }]);
    await execute(session, "a").result();
    await execute(session, "b", { parent: session.messageIds.at(-1) ?? null }).result();
    expect(resultsIn(provider.requests[2])).toEqual(["page 1"]);
  });

  it("passes the filter of the hooks, and gives way to the output that a review puts in place", async () => {
    const filter = { apply: (text: string) => text.replaceAll("page", "****") };
    const calls = [{ calls: [{ name: "read" }] }, { text: "One." }, { text: "Two." }];
    const masked = reading(calls, { hooks: [{ name: "filter", filter: { ...filter, holdBack: 0 } }] });
    await execute(masked.session, "a").result();
    await execute(masked.session, "b").result();
    expect(resultsIn(masked.provider.requests[2])).toEqual(["**** 1"]);
    const reviewed = reading(calls, { hooks: [{ name: "review", review: () => ({ output: "nothing to see" }) }] });
    await execute(reviewed.session, "a").result();
    await execute(reviewed.session, "b").result();
    expect(resultsIn(reviewed.provider.requests[2])).toEqual(["nothing to see"]);
  });
});

it("sessions without summaries keep the list of their messages from run to run", async () => {
  const lists: (readonly Message[])[] = [];
  const { session, provider } = reading([{ calls: [{ name: "plain" }] }, { text: "One." }, { text: "Two." }]);
  const stream = provider.stream.bind(provider);
  Object.assign(provider, {
    stream: (request: ModelRequest, io: never) => {
      lists.push(request.messages);
      return stream(request, io);
    },
  });
  await execute(session, "a").result();
  await execute(session, "b").result();
  expect(new Set(lists).size).toBe(1);
});
