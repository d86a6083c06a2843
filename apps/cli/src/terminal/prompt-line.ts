import { type HiddenTerminal, typedLine } from "./hidden-prompt.ts";

/** One line of the terminal, which shows what is typed. @throws AgentError RUN_ABORTED when Ctrl+D is pressed, or the terminal ends */
export async function promptLine(question: string, { input, output }: HiddenTerminal): Promise<string> {
  output.write(question);
  try {
    return (await typedLine(input)).trim();
  } finally {
    input.pause();
  }
}
