import { callsOf, type Message, textOf } from "@loopwright/core";
import { headOf } from "./cut-message.ts";
import { lengthWithin, unitsOfText } from "./sizes.ts";

/** How core begins the notice that has a summary. */
const heading = "Summary of the conversation so far:\n";
const lineMax = 200;
/** Lines of the beginning that are kept where not all fit. */
const firstLines = 4;
const gap = "- [...]";

/** A summary made without a model: each input and answer as one line; the first and the newest lines where not all fit. */
export function extractOf(messages: readonly Message[], unitsMax: number): string {
  const lines = messages.flatMap(linesOf).filter((line, at, all) => line !== all[at - 1]);
  const whole = lines.join("\n");
  if (unitsOfText(whole) <= unitsMax) return whole;
  const kept = lines.slice(0, firstLines);
  const newest: string[] = [];
  let left = unitsMax - unitsOfText(kept.join("\n")) - gap.length - 2;
  for (let at = lines.length - 1; at >= kept.length; at--) {
    const line = lines[at] as string;
    left -= unitsOfText(line) + 1;
    if (left < 0) break;
    newest.unshift(line);
  }
  const text = [...kept, ...(kept.at(-1) === gap || newest[0] === gap ? [] : [gap]), ...newest].join("\n");
  return headOf(text, lengthWithin(text, unitsMax));
}

function linesOf(message: Message): readonly string[] {
  if (message.role === "tool_result") return [];
  const text = textOf(message);
  if (message.role === "notice") return text.startsWith(heading) ? text.slice(heading.length).split("\n") : [];
  const shown = oneLine(text);
  if (message.role === "user") return shown === "" ? [] : [`- User: ${shown}`];
  const names = callsOf(message).map(({ name }) => name);
  const written = shown === "" ? [] : [`- Assistant: ${shown}`];
  return names.length > 0 ? [...written, `- Assistant called ${names.slice(0, 5).join(", ")}`] : written;
}

function oneLine(text: string): string {
  const head = headOf(text, 2 * lineMax)
    .replace(/\s+/g, " ")
    .trim();
  return head.length <= lineMax ? head : `${headOf(head, lineMax)}...`;
}
