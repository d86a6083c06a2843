import { AgentError, createAgent, createSession, defineTool, execute, type Fact } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { assertReplay } from "../assert-replay.ts";
import { replaySession } from "../replay-session.ts";
import { readSessionLog, sessionLogText } from "../session-log-file.ts";
import type { FoundText } from "./found-texts.ts";
import { redactSessionLog } from "./redact-session-log.ts";

/** Words of people that begin with `anne`, and their account numbers. */
const find = (text: string): readonly FoundText[] => [
  ...[...text.matchAll(/anne[a-z@.\\"\n]*/g)].map((one) => ({ rule: "name", start: one.index, end: one.index + one[0].length })),
  ...[...text.matchAll(/\b7{6,9}\b/g)].map((one) => ({ rule: "account", start: one.index, end: one.index + one[0].length })),
];
const person = "anne@example.com";
const account = 77_777_777;
const session = "of-anne";

const lookup = defineTool({
  name: "lookup",
  description: "Finds an account.",
  parameters: { type: "object", properties: { of: { type: "string" }, account: { type: "number" } }, required: ["of"] },
  execute({ of }: { readonly of?: string }) {
    if (of === "a stranger") throw new AgentError("TOOL_FAILED", { message: `${person} has no account.` });
    return { [person]: { account, link: `/of?${encodeURIComponent(person)}`, json: JSON.stringify({ of }) } };
  },
});

const agentOf = (turns: Parameters<typeof scripted>[0]) =>
  createAgent({
    name: "desk",
    provider: scripted(turns),
    prompt: ({ labels }) => `You help ${labels["for"] ?? "people"}.`,
    tools: [lookup],
    hooks: [{ name: "notes", prepare: () => ({ state: { last: person } }) }],
  });

/** A session that has its words at every place where a caller, a model and a tool put them. */
async function recorded(): Promise<readonly Fact[]> {
  const store = memoryStore();
  const agent = agentOf([
    { thinking: `This is ${person}.`, text: "I look.", calls: [{ name: "lookup", args: { of: person, account } }] },
    { calls: [{ name: "lookup", args: { of: "a stranger" } }] },
    { text: `${person} has the account ${account}.` },
    { text: "I was about", error: "MODEL_AUTH" },
  ]);
  const handle = createSession({
    agent,
    store,
    id: session,
    title: `Of ${person}`,
    metadata: { [person]: [account, true] },
    access: { scope: "local", user: person, labels: { for: person } },
  });
  const photo = { type: "image", mediaType: "image/png", source: { data: btoa(`png of ${person}`) } } as const;
  const options = { labels: { for: person }, idempotencyKey: `from ${person}` };
  await execute(handle, { role: "user", content: [{ type: "text", text: `I am ${person}.` }, photo] }, options).result();
  await execute(handle, "And again?", { ...options, idempotencyKey: "2", systemPrompt: `Serve ${person}.` }).result();
  await handle.change({ title: `Again ${person}`, sharing: { users: { [person]: "viewer" } } });
  return store.log.read({ scope: "local", session });
}

it("one text has one placeholder, wherever the log has it and however it is written there", async () => {
  const facts = await recorded();
  const { log, replaced } = await redactSessionLog({ session, facts }, { find });
  const text = sessionLogText(log);
  for (const form of ["anne", encodeURIComponent(person), String(account), btoa(`png of ${person}`)]) {
    expect(sessionLogText({ session, facts })).toContain(form);
    expect(text).not.toContain(form);
  }
  expect(replaced.map(({ placeholder, rule }) => [placeholder, rule])).toEqual(
    expect.arrayContaining([
      [expect.stringMatching(/^\[redacted:name-\d\]$/), "name"],
      ["[redacted:account-1]", "account"],
      ["[redacted:media-1]", "media"],
    ]),
  );
  expect(JSON.stringify(replaced)).not.toContain("anne");
  expect(replaced.every(({ places, firstSeq }) => places > 0 && firstSeq >= 1)).toBe(true);
  // Arguments that are numbers stay numbers, the id of the session stays an id, and digests confirm no guess.
  const call = log.facts
    .flatMap((fact) => (fact.type === "model.finished" ? fact.message.content : []))
    .find(({ type }) => type === "tool_call");
  expect(call).toMatchObject({ args: { of: expect.stringMatching(/^\[redacted:name-\d\]$/), account: 1 } });
  expect(log.session).toMatch(/^of-redacted-name-\d$/);
  for (const digest of ["requestDigest", "argsDigest", "keyedDigest"]) expect(text).toContain(`"${digest}":"redacted"`);
});

it("the redacted log is replayed as the recorded one, from its file", async () => {
  const facts = await recorded();
  const { log } = await redactSessionLog({ session, facts }, { find });
  const file = readSessionLog(sessionLogText(log));
  expect(file).toEqual(log);
  const agent = agentOf([]);
  // The hook keeps words of its own, which no rule can know to be the same.
  const silent = createAgent({ ...agent, hooks: [{ name: "notes", prepare: () => ({ state: { last: placeholderOf(log.facts) } }) }] });
  expect(await replaySession({ ...file, agent: silent })).toEqual({ isIdentical: true, equal: facts.length });
  expect(await replaySession({ session, facts, agent })).toEqual({ isIdentical: true, equal: facts.length });
});

const placeholderOf = (facts: readonly Fact[]): string =>
  /\[redacted:name-\d\]/.exec(JSON.stringify(facts.find(({ type }) => type === "model.started")))?.[0] ?? "";

it("schemas, schedules and keys of files leave nothing, and the replay takes the same course", async () => {
  const store = memoryStore();
  const schema = {
    type: "object",
    description: `About ${person}.`,
    properties: { of: { type: "string", enum: [`${person} (1)`] } },
    required: ["of"],
  };
  const agent = agentOf([{ text: JSON.stringify({ of: `${person} (1)` }) }]);
  const tool = { name: "call", description: `Calls ${person}.`, parameters: schema };
  const handle = createSession({ agent, store, id: session, tools: [tool] });
  const options = { output: { name: "found", schema }, trace: "of anne" };
  await execute(handle, "Of whom?", options).result();
  const facts = await store.log.read({ scope: "local", session });
  const { log } = await redactSessionLog({ session, facts }, { find });
  expect(sessionLogText(log)).not.toContain("anne");
  const declared = log.facts.find(({ type }) => type === "session.opened");
  const hidden = expect.stringMatching(/^\[redacted:name-\d\] \(1\)$/);
  expect(declared).toMatchObject({
    tools: [{ parameters: { type: "object", properties: { of: { type: "string", enum: [hidden] } }, required: ["of"] } }],
  });
  const silent = createAgent({
    ...agentOf([]),
    hooks: [{ name: "notes", prepare: () => ({ state: { last: placeholderOf(log.facts) } }) }],
  });
  expect(await replaySession({ ...log, agent: silent })).toEqual({ isIdentical: true, equal: facts.length });
  const message = { role: "user", content: [{ type: "image", mediaType: "image/png", source: { blob: "0123456789abcdef".repeat(4) } }] };
  const scheduled = { type: "schedule.set", schedule: "ask-anne", rule: "by anne", due: 1, input: { message } } as unknown as Fact;
  const { log: dated } = await redactSessionLog({ session, facts: [scheduled] }, { find });
  expect(sessionLogText(dated)).not.toContain("0123456789abcdef");
  expect(dated.facts[0]).toMatchObject({
    schedule: expect.stringMatching(/^ask-redacted-name-\d$/),
    rule: expect.stringMatching(/^by \[/),
  });
});

it("a test with a redacted log fails with the values that differ", async () => {
  const store = memoryStore();
  const agent = createAgent({ name: "desk", provider: scripted([{ text: `Hello ${person}.` }]), prompt: "Be kind." });
  await execute(createSession({ agent, store, id: session }), `I am ${person}.`).result();
  const { log } = await redactSessionLog({ session, facts: await store.log.read({ scope: "local", session }) }, { find });
  await assertReplay({ ...log, agent });
  const other = createAgent({ ...agent, prompt: "Be rude." });
  await expect(assertReplay({ ...log, agent: other })).rejects.toThrow(
    /differs at fact \d+ of \d+\.\nrun\.started agentDigest\n- "\w+"\n\+ "\w+"\nThe agent has changed/,
  );
});

it("texts that overlap or contain one another leave nothing of themselves", async () => {
  const facts = await recorded();
  const parts = (text: string): readonly FoundText[] => {
    const at = text.indexOf(person);
    return at < 0
      ? []
      : [
          { rule: "part", start: at, end: at + 8 },
          { rule: "whole", start: at + 4, end: at + person.length },
          { rule: "none", start: at, end: at },
        ];
  };
  const { log, replaced } = await redactSessionLog({ session, facts }, { find: parts });
  expect(JSON.stringify(log.facts)).not.toContain("example.com");
  expect(replaced.map(({ rule }) => rule)).toEqual(expect.arrayContaining(["part", "media"]));
  expect(replaced.map(({ rule }) => rule)).not.toContain("whole");
});
