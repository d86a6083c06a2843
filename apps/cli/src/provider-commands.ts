import type { Command } from "commander";

/** The command `providers`: models with keys of the caller's own, at a running server. `exit` gets the exit code. */
export function addProviders(program: Command, exit: (code: number) => void): void {
  const providers = program
    .command("providers")
    .description("models with keys of your own, at a server that takes them (`run --own-keys`)");
  const add = (name: string, description: string): Command =>
    providers
      .command(name)
      .description(description)
      .option("--url <address>", "the running server", "http://127.0.0.1:8080")
      .option("--token <text>", "the server's token; better in LOOPWRIGHT_TOKEN")
      .option("--env <file>", "file with variables")
      .option("--json", "as JSON, one object a line");
  const load = (): Promise<typeof import("./commands/providers.ts")> => import("./commands/providers.ts");
  add("list", "your models").action(async (flags) => exit(await (await load()).listProviders(flags)));
  add("add", "add a model; its key is read from standard input or a file, never from the command line")
    .requiredOption("--vendor <id>", "openai, anthropic, gemini or custom, or another that the server offers")
    .requiredOption("--model <name>", "the vendor's name of the model")
    .option("--key-file <path>", "a file that holds the key; default: standard input")
    .option("--name <text>", "what it is called; default: vendor and model")
    .option("--base-url <url>", "the address of a server of your own")
    .option("--use", "your messages go to it from now on; the first that you add is used at once")
    .action(async (flags) => exit(await (await load()).addProvider(flags)));
  add("test <id>", "make one short call with a model; the beginning of its id is enough").action(async (id: string, flags) =>
    exit(await (await load()).testProvider(id, flags)),
  );
  add("use <id>", "your messages go to this model from now on").action(async (id: string, flags) =>
    exit(await (await load()).useProvider(id, flags)),
  );
  add("rest", "your messages go to the models of the server again; yours are kept").action(async (flags) =>
    exit(await (await load()).restProviders(flags)),
  );
  add("key <id>", "replace the key of a model; the new one is read from standard input or a file")
    .option("--key-file <path>", "a file that holds the key; default: standard input")
    .option("--base-url <url>", "another address, to which the new key belongs")
    .action(async (id: string, flags) => exit(await (await load()).replaceKey(id, flags)));
  add("rm <id>", "delete a model and its key").action(async (id: string, flags) => exit(await (await load()).removeProvider(id, flags)));
}
