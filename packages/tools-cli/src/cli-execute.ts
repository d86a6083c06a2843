import { constants } from "node:fs";
import { access, mkdir, realpath, stat } from "node:fs/promises";
import { sep } from "node:path";
import { AgentError, defineTool, type Tool, type ToolContext, type ToolEvent } from "@loopwright/core";
import { pathInside } from "@loopwright/tools-files";
import { z } from "zod";
import { checkArguments } from "./check-arguments.ts";
import { childVariables } from "./child-variables.ts";
import { type CliSettings, type CliToolOptions, cliSettings } from "./cli-settings.ts";
import type { CliProgram } from "./program.ts";
import { programOutput } from "./program-output.ts";
import type { ProgramRun } from "./run-program.ts";

export interface CliArguments {
  readonly program: string;
  readonly args?: readonly string[] | undefined;
}

const timeToEndMs = 15_000;
const noteCharactersMax = 1_000;

/** The tool `cli_execute`: runs a program of the list with its arguments, without a shell. @throws AgentError CONFIG_INVALID */
export function cliExecute(options: CliToolOptions): Tool<CliArguments> {
  return cliTool(cliSettings(options), options);
}

/** The tool over checked options. */
export function cliTool(settings: CliSettings, options: Pick<CliToolOptions, "name" | "replay">): Tool<CliArguments> {
  const { programs, limits } = settings;
  const names = [...programs.keys()];
  const parameters: z.ZodType<CliArguments> = z.strictObject({
    program: z.enum(names).describe("Which program."),
    args: z.array(z.string()).optional().describe("Its arguments, one by one, without quotes. No shell reads them."),
  });
  return defineTool({
    name: options.name ?? "cli_execute",
    label: "Run a program",
    description: [
      "Runs one program in the working directory and gives its output. There is no shell: no pipes, variables or wildcards.",
      ...[...programs.values()].map(describe),
    ].join("\n"),
    parameters,
    replay: options.replay ?? "once",
    sequential: true,
    timeoutMs: limits.durationMs + timeToEndMs,
    outputMax: Math.max(100_000, limits.outputBytesMax + noteCharactersMax),
    approval({ program: name, args = [] }) {
      const program = programs.get(name);
      if (!program || program.approval === false || !isAllowed(program, args)) return false;
      return { action: "ask", reason: `Runs ${[program.path, ...args].map((one) => JSON.stringify(one)).join(" ")}` };
    },
    async *execute({ program: name, args = [] }, context): AsyncGenerator<ToolEvent, void> {
      const program = programs.get(name);
      if (!program)
        throw new AgentError("TOOL_ARGUMENTS", { message: "This program is not on the list.", fix: `Use one of: ${names.join(", ")}.` });
      yield* programOutput(name, await prepare(settings, { program, args, context }));
    },
  });
}

function describe({ name, description, calls, commands, options = {}, operands = "none" }: CliProgram): string {
  const rules = [
    ...(calls ? [`calls ${calls.map((call) => JSON.stringify(call)).join(" or ")}`] : []),
    ...(commands ? [`begins with ${commands.join(" or ")}`] : []),
    ...(Object.keys(options).length > 0 ? [`options ${Object.keys(options).join(" ")}`] : []),
    ...(calls || operands === "none" ? [] : [`then ${operands === "path" ? "relative paths" : "operands"}`]),
  ];
  return `- ${name}${description === undefined ? "" : `: ${description}`}${rules.length > 0 ? ` (${rules.join("; ")})` : ""}`;
}

/** No person is asked about a call that is refused anyway. */
function isAllowed(program: CliProgram, args: readonly string[]): boolean {
  try {
    checkArguments(program, args);
    return true;
  } catch {
    return false;
  }
}

interface Call {
  readonly program: CliProgram;
  readonly args: readonly string[];
  readonly context: Pick<ToolContext, "files" | "logger" | "signal">;
}

async function prepare(settings: CliSettings, { program, args, context }: Call): Promise<Omit<ProgramRun, "onOutput">> {
  const { values, paths } = checkArguments(program, args);
  const wished = settings.directoryOf(context);
  await mkdir(wished, { recursive: true, mode: 0o700 });
  const directory = await realpath(wished);
  const checked = [...values];
  for (const { at, before, path } of paths) checked[at] = before + (await pathInside(directory, path));
  await checkFile(program, directory);
  return {
    path: program.path,
    args: checked,
    directory,
    variables: childVariables(settings.environment, program.variables ?? []),
    limits: settings.limits,
    isolation: await settings.isolation(context),
    network: program.network ?? false,
    signal: context.signal,
  };
}

/** @throws AgentError TOOL_FAILED unless the file of the program can be run and lies where agents cannot write */
async function checkFile({ name, path }: CliProgram, directory: string): Promise<void> {
  const failed = (what: string, fix: string): AgentError =>
    new AgentError("TOOL_FAILED", { message: `\`${name}\` ${what}. Nothing was run.`, fix });
  let place: string;
  try {
    place = await realpath(path);
    await access(place, constants.X_OK);
    if (!(await stat(place)).isFile()) throw failed("is no file", "Correct its path on the list.");
  } catch (error) {
    if (error instanceof AgentError) throw error;
    throw failed("is not installed, or this user may not run it", "Install it, or correct its path on the list.");
  }
  if (place === directory || place.startsWith(directory + sep))
    throw failed("lies in the working directory, where a call could replace it", "Move it elsewhere.");
}
