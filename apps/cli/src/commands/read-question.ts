import { fstatSync } from "node:fs";
import { text } from "node:stream/consumers";
import { AgentError } from "@loopwright/core";

/** Characters of one question. */
const questionMax = 4_000_000;

/** Options whose value may be left out. */
export interface OptionalPlaces {
  readonly memory?: string | boolean;
  readonly knowledge?: string | boolean;
}

/**
 * The question: the words, and standard input where `-` asks for it, where something is piped, or where there are no words.
 * A socket or a terminal is read only when asked: it may never end.
 * @throws AgentError INPUT_INVALID when there is nothing to ask, PAYLOAD_TOO_LARGE
 */
export async function readQuestion(words: readonly string[], stdin: NodeJS.ReadStream, places: OptionalPlaces = {}): Promise<string> {
  const written = words
    .filter((word) => word !== "-")
    .join(" ")
    .trim();
  const isAsked = words.includes("-");
  const piped = isAsked || isPiped(stdin) || (written === "" && !stdin.isTTY) ? (await text(stdin)).trim() : "";
  const question = [written, piped].filter((part) => part !== "").join("\n\n");
  if (question === "") {
    const taken = (["memory", "knowledge"] as const).find((name) => typeof places[name] === "string");
    if (taken !== undefined)
      throw new AgentError("INPUT_INVALID", {
        message: `There is nothing to ask: \`--${taken}\` took what follows it as its place.`,
        fix: `Write the question before \`--${taken}\`, or the place as \`--${taken}=<place>\`.`,
      });
    throw new AgentError("INPUT_INVALID", {
      message: "There is nothing to ask.",
      fix: 'Write `loopwright ask "your question"`, or pipe text in.',
    });
  }
  if (question.length > questionMax) {
    throw new AgentError("PAYLOAD_TOO_LARGE", { message: `The question has more than ${questionMax} characters.`, fix: "Send less." });
  }
  return question;
}

function isPiped(stdin: NodeJS.ReadStream): boolean {
  if (stdin.isTTY) return false;
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile();
  } catch {
    return false;
  }
}
