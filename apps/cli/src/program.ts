import { Command, CommanderError, Option } from "commander";
import { addChannelCommands } from "./channel-commands.ts";
import { complaintOf, knownError } from "./complaint.ts";
import { addOptions, optionsNamed, optionsOf } from "./config/add-options.ts";
import { addConfig } from "./config-commands.ts";
import { exitCodeOf, exitCodes } from "./exit-code.ts";
import { addGuardrails } from "./guardrail-commands.ts";
import { addInit } from "./init/init-command.ts";
import { addLogin } from "./login/login-command.ts";
import { addProviders } from "./provider-commands.ts";
import { addReplay } from "./replay-commands.ts";
import { addScopeCommands } from "./scope-commands.ts";
import { addSecrets } from "./secret-commands.ts";
import { addServe } from "./serve-commands.ts";
import { addSkills } from "./skills/skill-commands.ts";
import { neutralise } from "./terminal/neutralise.ts";

const examples = `
Examples:
  loopwright init my-agent               make the folder of an agent
  loopwright run                          the page, at http://127.0.0.1:8080
  loopwright                              talk (the offline demonstration model when no key is set)
  loopwright chat --continue              continue the latest session
  git diff | loopwright ask "explain" -   one question, the diff from standard input
  loopwright sessions search invoice      find a session by its words
  loopwright ask --agent research --web http://localhost:8888 "What are the height and the age of ...?"

Settings are read from flags, the environment, .env and loopwright.yaml, see "loopwright config print --sources".
Keys are read from files of "loopwright secrets", the environment or .env: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY (in this order), OLLAMA_HOST.
Exit codes: 0 ok, 1 failed, 2 usage, 3 configuration or key, 4 provider, 5 limit, 130 stopped.`;

/** Runs the command line and returns the exit code. Errors end as three lines on standard error. */
export async function runProgram(words: readonly string[], version: string): Promise<number> {
  let exitCode: number = exitCodes.ok;
  // The output has no reader any more: the exit code reports the failure all the same.
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  process.once("uncaughtException", (error) => {
    // The reader of our output has seen enough: `loopwright sessions list | head`.
    if ("code" in error && error.code === "EPIPE") process.exit(exitCode);
    process.stderr.write(`${complaintOf(error).join("\n")}\n`);
    process.exit(exitCodes.failed);
  });
  const program = createProgram(version, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(words.length === 0 ? ["chat"] : [...words], { from: "user" });
    return exitCode;
  } catch (error) {
    exitCode = failureCode(error);
    return exitCode;
  }
}

/** Prints the error, and gives the exit code for it. */
function failureCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : usageError(error);
  process.stderr.write(`${complaintOf(error).join("\n")}\n`);
  return exitCodeOf(knownError(error).code);
}

/** Three lines for a command line that could not be read. */
function usageError(error: CommanderError): number {
  if (error.code === "commander.help") return exitCodes.usage;
  const [first = "", ...rest] = neutralise(error.message)
    .replace(/^error: /, "")
    .split("\n");
  const hint = rest.join(" ").replace(/^\((.*)\)$/, "$1 ");
  const what = first.charAt(0).toUpperCase() + first.slice(1);
  process.stderr.write(
    `${what}${what.endsWith(".") ? "" : "."} (USAGE)\nwhy: The command line could not be read.\ntry: ${hint}\`loopwright --help\` lists everything.\n`,
  );
  return exitCodes.usage;
}

function createProgram(version: string, exit: (code: number) => void): Command {
  const program = new Command("loopwright")
    .description("Talk to LLM agents in a browser or the terminal. Sessions are kept in .loopwright/ of the working directory.")
    .version(version, "-v, --version")
    .helpCommand(true)
    .showSuggestionAfterError(true)
    .addHelpText("after", examples);
  addInit(program, exit);
  addLogin(program, exit);
  addRun(program, exit);
  addServe(program, exit);
  addChannelCommands(program, exit);
  addChat(program, exit);
  addAsk(program, exit);
  addSessions(program, exit);
  addApprovals(program, exit);
  addProviders(program, exit);
  addScopeCommands(program, exit);
  addDoctor(program, exit);
  addUsage(program, exit);
  addAudit(program, exit);
  addGuardrails(program, exit);
  addReplay(program, exit);
  addSkills(program, exit);
  addConfig(program, exit);
  addSecrets(program, exit);
  for (const command of [program, ...program.commands, ...program.commands.flatMap((one) => one.commands)]) {
    command.exitOverride().configureOutput({ outputError: () => {} });
  }
  return program;
}

function addRun(program: Command, exit: (code: number) => void): void {
  const command = program
    .command("run")
    .description("serve the page and the API until Ctrl+C; without a key the offline demonstration model answers");
  addOptions(linked(command), optionsOf("run"))
    .option("--no-guardrails", "evaluate none")
    .action(async (flags) => {
      const { run } = await import("./commands/run.ts");
      exit(await run(flags));
    });
}

function addChat(program: Command, exit: (code: number) => void): void {
  remote(shared(program.command("chat").description("talk; without a terminal a short demonstration on the offline model")))
    .option("--resume <id>", "continue this session; the beginning of its id is enough")
    .addOption(new Option("--continue", "continue the session that changed last").conflicts("resume"))
    .option("--modes <names>", "modes of the messages, with commas between them")
    .option("--plain", "append only: nothing on the screen is ever redrawn")
    .option("--no-color", "no colours")
    .action(async (flags) => {
      const { chat } = await import("./commands/chat.ts");
      exit(await chat(flags));
    });
}

function addAsk(program: Command, exit: (code: number) => void): void {
  remote(shared(program.command("ask").description("ask once: the answer on standard output, everything else on standard error")))
    .argument("[words...]", "the question; `-` stands for standard input, piped input is appended")
    .option("--session <id>", "continue this session; the beginning of its id is enough")
    .option(
      "--attach <file>",
      "a text, picture or PDF that goes with the question; may be given again",
      (path: string, before: string[] = []) => [...before, path],
    )
    .option("--modes <names>", "modes of the question, with commas between them")
    .option("--chatbot <name>", "a chatbot that main-thread asks first, in the mode CHATBOT")
    .option("--without-tools", "answer without tools")
    .option("--system-prompt <text>", "in place of the agent's prompt, for this question alone")
    .addOption(
      new Option(
        "--when-busy <mode>",
        "if the session is answering: wait, join the answer, stop it, wait together with the last question, or be refused",
      ).choices([...["enqueue", "steer", "interrupt", "merge", "reject"]]),
    )
    .option("--json", "print one event a line")
    .option("--stream-version <number>", "with --json: the frames of this version of the orchestrator's stream, 1 or 2")
    .option("--plain", "append only: nothing on the screen is ever redrawn")
    .option("--quiet", "nothing on standard error but errors")
    .option("--no-color", "no colours")
    .action(async (words: string[], flags) => {
      const { ask } = await import("./commands/ask.ts");
      exit(await ask(words, flags));
    });
}

function addSessions(program: Command, exit: (code: number) => void): void {
  const sessions = program.command("sessions").description("look at the sessions that are kept");
  const add = (name: string, description: string): Command =>
    addOptions(remote(sessions.command(name)).description(description), optionsNamed("store", "env", "config"));
  add("list", "all sessions, the latest change first")
    .option("--limit <count>", "at most this many", "50")
    .option("--children-of <id>", "the sessions that agents of this one have started")
    .option("--of-agent <name>", "those of this agent")
    .addOption(new Option("--status <status>", "those in this state").choices(["idle", "running", "waiting", "closed"]))
    .option("--json", "one session a line, as JSON")
    .action(async (flags) => exit(await (await import("./commands/sessions.ts")).listSessions(flags)));
  add("show <id>", "the transcript of a session")
    .option("--json", "one message a line, as JSON")
    .option("--no-color", "no colours")
    .action(async (id: string, flags) => exit(await (await import("./commands/sessions.ts")).showSession(id, flags)));
  add("search <words...>", "sessions that hold all these words")
    .option("--limit <count>", "at most this many", "20")
    .option("--json", "one hit a line, as JSON")
    .action(async (words: string[], flags) => exit(await (await import("./commands/sessions.ts")).searchSessions(words, flags)));
  add("fork <id>", "begin another session with the messages of this one; its id is printed")
    .option("--at <message>", "the last message that it has, by its id in `show --json`; default: all that people see")
    .option("--title <title>", "its title; default: that of the session")
    .option("--json", "as one JSON object")
    .action(async (id: string, { at, title, ...flags }) => {
      const wanted = { ...(at === undefined ? {} : { message: at }), ...(title === undefined ? {} : { title }) };
      exit(await (await import("./commands/sessions.ts")).forkSession(id, wanted, flags));
    });
  add("export <id>", "print a session as a file to keep")
    .addOption(
      new Option("--format <format>", "what people see, everything, or its log for `replay`")
        .choices(["markdown", "json", "log"])
        .default("markdown"),
    )
    .option("--redact", "of the log: with placeholders for secrets, personal data and the patterns of guardrails.json")
    .option("--guardrails <place>", "with --redact: another policy, as for `run`")
    .action(async (id: string, flags) => exit(await (await import("./commands/sessions.ts")).exportSession(id, flags)));
  add("schedule <id> <name> <words...>", "send these words to a session at a time, or again and again, while `run` runs")
    .option("--at <time>", "the first time: 2027-03-01T09:00 with --time-zone, or with Z or +01:00 at its end")
    .option("--time-zone <name>", "the zone of --at or --cron, for example Europe/Berlin")
    .option("--every <duration>", "again and again: 30s, 15m, 2h or 1d")
    .option("--cron <expression>", "again and again at these times of --time-zone: '0 9 * * 1-5', @daily or '@every 1h30m'")
    .option("--skip-missed", "leave out times that no process could fire, or that came before the last answer; default: fire once for all")
    .option("--interrupt", "stop a run that is open then")
    .option("--json", "as one JSON object")
    .action(async (...[id, name, words, flags]: [string, string, string[], object]) =>
      exit(await (await import("./commands/schedules.ts")).setSchedule({ id, name, words }, flags)),
    );
  add("unschedule <id> <name>", "remove a schedule").action(async (id: string, name: string, flags) =>
    exit(await (await import("./commands/schedules.ts")).removeSchedule(id, name, flags)),
  );
  add("schedules <id>", "the schedules of a session, the next one first")
    .option("--history", "the times that have passed instead, the newest first")
    .option("--json", "one schedule a line, as JSON")
    .action(async (id: string, flags) => exit(await (await import("./commands/schedules.ts")).listSchedules(id, flags)));
  add("rm <id>", "delete a session for good").action(async (id: string, flags) =>
    exit(await (await import("./commands/sessions.ts")).removeSession(id, flags)),
  );
}

function addApprovals(program: Command, exit: (code: number) => void): void {
  const approvals = program.command("approvals").description("decide on calls that wait for a person");
  const add = (name: string, description: string): Command =>
    addOptions(remote(approvals.command(name)).description(description), optionsNamed("store", "env", "config"));
  add("list", "everything that waits, with all arguments")
    .option("--json", "one approval a line, as JSON")
    .option("--no-color", "no colours")
    .action(async (flags) => exit(await (await import("./commands/approvals.ts")).listApprovals(flags)));
  for (const decision of ["allow", "deny"] as const) {
    const command = add(`${decision} <call>`, `${decision} a call; the beginning of its key is enough`)
      .option("--note <text>", decision === "deny" ? "why: the model reads it" : "kept with the decision")
      .option("--remember <how>", "session: for later calls of the session that fit; always: in all sessions")
      .option("--pattern <json>", 'which calls fit, such as \'{"args": {"path": {"below": "src/"}}}\'; default: the same arguments');
    if (decision === "allow") command.option("--args <json>", "run it with these arguments instead");
    command.action(async (call: string, flags) =>
      exit(await (await import("./commands/approvals.ts")).decideApproval(call, decision, flags)),
    );
  }
  add("rules", "decisions that hold for later calls in all sessions")
    .option("--json", "one rule a line, as JSON")
    .action(async (flags) => exit(await (await import("./commands/approvals.ts")).listRules(flags)));
  add("revoke <rule>", "ask about such calls again").action(async (rule: string, flags) =>
    exit(await (await import("./commands/approvals.ts")).revokeRule(rule, flags)),
  );
  addOptions(approvals.command("backtest <policy>"), optionsNamed("store", "env", "config"))
    .description("what a policy, a JSON file, would have asked, allowed and denied in the sessions that are kept")
    .option("--limit <count>", "the newest sessions, at most this many", "1000")
    .option("--json", "every call, one a line, as JSON")
    .action(async (file: string, flags) => exit(await (await import("./approvals/try-policy.ts")).tryPolicy(file, flags)));
}

function addDoctor(program: Command, exit: (code: number) => void): void {
  linked(program.command("doctor").description("check Node.js, the store, channel and queue, keys and models"))
    .option("--online", "also ask the chosen vendor for one word (this costs a little)")
    .option("--accept-restored", "take a store that went back to an older state as it is: what was done since may be done again")
    .option("--json", "as one JSON object")
    .action(async (flags) => {
      const { doctor } = await import("./commands/doctor.ts");
      exit(await doctor(flags));
    });
}

function addUsage(program: Command, exit: (code: number) => void): void {
  program
    .command("usage")
    .description("tokens and cost, as `run --telemetry` has recorded them")
    .option("--by <names>", "day, scope, user, agent, provider, model, with commas between them", "day,model")
    .option("--from <day>", "the first day, such as 2026-11-24, of UTC")
    .option("--to <day>", "the last day")
    .option("--user <name>", "of this user alone")
    .option("--telemetry <file>", "the file of the records; default: .loopwright/telemetry.db")
    .option("--json", "one sum a line, as JSON")
    .action(async (flags) => exit(await (await import("./commands/usage.ts")).showUsage(flags)));
}

function addAudit(program: Command, exit: (code: number) => void): void {
  const audit = program.command("audit").description("the audit log that `run --audit` has written");
  const add = (name: string, description: string): Command =>
    addOptions(audit.command(name).description(description), optionsNamed("store", "env", "config")).option("--json", "as JSON");
  add("verify [scope]", "look whether its chain is intact; the exit code is 1 if it is not")
    .option("--head <entry>", "an entry that was noted before, as `verify` printed it: finds what was cut off at the end")
    .action(async (scope: string | undefined, flags) => exit(await (await import("./commands/audit.ts")).verifyAudit(scope, flags)));
  add("list [scope]", "its entries, the oldest first").action(async (scope: string | undefined, flags) =>
    exit(await (await import("./commands/audit.ts")).listAudit(scope, flags)),
  );
}

const shared = (command: Command): Command => addOptions(command, optionsOf("shared"));

/** Flags of what may be one of several processes. */
const linked = (command: Command): Command => addOptions(shared(command), optionsOf("linked"));

/** Flags that name a running server; its agents and its store are configured there. */
function remote(command: Command): Command {
  const decidedThere = ["provider", "baseUrl", "offline", "store", "tools", "agents", "web", "artifacts", "images"];
  return command
    .addOption(new Option("--url <address>", "a running server, such as the one that `loopwright run` started").conflicts(decidedThere))
    .option("--token <text>", "the server's token; better in LOOPWRIGHT_TOKEN");
}
