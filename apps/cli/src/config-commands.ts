import type { Command } from "commander";
import { addOptions, optionsOf } from "./config/add-options.ts";

/** The command `config`: what the settings come to. `exit` gets the exit code. */
export function addConfig(program: Command, exit: (code: number) => void): void {
  const config = program.command("config").description("what flags, variables and loopwright.yaml come to");
  const add = (name: string, description: string): Command => {
    const command = config.command(name).description(description);
    for (const group of ["shared", "linked", "run"] as const)
      addOptions(
        command,
        optionsOf(group).filter((option) => option.name !== "json"),
      );
    return command;
  };
  const load = (): Promise<typeof import("./commands/config.ts")> => import("./commands/config.ts");
  add("print", "the settings that `run` would have, as loopwright.yaml; no secret is shown")
    .option("--sources", "where each value came from, with defaults and variables")
    .option("--json", "as one JSON object")
    .action(async (flags) => exit(await (await load()).printConfig(flags)));
  add("validate", "look for everything that is wrong; the exit code is 3 if something is")
    .option("--json", "as one JSON object")
    .action(async (flags) => exit(await (await load()).validateConfig(flags)));
}
