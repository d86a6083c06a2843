import { PassThrough } from "node:stream";
import { isAgentError } from "@loopwright/core";
import { expect, test } from "vitest";
import { promptHidden } from "./hidden-prompt.ts";

/** A keyboard, what the terminal shows, and every state that it was put into. */
function terminal() {
  const shown: string[] = [];
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (isRaw: boolean) => void modes.push(isRaw) });
  // Only a terminal that shows no keys may be asked on.
  const write = (text: string): void => void shown.push(text === "\n" || modes.at(-1) ? text : `shown: ${text}`);
  return { input, output: { write }, shown, modes };
}

test("a hidden text is read with corrections, and the terminal shows the question alone", async () => {
  const { input, output, shown, modes } = terminal();
  const typed = promptHidden("Passphrase: ", { input, output });
  input.write("wrong\u0015correct");
  input.write("\u001b[D\u001bOA xx\u007f\u007f");
  // A letter of two bytes, in two pieces.
  input.write(Buffer.from([0xc3]));
  input.write(Buffer.from([0xa4]));
  input.write("!\r");
  expect(await typed).toBe("correct ä!");
  expect(shown.join("")).toBe("Passphrase: \n");
  expect(modes).toEqual([true, false]);
});

test("what is pasted behind the first line answers the next question", async () => {
  const { input, output } = terminal();
  input.write("first\nsecond\n");
  expect(await promptHidden("1: ", { input, output })).toBe("first");
  expect(await promptHidden("2: ", { input, output })).toBe("second");
});

test("Ctrl+C, Ctrl+D and the end of the terminal enter nothing, and the terminal is as it was", async () => {
  for (const leave of [
    (input: PassThrough) => input.write("ab\u0003"),
    (input: PassThrough) => input.write("\u0004"),
    (input: PassThrough) => input.end(),
  ]) {
    const { input, output, modes } = terminal();
    const typed = promptHidden("Passphrase: ", { input, output });
    leave(input);
    await expect(typed).rejects.toSatisfy((error: unknown) => isAgentError(error, "RUN_ABORTED"));
    expect(modes).toEqual([true, false]);
  }
});
