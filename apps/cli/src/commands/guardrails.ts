import { readFile } from "node:fs/promises";
import { AgentError } from "@loopwright/core";
import type { BacktestReport, GuardrailPolicy } from "@loopwright/guardrails";
import { localScope, openExistingStore } from "../compose/kept-sessions.ts";
import { keepPolicy, openPolicy } from "../compose/open-guardrails.ts";
import { exitCodes } from "../exit-code.ts";
import { type SharedFlags, settingsOf } from "../flags.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { print } from "./sessions.ts";

/** Reads a policy and prints what it checks. @throws AgentError CONFIG_INVALID, STORE_* */
export async function checkGuardrails(place: string | undefined, { json = false }: { readonly json?: boolean } = {}): Promise<number> {
  const { policy, name } = await readPolicy(place);
  if (json) print(jsonLine(policy));
  else {
    print(`The guardrails in ${oneLine(name, 200)} can be used.`);
    for (const line of linesOf(policy)) print(line);
  }
  return exitCodes.ok;
}

/** Keeps the policy of a file for several processes. @throws AgentError CONFIG_INVALID, STORE_* */
export async function putGuardrails(place: string, file: string): Promise<number> {
  await readPolicy(file);
  await keepPolicy(place, await readFile(file, "utf8"));
  print(`Kept. Processes that follow ${oneLine(place, 200)} take it within a second.`);
  return exitCodes.ok;
}

export interface BacktestFlags extends SharedFlags {
  readonly guardrails?: string;
  readonly limit?: string;
  readonly json?: boolean;
}

/** Prints what a policy would have done to the sessions that are kept. @throws AgentError CONFIG_INVALID, STORE_* */
export async function backtestGuardrails(flags: BacktestFlags): Promise<number> {
  const sessionsMax = countOf(flags.limit ?? "1000");
  const { policy } = await readPolicy(flags.guardrails);
  const store = await openExistingStore(await settingsOf({ ...flags, offline: true }));
  if (!store)
    throw new AgentError("CONFIG_INVALID", { message: "There is no store here.", fix: "Name it with `--store`, as for `loopwright run`." });
  try {
    const { backtest } = await import("@loopwright/guardrails");
    printReport(await backtest({ store, scope: localScope, policy, sessionsMax }), flags.json === true);
    return exitCodes.ok;
  } finally {
    await store.close();
  }
}

function printReport({ sessions, unreadable, checked, hits }: BacktestReport, isJson: boolean): void {
  for (const hit of hits) {
    const { session, cursor, action, reason } = hit;
    print(isJson ? jsonLine(hit) : `${oneLine(session, 64)}  ${cursor}  ${action}  ${oneLine(reason, 200)}`);
  }
  const all = Object.values(checked).reduce((sum, count) => sum + count, 0);
  const parts = `${checked.input} messages, ${checked.output} answers, ${checked.tool_call} calls, ${checked.tool_output} outputs`;
  process.stderr.write(`${hits.length} verdicts on ${all} texts (${parts}) of ${sessions} sessions.\n`);
  if (unreadable.length > 0)
    process.stderr.write(`${unreadable.length} sessions could not be read: ${oneLine(unreadable.join(", "), 400)}\n`);
}

async function readPolicy(place: string | undefined): Promise<{ readonly policy: GuardrailPolicy; readonly name: string }> {
  const { createGuardrails } = await import("@loopwright/guardrails");
  const { source, close } = await openPolicy(place);
  try {
    return { policy: await createGuardrails({ policy: source }).policy(), name: source.name };
  } finally {
    close();
  }
}

function* linesOf({ mode = "enforce", secrets, pii, promptInjection, commands, rules = [] }: GuardrailPolicy): Generator<string> {
  yield `mode: ${mode}`;
  yield `secrets: ${secrets === false ? "off" : (secrets?.action ?? "redact")}`;
  yield `pii: ${pii ? `${pii.action ?? "redact"}${pii.kinds ? ` ${pii.kinds.join(", ")}` : ""}` : "off"}`;
  yield `promptInjection: ${promptInjection ? (promptInjection.action ?? "warn") : "off"}`;
  yield `commands: ${commands ? (commands.action ?? "block") : "off"}`;
  for (const { id, action = "redact", mode: own, at } of rules)
    yield `rule ${id}: ${action}${at ? ` at ${at.join(", ")}` : ""}${own ? ` (${own})` : ""}`;
}

function countOf(text: string): number {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (count > 0) return count;
  throw new AgentError("CONFIG_INVALID", {
    message: `\`${oneLine(text, 40)}\` is no count of sessions.`,
    fix: "Pass 1 or more with `--limit`.",
  });
}
