import { dirname, resolve } from "node:path";
import { AgentError } from "@loopwright/core";
import { defaultCliLimits } from "@loopwright/tools-cli";
import { z } from "zod";
import type { SubprocessOptions } from "./subprocess.ts";

const limitNames = Object.keys(defaultCliLimits) as (keyof typeof defaultCliLimits)[];
const schema = z.strictObject({
  path: z.string().min(1),
  args: z.array(z.string()).optional(),
  variables: z.array(z.string()).optional(),
  network: z.boolean().optional(),
  limits: z.partialRecord(z.enum(limitNames), z.number().int().positive()).optional(),
  isolation: z.enum(["required", "available"]).optional(),
  name: z.string().min(1).max(64).optional(),
});

/** What a file has of a program. */
export type SubprocessFile = Omit<SubprocessOptions, "directory" | "environment" | "model">;

/**
 * What the JSON text of a file has of a program; `file` is the absolute path of the file. A path or an argument that begins with `./` or `../` is
 * relative to its folder.
 * @throws AgentError CONFIG_INVALID that names the member
 */
export function readSubprocess(text: string, file: string): SubprocessFile {
  const wrong = (what: string): AgentError =>
    new AgentError("CONFIG_INVALID", {
      message: `The program in ${file} cannot be used: ${what}.`,
      fix: "Correct it; the README of providers-subprocess lists every member.",
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong("it is no JSON");
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrong(`a wrong value at \`${issue?.path.join(".") ?? ""}\`: ${issue?.message ?? "unknown"}`);
  }
  const placed = (each: string): string => (/^\.\.?\//.test(each) ? resolve(dirname(file), each) : each);
  const { path, args = [], ...rest } = JSON.parse(JSON.stringify(parsed.data)) as SubprocessFile;
  return { ...rest, path: placed(path), args: args.map(placed) };
}
