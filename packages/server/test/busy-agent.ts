import { type Agent, createAgent, defineTool, type Tool } from "@loopwright/core";
import { type ScriptedCall, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { turnOfLoop } from "../../host/test/turn-of-loop.ts";

/** One, two, three and four bytes in UTF-8, pairs of surrogates, a joined family, line breaks of every kind, and what looks like a frame. */
const words = ["hello", "Grüße", "世界", "🙂", "👩‍👩‍👧", "e\u0301", "a\nb", "c\r\nd", "\u2028", 'data: "x"\n\nid: 9.9\n\n', "\u0000", "."];

/** Text of so many words, the same for the same numbers. */
export function wordsOf(random: () => number, count: number): string {
  return Array.from({ length: count }, () => words[Math.floor(random() * words.length)]).join(" ");
}

const anything = { type: "object", properties: { size: { type: "number" } } } as const;

/**
 * An agent that does all that can be streamed, drawn from the numbers: thinks, speaks, calls tools beside each other (with deltas and progress), fails
 * and is asked again, asks its client, hangs until it is stopped.
 */
export function busyAgent(random: () => number, options: { readonly mayHang?: boolean } = {}): Agent {
  return createAgent({
    name: "busy",
    provider: paced(
      scripted(() => turnOf(random, options.mayHang ?? true), { name: "busy" }),
      random,
    ),
    tools: [countTool(random), failTool, hangTool(random), askTool],
    limits: { turnsMax: 6, abortGraceMs: 500 },
  });
}

function turnOf(random: () => number, mayHang: boolean): ScriptedTurn {
  const draw = random();
  const calls: ScriptedCall[] = [];
  if (draw < 0.55) for (let left = 1 + Math.floor(random() * 3); left > 0; left--) calls.push(callOf(random));
  const turn: ScriptedTurn = {
    ...(random() < 0.4 ? { thinking: wordsOf(random, 6) } : {}),
    ...(random() < 0.9 ? { text: wordsOf(random, 4 + Math.floor(random() * 20)) } : {}),
    calls,
    chunkSize: 1 + Math.floor(random() * 7),
    usage: { input: 10, output: 5 },
  };
  const fate = random();
  if (fate < 0.12) return { ...turn, error: "MODEL_OVERLOADED" };
  if (fate < 0.16) return { ...turn, breaksOff: true };
  return mayHang && fate < 0.2 ? { ...turn, hang: true } : turn;
}

function callOf(random: () => number): ScriptedCall {
  const draw = random();
  const name = draw < 0.6 ? "count" : draw < 0.75 ? "fail" : draw < 0.9 ? "ask" : "hang";
  return { name, args: { size: Math.floor(random() * 12), note: wordsOf(random, 2) } };
}

/** The same model, that lets others have their turn between its words. */
export function paced(provider: ModelProvider, random: () => number): ModelProvider {
  return {
    ...provider,
    name: provider.name,
    async *stream(request, io) {
      for await (const batch of provider.stream(request, io)) {
        yield batch;
        if (random() < 0.3) await turnOfLoop();
      }
    },
  };
}

/** Its output is what it sent. */
const countTool = (random: () => number): Tool =>
  defineTool({
    name: "count",
    description: "Counts aloud.",
    parameters: anything,
    replay: "pure",
    async *execute({ size }, { progress }) {
      yield { type: "delta", delta: "count" };
      const step = progress("counting 數");
      for (let at = 0; at < Number(size); at++) {
        if (random() < 0.6) await turnOfLoop();
        yield { type: "delta", delta: ` ${wordsOf(random, 1)}` };
        if (at === 3) step.update("counting on");
      }
      step.end();
    },
  });

const failTool: Tool = defineTool({
  name: "fail",
  description: "Fails.",
  parameters: anything,
  async execute() {
    await turnOfLoop();
    throw new Error("It failed, as it does.");
  },
});

const hangTool = (random: () => number): Tool =>
  defineTool({
    name: "hang",
    description: "Takes long.",
    parameters: anything,
    async execute(_, { signal }) {
      for (let left = Math.floor(random() * 60); left > 0 && !signal.aborted; left--) await turnOfLoop();
      return "done";
    },
  });

const askTool: Tool = defineTool({ name: "ask", description: "Asks the client.", parameters: anything });
