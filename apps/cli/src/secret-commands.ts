import type { Command } from "commander";

/** The command `secrets`: keys and tokens in encrypted files. `exit` gets the exit code. */
export function addSecrets(program: Command, exit: (code: number) => void): void {
  const secrets = program.command("secrets").description("keys and tokens in encrypted files, for `run`, `serve`, `chat` and `ask`");
  const load = (): Promise<typeof import("./commands/secrets.ts")> => import("./commands/secrets.ts");
  const add = (name: string, description: string): Command =>
    secrets
      .command(name)
      .description(description)
      .option("--global", "in ~/.loopwright/secrets.enc; default: .loopwright/secrets.enc of the working directory")
      .option("--env <file>", "file with variables, such as LOOPWRIGHT_SECRETS_PASSPHRASE_FILE");
  add("set <name>", "keep a secret: typed without being shown, piped in, or read from a file; never an argument")
    .option("--file <path>", "a file that holds the value alone")
    .action(async (name: string, flags) => exit(await (await load()).setSecret(name, flags)));
  add("get <name>", "where a secret stands, masked")
    .option("--reveal", "print its value")
    .option("--json", "as one JSON object")
    .action(async (name: string, flags) => exit(await (await load()).getSecret(name, flags)));
  add("list", "names and places of all secrets, without their values")
    .option("--json", "one secret a line, as JSON")
    .action(async (flags) => exit(await (await load()).listSecrets(flags)));
  add("rm <name>", "remove a secret").action(async (name: string, flags) => exit(await (await load()).removeSecret(name, flags)));
  add("rotate", "encrypt every secret of a file anew under another passphrase")
    .option("--new-passphrase-file <path>", "a file that holds the new passphrase; default: it is typed")
    .action(async (flags) => exit(await (await load()).rotateSecrets(flags)));
}
