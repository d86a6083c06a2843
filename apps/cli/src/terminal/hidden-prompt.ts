import { AgentError } from "@loopwright/core";

/** A keyboard that can be read key by key. */
export interface HiddenInput extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  unshift(chunk: Uint8Array | string): void;
}

/** Where a hidden text is asked for. */
export interface HiddenTerminal {
  readonly input: HiddenInput;
  readonly output: { write(text: string): unknown };
}

const enter = new Set(["\r", "\n"]);
const leave = new Set(["\u0003", "\u0004"]);
const erase = new Set(["\b", "\u007f"]);
const eraseAll = "\u0015";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of keys begin with one
const keySequence = /\u001b(\[[0-9;]*[A-Za-z~]|O.)?/g;

/**
 * One line of the terminal, of which nothing is shown while it is typed. What is typed behind it stays for the next question.
 * @throws AgentError RUN_ABORTED when Ctrl+C or Ctrl+D is pressed, or the terminal ends
 */
export async function promptHidden(question: string, { input, output }: HiddenTerminal): Promise<string> {
  // Before the question stands there: an answer that comes at once would be shown by the terminal.
  input.setRawMode?.(true);
  output.write(question);
  try {
    return await typedLine(input);
  } finally {
    input.setRawMode?.(false);
    input.pause();
    output.write("\n");
  }
}

/** The next line that is typed; corrections are applied. What is typed behind it stays for the next question. @throws AgentError RUN_ABORTED */
export function typedLine(input: HiddenInput): Promise<string> {
  const decoder = new TextDecoder();
  return new Promise((resolve, reject) => {
    let line: readonly string[] = [];
    const finish = (settle: () => void): void => {
      input.off("data", received).off("end", ended);
      settle();
    };
    const ended = (): void => finish(() => reject(stopped()));
    const received = (chunk: Uint8Array | string): void => {
      // Keys such as arrows come as sequences, which are no text.
      const typed = [...(typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true })).replaceAll(keySequence, "")];
      for (const [at, character] of typed.entries()) {
        if (leave.has(character)) {
          ended();
          return;
        }
        if (enter.has(character)) {
          const entered = line.join("");
          finish(() => {
            input.pause();
            const rest = typed.slice(at + 1).join("");
            if (rest !== "") input.unshift(Buffer.from(rest));
            resolve(entered);
          });
          return;
        }
        if (erase.has(character)) line = line.slice(0, -1);
        else if (character === eraseAll) line = [];
        else if (character >= " ") line = [...line, character];
      }
    };
    input.on("data", received).on("end", ended);
    input.resume();
  });
}

const stopped = (): AgentError => new AgentError("RUN_ABORTED", { message: "Nothing was entered.", fix: "Run the command again." });
