import { emitKeypressEvents } from "node:readline";
import type { Key } from "../terminal/line-editor.ts";
import type { ChatRoom } from "./chat-room.ts";

/** Bracketed paste, and keys that distinguish Shift+Enter from Enter where the terminal can. */
const enterModes = "\u001b[?2004h\u001b[>1u";
const leaveModes = "\u001b[<u\u001b[?2004l\u001b[?25h";

/** The input of a terminal. */
interface TerminalEvents {
  press(text: string | undefined, key: Key): void;
  resize(): void;
  /** The process is asked to end. */
  end(): void;
}

/** Has every key handed out as it is pressed, and returns what gives the terminal back as it was, also when the process dies of an error. */
export function takeTerminal({ input, output }: Pick<ChatRoom, "input" | "output">, events: TerminalEvents): () => void {
  const signals = ["SIGTERM", "SIGHUP"] as const;
  const giveBack = (): void => void output.write(leaveModes);
  process.once("exit", giveBack);
  input.setRawMode(true);
  emitKeypressEvents(input);
  input.on("keypress", events.press).resume();
  output.on("resize", events.resize).write(enterModes);
  for (const signal of signals) process.on(signal, events.end);
  return () => {
    input.off("keypress", events.press).pause();
    output.off("resize", events.resize);
    for (const signal of signals) process.off(signal, events.end);
    input.setRawMode(false);
    process.off("exit", giveBack);
    giveBack();
  };
}
