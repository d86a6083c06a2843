import type { ModelRequest, ToolSpec } from "@loopwright/core/ports";
import { type Exchange, hasFailed, lastExchange, shown } from "./exchange.ts";
import { mendedArguments } from "./mended-arguments.ts";
import type { OfflineReply } from "./offline-answer.ts";
import { helpText, label, longText, refusal, thinkingText } from "./offline-texts.ts";
import { researchReply } from "./research/research-reply.ts";
import { argumentsFor } from "./tool-arguments.ts";
import { harmlessOf, wantedTools } from "./wanted-tools.ts";
import { readWords, type Words } from "./words.ts";

/** A keyword counts only in a message of at most this many words: a command, not a text that contains the word. */
const commandWordsMax = 6;
const shownMax = 400;

/** Computes the reply from the request alone, so that the same request gives the same reply. */
export function replyTo(request: ModelRequest, attempt: number): OfflineReply {
  const exchange = lastExchange(request.messages);
  const { text, done, results } = exchange;
  const research = researchReply(request, exchange) ?? mendedArguments(text);
  if (research) return research;
  const words = readWords(text);
  const tools = request.toolChoice === "none" ? [] : (request.tools ?? []);
  const calls = dueCalls(request, { tools, words, done });
  if (calls.length > 0) return { text: announce(calls, results), calls };
  if (request.output) {
    const { schema } = request.output;
    return { text: JSON.stringify(argumentsFor(schema, words)) };
  }
  if (results.length > 0) return { text: `${results.map(rewrite).join("\n\n")}\n\n${label}` };
  return command(words, { tools, attempt }) ?? echo(text, words);
}

type Calls = NonNullable<OfflineReply["calls"]>;

function dueCalls(
  request: ModelRequest,
  { tools, words, done }: { tools: readonly ToolSpec[]; words: Words; done: readonly string[] },
): Calls {
  const choice = request.toolChoice;
  const forced = typeof choice === "object" ? tools.filter(({ name }) => name === choice.tool) : undefined;
  const wanted = forced ?? wantedTools(tools, words);
  const pending = forced ?? wanted.filter(({ name }) => !done.includes(name));
  const inSteps = request.parallelToolCalls === false || /\b(then|after that|afterwards|step by step|one after)\b/i.test(words.text);
  const due = choice === "required" && pending.length === 0 ? anyOf(tools) : inSteps ? pending.slice(0, 1) : pending;
  return due.map((tool) => ({ name: tool.name, args: argumentsFor(tool.parameters, words) }));
}

/** The tool for a request that requires any tool: preferably one that changes nothing. */
function anyOf(tools: readonly ToolSpec[]): readonly ToolSpec[] {
  return [...harmlessOf(tools), ...tools].slice(0, 1);
}

function announce(calls: Calls, results: Exchange["results"]): string {
  const names = calls.map(({ name }) => `\`${name}\``).join(" and ");
  const notified = results.at(-1);
  return notified ? `${rewrite(notified)}\n\nNext I call ${names}.` : `I call ${names}.`;
}

function rewrite({ name, result }: Exchange["results"][number]): string {
  const text = shown(result).trim();
  const quoted = text.length > shownMax ? `${text.slice(0, shownMax)} …` : text;
  if (hasFailed(result)) return `The tool \`${name}\` gave no result: ${quoted || "it said nothing"}`;
  return quoted === "" ? `The tool \`${name}\` is done and said nothing.` : `The tool \`${name}\` says: ${quoted}`;
}

function command(words: Words, { tools, attempt }: { tools: readonly ToolSpec[]; attempt: number }): OfflineReply | undefined {
  const prints = (pattern: RegExp): boolean => words.words.length <= commandWordsMax && pattern.test(words.text);
  if (words.words.length === 0 || prints(/\b(help|hello|hi|hey|start)\b|what can you/i)) {
    return { text: `${helpText(tools.map(({ name }) => name))}\n\n${label}` };
  }
  if (prints(/\bretry\b/i)) {
    if (attempt > 1) return { text: `Attempt ${attempt} worked: the one before failed because you asked to see that.\n\n${label}` };
    return {
      text: "This attempt is going to",
      failure: { code: "MODEL_OVERLOADED", message: "The offline demo model fails once, as asked." },
    };
  }
  if (prints(/\berror\b|\bfail/i)) {
    return {
      text: "This answer ends in",
      failure: { code: "MODEL_BAD_REQUEST", message: "The offline demo model failed, because you asked for it." },
    };
  }
  if (prints(/\brefus/i)) return { text: "I am sorry,", refusal };
  if (prints(/\bcut off\b/i)) return { text: "This answer is cut off by the output limit in the middle of a", cutOff: true };
  if (prints(/\blong\b/i)) return { text: `${longText}\n\n${label}` };
  if (prints(/\btools?\b|\bclient\b/i)) {
    return { text: `No fitting tool was offered to me. Give the agent one and ask again.\n\n${label}` };
  }
  return undefined;
}

function echo(text: string, words: Words): OfflineReply {
  const topic = text.trim().length > shownMax ? `${text.trim().slice(0, shownMax)} …` : text.trim();
  const answer = `You wrote: ${topic}\n\nI cannot answer that: I only show what answers look like. Write \`help\` for a list.\n\n${label}`;
  return words.words.some((word) => word.startsWith("think")) ? { thinking: thinkingText(topic), text: answer } : { text: answer };
}
