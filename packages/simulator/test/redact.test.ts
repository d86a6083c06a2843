import { type Agent, AgentError, createAgent, defineTool, type Fact, type Tool } from "@loopwright/core";
import { sensitiveTexts } from "@loopwright/guardrails";
import { readSessionLog, redactSessionLog, replaySession, sessionLogText } from "@loopwright/replay";
import { canaryScanner } from "@loopwright/testing";
import { expect, it } from "vitest";
import { sampleAgent, sampleModel } from "../src/people/sample-agent.ts";
import { simulateWith } from "../src/run/simulate.ts";
import type { ModelScript } from "../src/world/simulated-model.ts";

const canaries = {
  email: "anne.miller@example.com",
  card: "4111 1111 1111 1111",
  iban: "DE89 3704 0044 0532 0130 00",
  token: `ghp_${"a1B2c3D4".repeat(4)}e5F6`,
  ticket: "TULIP-20931",
};
const cardNumber = 5_555_555_555_554_444;
const find = sensitiveTexts({ rules: [{ id: "ticket", pattern: "TULIP-[0-9]{5}" }] });
const scanner = canaryScanner(
  [...Object.entries(canaries), ["number", String(cardNumber)] as const].map(([name, text]) => ({ name, text })),
);

/** An agent whose inputs, answers, calls and results have what must not be in a file. */
function talkativeAgent(): Agent {
  const agent = sampleAgent();
  const parameters = { type: "object", properties: { to: { type: "string" }, card: { type: "number" } }, required: ["to"] } as const;
  const mail = defineTool({
    name: "mail",
    description: "Sends a message.",
    parameters,
    execute: ({ to }: { readonly to?: string }) => ({
      sent: { [canaries.email]: to ?? "" },
      link: `https://example.com/?to=${encodeURIComponent(canaries.email)}`,
    }),
  }) as Tool;
  const breaks = defineTool({
    name: "breaks",
    description: "Does not work.",
    parameters: { type: "object" },
    execute: () => {
      throw new AgentError("TOOL_FAILED", { message: `The account ${canaries.iban} is closed.` });
    },
  }) as Tool;
  return createAgent({ ...agent, tools: [...agent.tools, mail, breaks] });
}

const talkativeModel: ModelScript = (request, scene) => {
  const turn = sampleModel(request, scene);
  if (scene.dice.chance(0.4) && (request.tools ?? []).some(({ name }) => name === "mail"))
    return {
      thinking: `They said ${canaries.ticket}.`,
      text: `I write to ${canaries.email} with ${canaries.token}.`,
      calls: [
        { name: "mail", args: { to: canaries.email, card: cardNumber } },
        { name: "breaks", args: {} },
      ],
      usage: { input: 20, output: 9 },
    };
  return "text" in turn && turn.text !== undefined && !("error" in turn) ? { ...turn, text: `${turn.text} (${canaries.ticket})` } : turn;
};

const texts = [`I am ${canaries.email}.`, `My card is ${canaries.card}, my token ${canaries.token}.`, "Hello."];
const sessionCount = Number(process.env["LOOPWRIGHT_REDACTIONS"] ?? 4);

async function* talks(count: number): AsyncGenerator<{ readonly seed: number; readonly session: string; readonly facts: readonly Fact[] }> {
  let given = 0;
  for (let seed = 1; given < count; seed++) {
    const logs = new Map<string, readonly Fact[]>();
    const options = { seed, calm: true, agent: talkativeAgent(), model: talkativeModel, texts };
    await simulateWith(options, { onLog: (session, facts) => void logs.set(session, facts) });
    for (const [session, facts] of logs) {
      if (facts.length === 0 || given === count) continue;
      given += 1;
      yield { seed, session, facts };
    }
  }
}

it(`${sessionCount} simulated sessions without their secrets and personal data take the same course in a replay`, async () => {
  const found = new Set<string>();
  const rules = new Map<string, number>();
  for await (const { seed, session, facts } of talks(sessionCount)) {
    const before = await scanner.find(sessionLogText({ session, facts }));
    for (const { canary } of before) found.add(canary);
    const { log, replaced } = await redactSessionLog({ session, facts }, { find });
    for (const { rule, places } of replaced) rules.set(rule, (rules.get(rule) ?? 0) + places);
    const text = sessionLogText(log);
    expect({ seed, session, left: await scanner.find(text) }).toEqual({ seed, session, left: [] });
    expect(await scanner.find(JSON.stringify(replaced))).toEqual([]);
    expect(log.facts.map(({ type }) => type)).toEqual(facts.map(({ type }) => type));
    const report = await replaySession({ ...readSessionLog(text), agent: talkativeAgent() });
    expect({ seed, session, ...report }).toEqual({ seed, session, isIdentical: true, equal: facts.length });
  }
  // A canary that is nowhere would not be found either.
  expect([...found].sort()).toEqual([...Object.keys(canaries), "number"].sort());
  expect([...rules.keys()].sort()).toEqual(["card", "email", "github", "iban", "ticket"]);
});
