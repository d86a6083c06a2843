import { type Command, Option } from "commander";

/** The commands about what a scope has beside its sessions: files, the knowledge base, plans and keys of users, how long sessions are kept. `exit` gets the exit code. */
export function addScopeCommands(program: Command, exit: (code: number) => void): void {
  addFiles(program, exit);
  addKnowledge(program, exit);
  addOwnKeys(program, exit);
  addRetention(program, exit);
}

const remote = (command: Command, ...notWith: readonly string[]): Command =>
  command
    .addOption(new Option("--url <address>", "a running server, such as the one that `loopwright run` started").conflicts([...notWith]))
    .option("--token <text>", "the server's token; better in LOOPWRIGHT_TOKEN")
    .option("--env <file>", "file with variables");

function addFiles(program: Command, exit: (code: number) => void): void {
  const files = program.command("files").description("files that messages name, and that agents read");
  const add = (name: string, description: string): Command =>
    remote(files.command(name).description(description), "store").option("--store <place>", "where sessions are kept, as for `run`");
  const load = (): Promise<typeof import("./commands/scope/files.ts")> => import("./commands/scope/files.ts");
  add("list", "all files, in the order of their keys")
    .option("--json", "one file a line, as JSON")
    .action(async (flags) => exit(await (await load()).listFiles(flags)));
  add("add <paths...>", "keep files; their keys are printed")
    .option("--type <media type>", "what they are; default: by the endings of their names")
    .option("--json", "one file a line, as JSON")
    .action(async (paths: string[], flags) => exit(await (await load()).addFiles(paths, flags)));
  add("get <key>", "the bytes of a file; the beginning of its key is enough")
    .option("--out <path>", "where they are written; default: standard output")
    .action(async (key: string, flags) => exit(await (await load()).readFileOf(key, flags)));
  add("rm <key>", "delete a file that no session uses; the beginning of its key is enough").action(async (key: string, flags) =>
    exit(await (await load()).removeFileOf(key, flags)),
  );
}

function addKnowledge(program: Command, exit: (code: number) => void): void {
  const knowledge = program.command("knowledge").description("documents that agents search, for all sessions of the scope");
  const add = (name: string, description: string): Command =>
    remote(knowledge.command(name).description(description), "knowledge").option(
      "--knowledge <file>",
      "the file of the knowledge base; default: .loopwright/knowledge.db",
    );
  const load = (): Promise<typeof import("./commands/scope/knowledge.ts")> => import("./commands/scope/knowledge.ts");
  add("list", "its documents, by id")
    .option("--json", "one document a line, as JSON")
    .action(async (flags) => exit(await (await load()).listKnowledge(flags)));
  add("add <paths...>", "learn files: plain text, Markdown, HTML or CSV")
    .option("--id <id>", "in place of the document of this id; default: the name of the file")
    .option("--title <title>", "default: the title in the file, else its id")
    .option("--type <media type>", "what the file is; default: by the ending of its name")
    .option("--json", "one document a line, as JSON")
    .action(async (paths: string[], flags) => exit(await (await load()).addKnowledge(paths, flags)));
  add("rm <id>", "remove a document").action(async (id: string, flags) => exit(await (await load()).removeKnowledge(id, flags)));
}

function addOwnKeys(program: Command, exit: (code: number) => void): void {
  const load = (): Promise<typeof import("./commands/scope/own-keys.ts")> => import("./commands/scope/own-keys.ts");
  remote(program.command("plan <user> [plan]"), "store")
    .description("show the plan of a user, or set it")
    .option("--scope <id>", "the scope of the user, without --url; default: that of the command line")
    .option("--store <place>", "where sessions are kept, as for `run`")
    .option("--json", "as one JSON object")
    .action(async (user: string, plan: string | undefined, flags) => exit(await (await load()).planOf({ user, plan }, flags)));
  const ownKeys = program.command("own-keys").description("keys that users bring to `run --own-keys`, for their operator");
  const add = (name: string, description: string): Command =>
    ownKeys
      .command(name)
      .description(description)
      .option("--store <place>", "where sessions are kept, as for `run`")
      .option("--env <file>", "file with variables");
  add("reseal", "encrypt all keys under the current master key, so that older ones can be dropped; servers continue meanwhile").action(
    async (flags) => exit(await (await load()).resealKeys(flags)),
  );
  add("off", "let processes run without --own-keys on this store again").action(async (flags) =>
    exit(await (await load()).endOwnKeys(flags)),
  );
}

function addRetention(program: Command, exit: (code: number) => void): void {
  remote(program.command("retention [days]"), "store")
    .description("show after how many days the sessions of a scope are erased, or set it; `none` keeps them")
    .option("--scope <id>", "the scope, without --url; default: that of the command line")
    .option("--store <place>", "where sessions are kept, as for `run`")
    .option("--json", "as one JSON object")
    .action(async (days: string | undefined, flags) =>
      exit(await (await import("./commands/scope/retention.ts")).retentionOfScope(days, flags)),
    );
}
