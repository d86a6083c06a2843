import { defineTool, execute, type FactOf, type Hooks, type Message, textOf } from "@loopwright/core";
import { type ScriptedTurn, scripted, seededRandom } from "@loopwright/core/memory";
import type { ModelRequest } from "@loopwright/core/ports";
import { type CompactionOptions, contextEngine, lightCounter } from "../src/index.ts";
import { type World, world } from "./harness.ts";
import { flawsOf } from "./long-session.ts";

type Random = () => number;

/** Alphabets by what a letter of them has: a quarter of a token, half a token, a token, and two for a pair. */
const alphabets = ["lorem ipsum dolor ", "привет мир ", "园艺和天气", "😀🌳"];

/** So many random letters of each alphabet, drawn once: a text is a piece of them. */
const lettersMax = 65_536;
const texts = alphabets.map((alphabet, seed) => {
  const [random, letters] = [seededRandom(seed + 1), [...alphabet]];
  return Array.from({ length: lettersMax }, () => letters[Math.floor(random() * letters.length)]).join("");
});

function textIn(random: Random, lengthMax: number): string {
  const letters = texts[Math.floor(random() * texts.length)] as string;
  // Short texts are frequent, and a few are larger than any window here.
  const length = Math.ceil(lengthMax * random() ** 4);
  // Emoji have two halves: a piece begins and ends with whole ones.
  const [from, size] = [2 * Math.floor((random() * lettersMax) / 2), 2 * Math.ceil(length / 2)];
  let text = letters.slice(from, from + size);
  while (text.length < size) text += letters.slice(0, size - text.length);
  return text.trim() === "" ? "x" : text;
}

/** What a random history broke, in words, and what it went through. */
export interface PlayedHistory {
  readonly flaws: readonly string[];
  readonly requests: number;
  readonly compactions: number;
  readonly joined: number;
  readonly cut: number;
}

const counter = lightCounter();
const tokensOf = ({ messages, system = [], tools = [] }: ModelRequest): number =>
  [...messages, ...system.map(({ text }) => text), ...tools.map((tool) => JSON.stringify(tool))].reduce(
    (sum, part) => sum + Number(counter.count("any", part)),
    0,
  );

/** Plays one random session: inputs of any script and size, tools in parallel, inputs that join, other processes, models that write bad summaries. */
export async function playRandomHistory(seed: number): Promise<PlayedHistory> {
  const random = seededRandom(seed);
  const adding = addingHooks(seededRandom(seed + 1_000_000));
  const window = 1_000 * 2 ** Math.floor(random() * 4);
  const inputs: string[] = [];
  let joined = 0;
  const flaws: string[] = [];
  let made: World | undefined;

  const join = async (): Promise<void> => {
    for (let count = Math.ceil(random() * 6); count > 0; count--) {
      const text = `${inputs.length}: ${textIn(random, window)}`;
      inputs.push(text);
      joined++;
      await made?.session.submit(text, { mode: "steer" });
    }
  };
  const read = defineTool({
    name: "read",
    description: "Reads.",
    parameters: { type: "object" },
    async execute() {
      if (random() < 0.1) await join();
      const output = textIn(random, window * 6);
      return random() < 0.2 ? { type: "complete", output, summary: textIn(random, 300) } : output;
    },
  });
  const script = (request: ModelRequest): ScriptedTurn => {
    flaws.push(...flawsIn(request, { window, adding }));
    const spent = random() < 0.5 ? { usage: { input: tokensOf(request), output: 5 } } : {};
    if (random() < 0.45) return { ...spent, calls: Array.from({ length: Math.ceil(random() * 3) }, () => ({ name: "read" })) };
    return { ...spent, text: textIn(random, window * 1.5) };
  };
  const context = contextEngine({ compaction: compactionIn(random, join) });
  made = world(script, { tools: [read], hooks: adding ? [adding] : [], contextTokens: window, context, limits: { turnsMax: 6 } });
  for (let run = 0, runs = 2 + Math.floor(random() * 6); run < runs; run++) {
    const text = `${inputs.length}: ${textIn(random, random() < 0.1 ? window * 12 : window)}`;
    inputs.push(text);
    const { status, error } = await execute(made.session, text).result();
    if (status === "error") flaws.push(`run ${run} failed: ${error?.code} ${error?.message}`);
  }
  flaws.push(...(await flawsOfLog(made, inputs)));
  await made.session[Symbol.asyncDispose]();
  const { requests } = made.provider;
  const compactions = (await factsOf(made)).filter(({ type }) => type === "context.compacted").length;
  const cut = requests.filter(({ messages }) => messages.some((message) => textOf(message).includes("left out to fit"))).length;
  return { flaws, requests: requests.length, compactions, joined, cut };
}

/** In every second history: examples of any size, and a passage and a reminder for each call. */
function addingHooks(random: Random): Hooks | undefined {
  if (random() < 0.5) return undefined;
  const examples = Array.from({ length: Math.ceil(random() * 6) }, (_, at): readonly Message[] => [
    { role: "user", content: `Example ${at}: ${textIn(random, 3_000)}` },
    { role: "assistant", content: [{ type: "text", text: textIn(random, 3_000) }], stopReason: "stop" },
  ]).flat();
  return { name: "adding", prepare: () => ({ examples, inputPrefix: "Passage. ", reminders: ["Be brief."] }) };
}

function compactionIn(random: Random, join: () => Promise<void>): CompactionOptions {
  const pins = random() < 0.3 ? { pin: (message: Message) => textOf(message).length % 3 === 0 } : {};
  const at = random() < 0.3 ? { at: 0.5 + random() / 2 } : {};
  if (random() < 0.5) return { ...pins, ...at };
  let joining: Promise<void> | undefined;
  const writer = scripted(() => {
    if (random() < 0.3) joining = join();
    const after = joining ? { after: joining } : {};
    if (random() < 0.2) return { error: "MODEL_OVERLOADED", ...after };
    return { text: textIn(random, random() < 0.2 ? 40_000 : 2_000), ...after };
  });
  return { ...pins, ...at, summary: { provider: writer } };
}

/** What is wrong with one request. */
function flawsIn(
  request: ModelRequest,
  { window, adding }: { readonly window: number; readonly adding: Hooks | undefined },
): readonly string[] {
  const { messages } = request;
  const flaws = [...flawsOf(request)];
  const tokens = tokensOf(request);
  // Each part is rounded up by itself.
  if (tokens > window + messages.length) flaws.push(`${tokens} tokens in a window of ${window}`);
  const first = messages.find((message) => message.role === "user" && !textOf(message).startsWith("Example")) as Message;
  if (!/^(Passage\. )?0: /.test(textOf(first))) flaws.push("the first input is gone");
  if (!adding) return [...flaws, ...(JSON.stringify(messages).isWellFormed() ? [] : ["half a character"])];
  if (messages.at(-1)?.role !== "notice" || textOf(messages.at(-1) as Message) !== "Be brief.")
    flaws.push("the reminder is not at the end");
  if (messages.filter((message) => textOf(message).startsWith("Passage. ")).length !== 1) flaws.push("the passage is not there once");
  if (!JSON.stringify(messages).isWellFormed()) flaws.push("half a character");
  return flaws;
}

const factsOf = ({ store, session }: World) => store.log.read({ scope: "local", session: session.id });

/** What is wrong with what was recorded. */
async function flawsOfLog(made: World, inputs: readonly string[]): Promise<readonly string[]> {
  const flaws: string[] = [];
  const facts = await factsOf(made);
  facts.forEach((fact, at) => {
    if (fact.type !== "context.compacted") return;
    const { tokensBefore = 0, tokensAfter = 0 } = fact as FactOf<"context.compacted">;
    if (tokensAfter >= tokensBefore) flaws.push(`a compaction from ${tokensBefore} to ${tokensAfter} tokens`);
    if (facts[at + 1]?.type !== "model.started") flaws.push("a compaction without its call");
  });
  const kept = new Set(made.session.messages.flatMap((message) => (message.role === "user" ? [textOf(message)] : [])));
  for (const input of inputs) if (!kept.has(input)) flaws.push(`the input ${input.slice(0, 10)} is not in the session`);
  return flaws;
}
