import type { Command } from "commander";
import { addOptions, optionsOf } from "./config/add-options.ts";

/** The command `serve`: `run` in the background. `exit` gets the exit code. */
export function addServe(program: Command, exit: (code: number) => void): void {
  const serve = program.command("serve").description("serve in the background: start (what `serve` alone does), stop, status, logs");
  const load = (): Promise<typeof import("./commands/serve.ts")> => import("./commands/serve.ts");
  const start = serve
    .command("start", { isDefault: true })
    .description("start what `run` serves, and return when it is ready; takes the flags of `run`");
  for (const group of ["shared", "linked", "run"] as const) addOptions(start, optionsOf(group));
  start.option("--no-guardrails", "evaluate none").action(async (flags) => exit(await (await load()).startServe(flags)));
  serve
    .command("stop")
    .description("end it: open runs have that time, then it is killed")
    .option("--timeout <seconds>", "how long it is waited for", "10")
    .action(async (flags) => exit(await (await load()).stopServe(flags)));
  serve
    .command("status")
    .description("process, address, health and uptime; the exit code is 1 if it does not run or does not answer")
    .option("--json", "as one JSON object")
    .action(async (flags) => exit(await (await load()).serveStatus(flags)));
  serve
    .command("logs")
    .description("the end of .loopwright/serve.log")
    .option("--lines <count>", "at most this many", "100")
    .option("-f, --follow", "and what is added, until Ctrl+C")
    .action(async (flags) => exit(await (await load()).serveLogs(flags)));
  serve.command("child", { hidden: true }).action(async () => exit(await (await load()).serveChild()));
}
