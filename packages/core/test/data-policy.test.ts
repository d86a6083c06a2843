import { describe, expect, it } from "vitest";
import { createAgent, type DataPolicy, defineTool, execute, type Message, resume, textOf } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import { calm, deferred, type World, world } from "./harness.ts";

const parameters = { type: "object" } as const;
const nothing: DataPolicy = { text: false, calls: false, results: false };
const calling = { text: "I look.", calls: [{ name: "look", id: "c1", args: { at: "the sun" } }] };

/** The texts of the messages of a request, with the arguments of calls. */
const shown = ({ provider }: World, at: number): readonly string[] =>
  (provider.requests[at]?.messages ?? []).map((message: Message) =>
    message.role === "assistant"
      ? message.content
          .map((part) => (part.type === "text" ? part.text : part.type === "tool_call" ? JSON.stringify(part.args) : ""))
          .join(" ")
      : textOf(message),
  );
const withPlaceholders = ["go", "[This text was not stored.] {}", "[This result was not stored.]"];

describe("a run of an agent that stores nothing of its work", () => {
  const look = defineTool({ name: "look", description: "Looks.", parameters, execute: () => "a bright star" });

  it("B80: has all of it while it is open, and the next run has placeholders, in the same process and in every other one", async () => {
    const made = world([calling, { text: "A star." }, { text: "Yes." }, { text: "Still." }], { tools: [look], data: nothing });
    const result = await execute(made.session, "go").result();
    expect(result.text).toBe("A star.");
    expect(shown(made, 1)).toEqual(["go", 'I look. {"at":"the sun"}', "a bright star"]);
    await execute(made.session, "sure?").result();
    const placeholders = [...withPlaceholders, "[This text was not stored.]", "sure?"];
    expect(shown(made, 2)).toEqual(placeholders);
    await execute(made.again(), "really?").result();
    expect(shown(made, 3)).toEqual([...placeholders, "[This text was not stored.]", "really?"]);
    expect(JSON.stringify(await made.facts())).not.toMatch(/the sun|bright star|I look|A star/);
  });

  it("B82: is continued by another process with placeholders, in pairs", async () => {
    const second = deferred<string>();
    const slow = defineTool({ name: "slow", description: "Is slow.", parameters, replay: "pure", execute: () => second.promise });
    const made = world([calling, { calls: [{ name: "slow", id: "c2", args: { deep: "secret" } }] }, { text: "Done." }], {
      tools: [look, slow],
      data: nothing,
    });
    void execute(made.session, "go")
      .result()
      .catch(() => {});
    await calm();
    expect((await made.types()).filter((type) => type === "tool.started")).toHaveLength(2);
    await made.session[Symbol.asyncDispose]();
    const next = made.again();
    expect((await resume(next).result()).status).toBe("completed");
    expect(shown(made, 2)).toEqual([
      ...withPlaceholders,
      "{}",
      "TOOL_INTERRUPTED: Not run: the process that held the arguments has ended, and they are not stored. Call the tool again.",
    ]);
    expect(JSON.stringify(await made.facts())).not.toContain("secret");
  });

  it("B80: keeps the arguments that a person is asked about, and the call runs with them after a restart", async () => {
    const got: unknown[] = [];
    const buy = defineTool({
      name: "buy",
      description: "Buys.",
      parameters,
      approval: true,
      execute: (args) => got.push(args) && "bought",
    });
    const made = world([{ calls: [{ name: "buy", id: "c1", args: { what: "a boat" } }] }, { text: "Bought." }], {
      tools: [buy],
      data: { calls: false },
    });
    const waiting = await execute(made.session, "go").result();
    expect(waiting.pendingApprovals).toMatchObject([{ args: { what: "a boat" } }]);
    await made.session[Symbol.asyncDispose]();
    const next = await made.again().ready();
    await next.decide(waiting.pendingApprovals?.[0]?.callKey as string, { decision: "allow" });
    await resume(next).result();
    expect(got).toEqual([{ what: "a boat" }]);
  });

  it("B80: keeps calls that a client answers, and their results", async () => {
    const pick = defineTool({ name: "pick", description: "Picks.", parameters });
    const made = world([{ calls: [{ name: "pick", id: "c1", args: { of: "colours" } }] }, { text: "Blue." }], {
      tools: [pick],
      data: nothing,
    });
    await execute(made.session, "go").result();
    await made.session[Symbol.asyncDispose]();
    await execute(made.again(), [{ role: "tool_result", toolCallId: "c1", content: "blue" }]).result();
    expect(shown(made, 1)).toEqual(["go", '{"of":"colours"}', "blue"]);
  });

  it("B80: has the same cursors for those that read the log as for those that watched", async () => {
    const made = world([calling, { text: "A star." }], { tools: [look], data: nothing });
    const live: string[] = [];
    for await (const event of execute(made.session, "go")) if ("seq" in event) live.push(`${event.seq}.${event.k} ${event.type}`);
    const read: string[] = [];
    const runId = (await made.facts()).flatMap((fact) => (fact.type === "run.started" ? [fact.runId] : []))[0] as string;
    const reader = await made.again().ready();
    for await (const events of reader.readRun(runId)) for (const event of events) read.push(`${event.seq}.${event.k} ${event.type}`);
    expect(read.filter((line) => live.includes(line))).toEqual(live.filter((line) => read.includes(line)));
    expect(read.length).toBeGreaterThan(5);
  });

  it("B86: does not store the summary of what it does not store", async () => {
    const compaction = { summary: "They looked at a bright star." };
    const made = world([calling, { text: "A star." }], {
      tools: [look],
      data: nothing,
      context: {
        open: () => ({
          prepare: ({ history, turn }) =>
            turn === 2 ? { compaction: { ...compaction, from: history.ids[1] as string, to: history.ids[2] as string } } : undefined,
          fit: ({ history }) => ({ messages: history.messages }),
        }),
      },
    });
    await execute(made.session, "go").result();
    expect(shown(made, 1)[1]).toContain("bright star");
    expect(JSON.stringify(await made.facts())).not.toContain("bright star");
  });
});

it.each<[unknown, string]>([
  [{ texts: false }, "`data.texts` is no option"],
  [{ text: "no" }, "`data.text` is neither true nor false"],
  [{ calls: ["look"] }, "`data.calls` is not usable"],
  [{ results: { only: ["a"], without: ["b"] } }, "`data.results` is not usable"],
])("createAgent refuses the data policy %j", (data, message) => {
  expect(() => createAgent({ name: "a", provider: scripted([]), data: data as DataPolicy })).toThrow(message);
});
