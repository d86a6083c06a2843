/** Ends every answer, so that the demonstration is not taken for a real model. */
export const label = "_Offline demo model: no network, no key, nothing is really understood._";

/** The answer of a model that refuses. */
export const refusal = "The offline demo model declined to answer, because you asked it to show a refusal.";

/** What the offline model can show, with the tools that were offered to it. */
export function helpText(toolNames: readonly string[]): string {
  const tools = toolNames.length === 0 ? "none in this session" : toolNames.map((name) => `\`${name}\``).join(", ");
  return [
    "I am the offline demo model. I run inside this process and answer from a fixed set of texts. Try one of these:\n",
    "| write | and see |",
    "|---|---|",
    "| `think about something` | thinking before the answer |",
    "| `what time is it?` or `6 * 7` | a tool call, when a fitting tool is offered |",
    "| `what time is it and what is 6 * 7?` | two tool calls at once |",
    "| `what time is it, then 6 * 7` | two tool calls, one turn after the other |",
    "| `use <tool name>` | a call of that tool, with arguments made from its schema; tools that write are called only so |",
    "| `client tool` | a call that waits for your side, when such a tool is offered |",
    "| `long answer` | a long text with headings, a list, a table and code |",
    "| `cut off` | an answer that ends at the length limit |",
    "| `retry` | a failure of the first attempt, then an answer |",
    "| `refuse` | a refusal |",
    "| `error` | a failure that stays |",
    "",
    `Tools offered: ${tools}.`,
  ].join("\n");
}

/** What it thinks before it answers. */
export function thinkingText(topic: string): string {
  return (
    `The user asks me to think about this: ${topic}. I have no model behind me, so this reasoning is a fixed text that shows how thinking ` +
    "streams before an answer. A real model would weigh the question here, look for what is missing, and decide whether it needs a tool. " +
    "I need none, so I answer."
  );
}

/** About 450 words with every kind of Markdown block that a chat should be able to show. */
export const longText: string = `# A long answer

This text is fixed. It shows how a long answer streams, scrolls and wraps, and what its Markdown looks like on the way.

## What a session is

A session is one conversation and its log. The log is an append-only, numbered list of facts: an input was accepted, a model call was started, a model call was finished, a tool was started, a tool was finished. Everything else is derived from it. State is a fold, the history is a view, usage is a sum, and the stream of events that you are reading now is a tail of the same list.

Because nothing important lives only in a process's memory, a process may die in the middle of this sentence. Start it again, resume the session, and the message that you sent is still there. The attempt that was cut off is shown as thrown away, and the next one goes on from the last finished turn.

## What happens in a turn

1. The request is built from the log, with the tools that the agent has.
2. The model answers in pieces: thinking, text, and the arguments of calls.
3. The finished message becomes a fact.
4. Its calls run, at once where they may, and each result becomes a fact.
5. If there were calls, the next turn begins; otherwise the run is finished.

Some things to try while this is streaming:

- abort it: what was written so far is kept, marked as aborted;
- send another message: it waits, joins or interrupts, as you choose;
- close the window and come back: the stream goes on from where you were.

## A table

| part | what it is | where it lives |
|---|---|---|
| fact | what happened | in the log |
| effect | what the world is asked to do | between two facts |
| event | what watchers are told | in the stream |

## Some code

\`\`\`ts
import { createAgent, createSession, execute } from "@loopwright/core";
import { offline } from "@loopwright/providers-scripted";

const agent = createAgent({ name: "demo", provider: offline() });
const session = createSession({ agent });
for await (const event of execute(session, "long answer")) {
  if (event.type === "text_delta") console.log(event.delta);
}
\`\`\`

> A quotation, because a renderer should be able to show one. It has two sentences.

Text with **bold words**, *emphasis*, \`code\`, umlauts (äöü), a dash – and an emoji 🌱 made of two code units, so that wrong cuts would show.

## The end

That was the long answer. It is the same every time, to the letter, which makes it useful in tests as well: its length is known, its words are known, and a stream that loses a single piece of it can be told from one that does not.`;
