import { AgentError, type Labels } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";

/** The names of `--modes`, with commas between them; none where it is absent. */
export function typedModes(text: string | undefined): readonly string[] {
  return [...new Set((text ?? "").split(",").flatMap((name) => name.trim() || []))];
}

/** The modes as the labels of an input in this process. @throws AgentError INPUT_INVALID for one that no agent here knows, with its name */
export function modeLabels(typed: readonly string[], known: readonly string[]): { readonly labels?: Labels } {
  const unknown = typed.find((mode) => !known.includes(mode));
  if (unknown !== undefined)
    throw new AgentError("INPUT_INVALID", {
      message: `No agent here knows the mode \`${oneLine(unknown, 64)}\`.`,
      fix:
        known.length > 0
          ? `Pass some of these with \`--modes\`: ${known.map((mode) => oneLine(mode, 64)).join(", ")}.`
          : "Leave `--modes` out. `--agent main-thread --web <url>` knows DEEP_RESEARCH; a module of `--agents` exports its own as `modes`.",
    });
  return typed.length === 0 ? {} : { labels: { modes: typed.join() } };
}

/** @throws AgentError INPUT_INVALID for a chatbot that is not there, with its name */
export function checkChatbot(typed: string, known: readonly string[]): void {
  if (known.includes(typed)) return;
  throw new AgentError("INPUT_INVALID", {
    message: `There is no chatbot \`${oneLine(typed, 64)}\`.`,
    fix:
      known.length > 0
        ? `Name one of these: ${known.join(", ")}.`
        : "Leave it out. A module of `--agents` exports `chatbots`, and the agent `main-thread` asks them.",
  });
}
