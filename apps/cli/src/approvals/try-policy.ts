import { readFile } from "node:fs/promises";
import type { ApprovalBacktestReport, BacktestedCall, GateOutcome } from "@loopwright/approvals";
import { AgentError } from "@loopwright/core";
import { localScope, openExistingStore } from "../compose/kept-sessions.ts";
import { openApprovals } from "../compose/open-approvals.ts";
import { exitCodes } from "../exit-code.ts";
import { type SharedFlags, settingsOf } from "../flags.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";

export interface TryPolicyFlags extends SharedFlags {
  readonly limit?: string;
  readonly json?: boolean;
}

/** Prints what a policy of approvals would have done in the sessions that are kept, where it differs from what was done. @throws AgentError CONFIG_INVALID, STORE_* */
export async function tryPolicy(file: string, { limit = "1000", json = false, ...flags }: TryPolicyFlags): Promise<number> {
  const sessionsMax = countOf(limit);
  const [{ backtestApprovals, parseApprovalPolicy }, text] = await Promise.all([import("@loopwright/approvals"), textOf(file)]);
  const policy = parseApprovalPolicy(text, oneLine(file, 200));
  const settings = await settingsOf({ ...flags, offline: true });
  const store = await openExistingStore(settings);
  if (!store)
    throw new AgentError("CONFIG_INVALID", { message: "There is no store here.", fix: "Name it with `--store`, as for `loopwright run`." });
  try {
    printReport(await backtestApprovals({ store, scope: localScope, policy, rules: openApprovals(settings).rules, sessionsMax }), json);
    return exitCodes.ok;
  } finally {
    await store.close();
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    throw new AgentError("CONFIG_INVALID", {
      message: `The file \`${oneLine(file, 200)}\` cannot be read.`,
      fix: "Give the JSON file of a policy.",
    });
  }
}

function printReport({ sessions, unreadable, calls }: ApprovalBacktestReport, isJson: boolean): void {
  for (const call of calls) {
    if (isJson) process.stdout.write(`${jsonLine(call)}\n`);
    else if (call.verdict !== call.recorded) process.stdout.write(`${lineOf(call)}\n`);
  }
  const count = (wanted: (call: BacktestedCall) => boolean): number => calls.filter(wanted).length;
  const of = (verdict: GateOutcome): string =>
    `${count((call) => call.verdict === verdict)} (was ${count((call) => call.recorded === verdict)})`;
  process.stderr.write(
    `${calls.length} calls of ${sessions} sessions. Asked: ${of("ask")}, allowed: ${of("allow")}, denied: ${of("deny")}.\n`,
  );
  const decided = (verdict: GateOutcome, decision: "allow" | "deny"): number =>
    count((call) => call.verdict === verdict && call.decision === decision);
  process.stderr.write(
    `Of the calls that people allowed it allows ${decided("allow", "allow")} and denies ${decided("deny", "allow")}; of those that they denied it allows ${decided("allow", "deny")} and denies ${decided("deny", "deny")}. It asks about the rest.\n`,
  );
  for (const { session, why } of unreadable) process.stderr.write(`${oneLine(session, 64)} could not be read: ${oneLine(why, 200)}\n`);
}

const words: { readonly [outcome in GateOutcome]: string } = { allow: "allowed", ask: "asked", deny: "denied" };

function lineOf({ session, callKey, toolName, verdict, reason, recorded, decision }: BacktestedCall): string {
  const person = decision === undefined ? "" : `, a person ${decision === "allow" ? "allowed" : "denied"} it`;
  const why = reason === undefined ? "" : `: ${oneLine(reason, 200)}`;
  return `${oneLine(session, 64)}  ${oneLine(callKey, 80)}  ${oneLine(toolName, 64)}  would be ${words[verdict]}, was ${words[recorded]}${person}${why}`;
}

function countOf(text: string): number {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (count > 0) return count;
  throw new AgentError("CONFIG_INVALID", {
    message: `\`${oneLine(text, 40)}\` is no count of sessions.`,
    fix: "Pass 1 or more with `--limit`.",
  });
}
