import type { Command } from "commander";

/** The commands `login` and `logout`: a login at OpenAI in place of a key. `exit` gets the exit code. */
export function addLogin(program: Command, exit: (code: number) => void): void {
  const load = (): Promise<typeof import("./login.ts")> => import("./login.ts");
  program
    .command("login")
    .description("log in at OpenAI with a browser: the provider openai then needs no key")
    .option("--no-browser", "print the address and open no browser")
    .option("--callback-port <number>", "the port of this machine to which the browser comes back", "1455")
    .option("--timeout <seconds>", "how long it waits for the browser", "600")
    .action(async (flags) => exit(await (await load()).login(flags)));
  program
    .command("logout")
    .description("forget the login at OpenAI")
    .action(async () => exit(await (await load()).logout()));
}
