import type { Command } from "commander";

/** The command `guardrails`: policies, and what they would have done. `exit` gets the exit code. */
export function addGuardrails(program: Command, exit: (code: number) => void): void {
  const guardrails = program.command("guardrails").description("check, keep and try the policies of guardrails");
  const load = (): Promise<typeof import("./commands/guardrails.ts")> => import("./commands/guardrails.ts");
  guardrails
    .command("check [place]")
    .description("read a policy, a JSON file or sqlite:<file>, and print what it checks; default: guardrails.json")
    .option("--json", "as one JSON object")
    .action(async (place: string | undefined, flags) => exit(await (await load()).checkGuardrails(place, flags)));
  guardrails
    .command("put <place> <file>")
    .description("keep the policy of a JSON file in sqlite:<file>; processes that follow it take it within a second")
    .action(async (place: string, file: string) => exit(await (await load()).putGuardrails(place, file)));
  guardrails
    .command("backtest")
    .description("what a policy would have done to the sessions that are kept")
    .option("--guardrails <place>", "the policy; default: guardrails.json where there is one, else secrets are redacted")
    .option("--limit <count>", "the newest sessions, at most this many", "1000")
    .option("--store <place>", "where sessions are kept, as for `run`")
    .option("--env <file>", "file with variables")
    .option("--json", "one verdict a line, as JSON")
    .action(async (flags) => exit(await (await load()).backtestGuardrails(flags)));
}
