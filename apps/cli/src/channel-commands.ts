import type { Command } from "commander";

/** The command `link`, for people of chat channels. `exit` gets the exit code. */
export function addChannelCommands(program: Command, exit: (code: number) => void): void {
  program
    .command("link")
    .description("a code that links you in a chat: send `/link` and the code to the bot of this server, within ten minutes")
    .option("--user <name>", "which user of the server the person is, where callers have credentials of their own", "local")
    .option("--scope <id>", "the scope of that user", "local")
    .option("--json", "as one JSON object")
    .action(async (flags) => exit(await (await import("./serve/link.ts")).link(flags)));
}
