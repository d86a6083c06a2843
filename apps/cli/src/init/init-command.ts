import type { Command } from "commander";
import { addOptions, optionsNamed } from "../config/add-options.ts";

/** The command `init`: a folder for a new agent. `exit` gets the exit code. */
export function addInit(program: Command, exit: (code: number) => void): void {
  const init = program
    .command("init [folder]")
    .description("make the folder of an agent: settings, an example skill, samples; at a terminal it asks for what no flag gives");
  addOptions(init, optionsNamed("provider", "model", "baseUrl"))
    .option("--key-file <path>", "a file that holds the key of the provider, which is then kept encrypted as `secrets set` keeps it")
    .option("--dotenv", "write a .env as well; no key is written to it")
    .option("--existing", "the folder may be there already; a file that it has is overwritten only where a person at the terminal agrees")
    .option("--no-browser", "of a login at OpenAI: print the address and open no browser")
    .option("--callback-port <number>", "of a login at OpenAI: the port of this machine to which the browser comes back", "1455")
    .option("--yes", "ask nothing: flags and defaults")
    .action(async (folder: string | undefined, flags) => {
      const { init: make } = await import("./init.ts");
      exit(await make(folder, flags));
    });
}
