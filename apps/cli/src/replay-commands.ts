import { type Command, InvalidArgumentError, Option } from "commander";
import { addOptions, optionsNamed, optionsOf } from "./config/add-options.ts";

/** The commands `replay`, `fork` and `diff`: recorded sessions, again and in another way. `exit` gets the exit code. */
export function addReplay(program: Command, exit: (code: number) => void): void {
  addServer(addOptions(program.command("replay <session>"), optionsOf("shared")))
    .description("run a recorded session again, or the file of one, with the agent of now; no model and no tool is called")
    .option("--json", "the report as one JSON object")
    .action(async (typed: string, flags) => exit(await (await import("./commands/replay.ts")).replay(typed, flags)));
  reading(program.command("fork <session>"))
    .description("begin another session as this one was at an event; its id is printed")
    .option("--at <event>", "what people had seen once the log had so many facts; default: all that people see", eventNumber)
    .option("--system-prompt <text>", "in place of the prompt of the agent")
    .option("--model <name>", "with another model: it is in the command that continues the fork")
    .option("--title <title>", "its title; default: that of the session")
    .option("--json", "as one JSON object")
    .action(async (id: string, { at, systemPrompt, title, ...flags }) => {
      const given = Object.entries({ at, systemPrompt, title }).filter(([, value]) => value !== undefined);
      exit(await (await import("./commands/sessions.ts")).forkSession(id, Object.fromEntries(given), flags));
    });
  reading(program.command("diff <session> <other>"))
    .description("the first message in which two sessions, or files of sessions, differ; the exit code is 1 if they do")
    .option("--json", "as one JSON object")
    .action(async (one: string, other: string, flags) => exit(await (await import("./commands/diff.ts")).diff([one, other], flags)));
}

/** Flags of what only looks at sessions, of a store or of a server. */
function reading(command: Command): Command {
  return addServer(addOptions(command, optionsNamed("store", "env", "config")));
}

function addServer(command: Command): Command {
  return command
    .addOption(new Option("--url <address>", "a running server, such as the one that `loopwright run` started").conflicts("store"))
    .option("--token <text>", "the server's token; better in LOOPWRIGHT_TOKEN");
}

function eventNumber(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Pass the number of an event, from 1.");
}
