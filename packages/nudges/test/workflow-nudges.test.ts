import { createAgent, createSession, defineTool, execute } from "@loopwright/core";
import { memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { nudgeLimits, type WorkflowNudgesOptions, workflowNudges } from "../src/index.ts";

const toolNamed = (name: string) =>
  defineTool({ name, description: name, parameters: { type: "object" }, replay: "pure", execute: () => "Done." });

/** Runs one input; gives the requests, the text and the notices that the model read. */
async function run(script: readonly ScriptedTurn[], options?: WorkflowNudgesOptions) {
  const provider = scripted(script);
  const tools = ["web_search", "file_read", "edit_file", "git_commit"].map(toolNamed);
  const session = createSession({
    agent: createAgent({ name: "worker", provider, tools, hooks: [workflowNudges(options)] }),
    store: memoryStore(),
  });
  const { text } = await execute(session, "Do it.").result();
  const notices = (provider.requests.at(-1)?.messages ?? []).filter((message) => JSON.stringify(message).includes("You stopped"));
  return { text, calls: provider.requests.length, nudges: notices.length };
}

const calling = (...names: readonly string[]): ScriptedTurn => ({ calls: names.map((name) => ({ name, args: {} })) });
const phases = { explore: ["web_*", "file_read"], edit: ["edit_file"], finalise: ["git_commit"] };

describe("nudges without phases", () => {
  it("C05: are not given to a run that only looked, nor to an answer without tools", async () => {
    expect(await run([calling("web_search", "file_read"), { text: "It is blue." }])).toEqual({ text: "It is blue.", calls: 2, nudges: 0 });
    expect(await run([{ text: "Hello." }])).toEqual({ text: "Hello.", calls: 1, nudges: 0 });
  });

  it("C05: are given once to a run that used a tool which changes something", async () => {
    const script = [calling("file_read"), calling("edit_file"), { text: "I changed it." }, { text: "All is done." }];
    expect(await run(script)).toEqual({ text: "All is done.", calls: 4, nudges: 1 });
  });

  it("may be given again after further calls, which begin a new row", async () => {
    const script = [calling("edit_file"), { text: "One." }, calling("edit_file"), { text: "Two." }, { text: "Three." }];
    expect(await run(script)).toMatchObject({ text: "Three.", calls: 5, nudges: 2 });
  });

  it("are not given to an answer that was cut off by its length, which another rule judges", async () => {
    expect(await run([calling("edit_file"), { text: "I chan", stopReason: "length" }])).toMatchObject({
      calls: 2,
      nudges: 0,
    });
  });
});

describe("nudges with phases", () => {
  it("C72: are given to a run that only looked, twice in a row at most, and to none without phases", async () => {
    const script = [calling("web_search"), { text: "A." }, { text: "B." }, { text: "C." }];
    expect(await run(script, { phases })).toEqual({ text: "C.", calls: 4, nudges: 2 });
    expect(await run(script)).toMatchObject({ text: "A.", calls: 2 });
  });

  it("C72: end when a tool of the last phase has run", async () => {
    const script = [calling("edit_file"), { text: "A." }, calling("git_commit"), { text: "Committed." }];
    expect(await run(script, { phases })).toEqual({ text: "Committed.", calls: 4, nudges: 1 });
    expect(await run([calling("edit_file"), { text: "Edited." }], { phases: { edit: ["edit_file"] } })).toMatchObject({ calls: 2 });
  });
});

it("options outside their limits are refused by name", () => {
  for (const nudgesMax of [0, 1.5, nudgeLimits.nudgesMax + 1, Number.NaN])
    expect(() => workflowNudges({ nudgesMax })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  expect(() => workflowNudges({ phases: {} })).toThrow(/names no tool/);
  expect(() => workflowNudges({ phase: {} } as WorkflowNudgesOptions)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});

it("a run remembers the names of 200 tools", async () => {
  const hooks = workflowNudges();
  const many = Array.from({ length: nudgeLimits.toolsKept + 50 }, (_, place) => ({ name: `tool_${place}` }));
  const verdict = await hooks.decide?.({ reason: "calls", calls: many, message: {}, state: {} } as never);
  expect(verdict).toMatchObject({ state: { used: expect.objectContaining({ length: nudgeLimits.toolsKept }) } });
});
