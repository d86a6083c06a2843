import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent, createSession, type DataPolicy, defineTool, execute } from "@loopwright/core";
import { manualClock, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import { afterAll, describe, expect, it } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";

const folder = freshFolder();
let count = 0;
const stores: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const store of stores) await store.close();
});

/** A word in each content that a policy is about. */
const words = {
  text: "plughtext",
  thinking: "plughthinking",
  args: "plughargs",
  other: "plughzother",
  result: "plughresult",
  otherResult: "plughotherresult",
  details: "plughdetails",
  summary: "plughsummary",
  error: "plugherror",
  blob: "plughblob",
};
type Word = keyof typeof words;

const parameters = { type: "object" } as const;
const tools = [
  defineTool({
    name: "find",
    description: "Finds.",
    parameters,
    outputMax: 2_000_000,
    // Larger than a fact may be, so that it goes to the blobs; and enough for a snapshot.
    execute: () => ({
      type: "complete",
      output: `${words.result} ${`${words.blob} `.repeat(120_000)}`,
      details: { of: words.details },
      summary: words.summary,
    }),
  }),
  defineTool({ name: "other", description: "Does something else.", parameters, execute: () => words.otherResult }),
  defineTool({
    name: "fails",
    description: "Fails.",
    parameters,
    execute: (): never => {
      throw new Error(words.error);
    },
  }),
];
const script: readonly ScriptedTurn[] = [
  {
    thinking: words.thinking,
    text: words.text,
    calls: [
      { name: "find", args: { query: words.args } },
      { name: "other", args: { query: words.other } },
      { name: "fails", args: {} },
    ],
  },
  { text: `Found: ${words.text}.` },
  { text: "And more." },
];

/** Plays two runs, and gives the words in what was streamed, in the requests, and in all bytes of the store. */
async function played(data: DataPolicy | undefined) {
  const path = join(folder, `${count++}.db`);
  const store = sqliteStore({ path });
  const provider = scripted(script);
  const agent = createAgent({ name: "demo", provider, tools, ...(data ? { data } : {}) });
  const session = createSession({ agent, id: "s1", store, clock: manualClock(), snapshotCheckShare: 0 });
  const events: unknown[] = [];
  const stream = execute(session, "Find it.");
  for await (const event of stream) events.push(event);
  const { status } = await stream.result();
  await execute(session, "And more?").result();
  const found = await store.index.search("local", words.text);
  await session[Symbol.asyncDispose]();
  stores.push(store);
  const bytes = [path, `${path}-wal`].map((file) => (existsSync(file) ? readFileSync(file, "latin1") : "")).join("");
  const of = (text: string): readonly Word[] => (Object.keys(words) as Word[]).filter((name) => text.includes(words[name]));
  return {
    status,
    live: of(JSON.stringify(events)),
    inRun: of(JSON.stringify(provider.requests[1]?.messages)),
    later: of(JSON.stringify(provider.requests[2]?.messages)),
    stored: of(bytes),
    isFound: found.length > 0,
    requests: provider.requests,
  };
}

const all = Object.keys(words) as readonly Word[];
const allBut = (...names: readonly Word[]): readonly Word[] => all.filter((name) => !names.includes(name));
const results: readonly Word[] = ["result", "otherResult", "details", "summary", "error", "blob"];

describe("what a data policy leaves out of the store", () => {
  it.each<[string, DataPolicy | undefined, readonly Word[]]>([
    ["B81: nothing without a policy", undefined, allBut("error")],
    ["B80: texts and thinking", { text: false }, allBut("text", "thinking", "error")],
    ["B80: the arguments of all calls", { calls: false }, allBut("args", "other", "error")],
    ["B80: all results, their details and their summaries", { results: false }, allBut(...results)],
    [
      "B80, B82: the calls and results of all tools but those",
      { calls: { only: ["other"] }, results: { only: ["other"] } },
      ["text", "thinking", "other", "otherResult"],
    ],
    [
      "B80, B82: the calls and results of these tools",
      { calls: { without: ["find"] }, results: { without: ["find"] } },
      ["text", "thinking", "other", "otherResult"],
    ],
    ["B80: everything but the input", { text: false, calls: false, results: false }, []],
  ])("%s", async (_, data, stored) => {
    const run = await played(data);
    expect(run.status).toBe("completed");
    // The scan reads log, blobs, snapshots and search index: they are in one file.
    expect(run.stored).toEqual(stored);
    expect(run.isFound).toBe(stored.includes("text"));
    // Errors of tools are for operators alone. Thinking of this model is sent to none.
    const ofThisRun = allBut("error", "summary", "details");
    expect(run.live).toEqual(expect.arrayContaining([...allBut("error", "summary")]));
    expect(run.inRun).toEqual(expect.arrayContaining(ofThisRun.filter((word) => word !== "thinking")));
  });

  it("B80: is read by later runs as placeholders, each call with its result", async () => {
    const { later, requests } = await played({ text: false, calls: false, results: false });
    expect(later).toEqual([]);
    const messages = requests[2]?.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool_result",
      "tool_result",
      "tool_result",
      "assistant",
      "user",
    ]);
    expect(JSON.stringify(messages[1])).toContain("[This text was not stored.]");
    expect(JSON.stringify(messages[2])).toContain("[This result was not stored.]");
  });
});
