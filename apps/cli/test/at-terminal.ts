import { spawn } from "node:child_process";
import { expect, onTestFinished } from "vitest";
import { commandLine } from "./run-binary.ts";

/** A command that asks for something else than what is answered would wait for ever. */
const longestMs = 60_000;

/** Runs it at a terminal and types an answer each time one of the questions is asked, in this order. */
export async function atTerminal(
  words: readonly string[],
  cwd: string,
  answers: readonly (readonly [question: string, answer: string])[],
): Promise<{ readonly code: number | null; readonly shown: string }> {
  const { program, args, env } = commandLine(words, { cwd });
  const quoted = [program, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const terminal = spawn("script", ["-qec", quoted, "/dev/null"], { cwd, env });
  onTestFinished(() => void terminal.kill("SIGKILL"));
  let shown = "";
  let from = 0;
  const waiting = [...answers];
  terminal.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    for (;;) {
      const [question, answer] = waiting[0] ?? [];
      const at = question === undefined ? -1 : shown.indexOf(question, from);
      if (question === undefined || at < 0) return;
      from = at + question.length;
      waiting.shift();
      terminal.stdin.write(`${answer}\r`);
    }
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`It waits for more than its answers:\n${shown}`)), longestMs);
    terminal.on("close", (ended) => {
      clearTimeout(timer);
      resolve(ended);
    });
  });
  expect({ waiting, shown }).toEqual({ waiting: [], shown });
  return { code, shown };
}
