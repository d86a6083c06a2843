/*
 * Owns: what answers in place of a model: a program of one's own or a stub, as a file names it.
 * Does not own: that an executor was chosen (settings), how a program is run (providers-subprocess).
 */
import { readFile } from "node:fs/promises";
import { AgentError } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import type { Settings } from "../settings/settings.ts";
import { oneLine } from "../terminal/neutralise.ts";

/** What an executor is made of. */
export type ExecutorSettings = Partial<Pick<Settings, "executorFile" | "filesDirectory">> & Pick<Settings, "environment" | "model">;

const fix =
  'Write `{ "kind": "subprocess", "path": "/usr/bin/python3", "args": ["./agent.py"] }` or `{ "kind": "stub", "text": "An answer." }`.';

/** The executor of the file. @throws AgentError CONFIG_INVALID */
export async function openExecutor({ executorFile, filesDirectory, environment, model }: ExecutorSettings): Promise<ModelProvider> {
  if (executorFile === undefined || filesDirectory === undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: "An executor was chosen, and no file names it.",
      fix: "Name the file with `--executor <file>`, or choose another provider.",
    });
  const { kind, ...members } = await membersOf(executorFile);
  switch (kind) {
    case "subprocess": {
      const { readSubprocess, subprocess } = await import("@loopwright/providers-subprocess");
      const program = readSubprocess(JSON.stringify(members), executorFile);
      return subprocess({ ...program, directory: filesDirectory, environment, ...(model === undefined ? {} : { model }) });
    }
    case "stub": {
      const { text, ...rest } = members;
      const [unknown] = Object.keys(rest);
      if (typeof text !== "string" || text.trim() === "") throw wrong(executorFile, "`text` of a stub is no text");
      if (unknown !== undefined) throw wrong(executorFile, `a stub has no \`${oneLine(unknown, 40)}\``);
      return scripted(() => ({ text }), { name: "stub", model: model ?? "stub" });
    }
    default:
      throw wrong(executorFile, kind === undefined ? "it has no `kind`" : `there is no kind \`${oneLine(String(kind), 40)}\``);
  }
}

async function membersOf(file: string): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new AgentError("CONFIG_INVALID", {
      message: `The file of an executor \`${oneLine(file, 200)}\` cannot be read.`,
      fix: "Check the path of `--executor`, LOOPWRIGHT_EXECUTOR or `executor`, and the rights of the file.",
      cause,
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong(file, "it is no JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(file, "it is no JSON object");
  return value as Readonly<Record<string, unknown>>;
}

const wrong = (file: string, what: string): AgentError =>
  new AgentError("CONFIG_INVALID", { message: `The executor in \`${oneLine(file, 200)}\` cannot be used: ${what}.`, fix });
