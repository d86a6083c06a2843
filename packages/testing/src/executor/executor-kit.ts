import {
  type AgentSession,
  createAgent,
  createSession,
  defineTool,
  type ExecuteResult,
  execute,
  type ModelProvider,
} from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { Make, StoreCase, StoreKit } from "../kit/store-case.ts";
import { expectSoon } from "../kit/store-expectation.ts";

/** What an executor does when it is asked once: its content in the order text, calls, then how it ends. */
export interface ExecutorTurn {
  readonly text?: string;
  /** True: its text is all that it was sent: a line `<role>: <text>` for each message, oldest first, then `tools: <names>` where there are some. */
  readonly recites?: true;
  readonly calls?: readonly { readonly name: string; readonly args: Readonly<Record<string, string>> }[];
  /** Absent: it reports no tokens. */
  readonly usage?: { readonly input: number; readonly output: number };
  /** `failing`: for good, so that nothing would be gained by asking again. `never`: it sends nothing more until it is stopped. Default `well`. */
  readonly end?: "well" | "failing" | "never";
}

/** Executors of one kind. */
export interface ExecutorUnderTest {
  /** One that plays these turns, one each time it is asked. */
  play(turns: readonly ExecutorTurn[]): ModelProvider;
  /** How many calls of all of them are still at work: processes, connections. */
  running(): number;
  /** How long a stop may take to be seen, in milliseconds. Default 10,000. */
  readonly patienceMs?: number;
}

const sessionOf = (provider: ModelProvider, looked: string[] = []): AgentSession =>
  createSession({
    agent: createAgent({
      name: "executed",
      provider,
      tools: [
        defineTool({
          name: "look_up",
          description: "Looks a word up.",
          parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
          execute: ({ word }) => {
            looked.push(String(word));
            return `the meaning of ${String(word)}`;
          },
        }),
      ],
    }),
  });

const ask = (session: AgentSession, text: string): Promise<ExecuteResult> => execute(session, text).result();

function expectCompleted(result: ExecuteResult): void {
  expectThat(result.status === "completed", `The run was ${result.status}${result.error ? `: ${result.error.message}` : ""}.`);
}

async function expectRest(under: ExecutorUnderTest): Promise<void> {
  await expectSoon(() => under.running() === 0, { what: "nothing of it is at work", withinMs: under.patienceMs ?? 10_000 });
}

const answerCases: readonly StoreCase<ExecutorUnderTest>[] = [
  {
    id: "answer",
    promise: "what it writes is streamed and is the answer of the run, and nothing of it is at work then",
    async run(make) {
      const under = await make();
      const run = execute(sessionOf(under.play([{ text: "Two lines,\nand a brücke 🌉." }])), "Hello.");
      let streamed = "";
      for await (const event of run) if (event.type === "text_delta") streamed += event.delta;
      const result = await run.result();
      expectCompleted(result);
      expectSame([streamed, result.text], ["Two lines,\nand a brücke 🌉.", "Two lines,\nand a brücke 🌉."], "the answer");
      await expectRest(under);
    },
  },
  {
    id: "history",
    promise: "it is sent the whole conversation each time, and the names of the tools",
    async run(make) {
      const session = sessionOf((await make()).play([{ text: "First answer." }, { recites: true }]));
      await ask(session, "First question.");
      const { text } = await ask(session, "Second question.");
      expectSame(text, "user: First question.\nassistant: First answer.\nuser: Second question.\ntools: look_up", "what it was sent");
    },
  },
  {
    id: "tools",
    promise: "a tool that it asks for runs with those arguments, and it is asked again with the result",
    async run(make) {
      const looked: string[] = [];
      const under = await make();
      const calls = [{ name: "look_up", args: { word: "brücke" } }];
      const result = await ask(sessionOf(under.play([{ text: "I look.", calls }, { recites: true }]), looked), "What is it?");
      expectCompleted(result);
      expectSame(looked, ["brücke"], "the calls");
      expectThat(result.text.includes("tool: the meaning of brücke"), `It was sent: ${result.text}`);
    },
  },
  {
    id: "usage",
    promise: "tokens that it reports are counted, and tokens that it does not report are absent",
    async run(make) {
      const session = sessionOf((await make()).play([{ text: "One.", usage: { input: 12, output: 7 } }, { text: "Two." }]));
      const counted = (await ask(session, "One?")).usage;
      expectSame([counted?.input, counted?.output], [12, 7], "the tokens");
      const uncounted = (await ask(session, "Two?")).usage;
      expectSame([uncounted?.input, uncounted?.output], [undefined, undefined], "the tokens of an answer without a report");
    },
  },
  {
    id: "at-once",
    promise: "sessions that it answers at once do not mix",
    async run(make) {
      const under = await make();
      const names = ["one", "two", "three"];
      const provider = under.play(names.map(() => ({ recites: true })));
      const results = await Promise.all(names.map((name) => ask(sessionOf(provider), `Question ${name}.`)));
      expectSame(
        results.map(({ text }) => text),
        names.map((name) => `user: Question ${name}.\ntools: look_up`),
        "the answers",
      );
    },
  },
];

const endCases: readonly StoreCase<ExecutorUnderTest>[] = [
  {
    id: "failure",
    promise: "one that fails ends the run once, with a typed error that has no text of the conversation, and the next input is answered",
    async run(make) {
      const under = await make();
      const session = sessionOf(under.play([{ text: "Half an ans", end: "failing" }, { text: "Whole." }]));
      const { status, error } = await ask(session, "a question that stands in no error");
      expectThat(status === "error" && error !== undefined, `The run was ${status}.`);
      expectThat(error.code !== "INTERNAL", "Its error has no type.");
      expectThat(!error.message.includes("stands in no error"), "Its error shows the question.");
      await expectRest(under);
      const next = await ask(session, "And now?");
      expectCompleted(next);
      expectSame(next.text, "Whole.", "the next answer: was it asked again?");
    },
  },
  {
    id: "abort",
    promise: "a stop ends the run as aborted with the text so far, and nothing of it is at work then",
    async run(make: Make<ExecutorUnderTest>) {
      const under = await make();
      const run = execute(sessionOf(under.play([{ text: "Half an ans", end: "never" }])), "Hello.");
      let streamed = "";
      // Stopped also where its text never comes: the answer would end with the patience of the model call alone, a minute later.
      const stopped = expectSoon(() => streamed === "Half an ans", { what: "its text is streamed", withinMs: under.patienceMs ?? 10_000 })
        .catch(() => {})
        .then(() => run.abort());
      for await (const event of run) if (event.type === "text_delta") streamed += event.delta;
      await stopped;
      const { status, text } = await run.result();
      expectSame([status, text], ["aborted", "Half an ans"], "the stopped run");
      await expectRest(under);
    },
  },
];

/** What every executor does behind an agent: the model loop over a vendor, a program of one's own, a stub. */
export const executorKit: StoreKit<ExecutorUnderTest> = [...answerCases, ...endCases];
