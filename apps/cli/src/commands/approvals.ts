import { AgentError, type JsonObject } from "@loopwright/core";
import type { ApprovalRule } from "@loopwright/core/ports";
import type { ApprovalDesk, DeskDecision, WholeApproval } from "../approvals/approval-desk.ts";
import { localDesk } from "../approvals/local-desk.ts";
import { approvalText } from "../chat/approval-lines.ts";
import { commandName } from "../command-name.ts";
import { exitCodes } from "../exit-code.ts";
import { proseWidth, type SharedFlags, settingsOf, styleFor } from "../flags.ts";
import { type ServerFlags, serverOf } from "../remote/server-address.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { print } from "./sessions.ts";

export interface ApprovalFlags extends SharedFlags, ServerFlags {
  readonly json?: boolean;
  readonly note?: string;
  readonly args?: string;
  readonly remember?: string;
  readonly pattern?: string;
}

/** Most approvals that one command looks at. */
const listMax = 1_000;

/** Prints what waits for a decision, with all arguments. */
export async function listApprovals(flags: ApprovalFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    const found = await desk.list(listMax);
    const frame = { width: proseWidth(process.stdout), style: styleFor(process.stdout, flags) };
    for (const approval of found) {
      if (flags.json) {
        print(jsonLine(approval));
        continue;
      }
      const { question, page } = approvalText(approval, frame, "all");
      const agent = approval.agent === undefined ? "" : `, asked by ${oneLine(approval.agent, 64)}`;
      const until = approval.deadline === undefined ? "" : `, until ${new Date(approval.deadline).toISOString()}`;
      for (const line of [...question, ...page]) print(line);
      print(frame.style.dim(`  ${approval.callKey} in ${approval.sessionId} ${oneLine(approval.title ?? "", 80)}${agent}${until}`));
    }
    if (found.length > 0 && !flags.json)
      process.stderr.write(`Decide: ${commandName()} approvals allow|deny <call>, where <call> is the key at the end of each.\n`);
    if (found.length === 0 && !flags.json) process.stderr.write("Nothing waits for a decision.\n");
    return exitCodes.ok;
  });
}

/** Decides on one call. @throws AgentError CALL_UNKNOWN, INPUT_INVALID, APPROVAL_DECIDED */
export async function decideApproval(typed: string, decision: "allow" | "deny", flags: ApprovalFlags): Promise<number> {
  const wanted: DeskDecision = {
    decision,
    ...(flags.note === undefined ? {} : { note: flags.note }),
    ...(flags.args === undefined ? {} : { args: jsonObjectOf(flags.args, "--args") }),
    ...rememberOf(flags),
  };
  return withDesk(flags, async (desk) => {
    const approval = approvalOf(await desk.list(listMax), typed);
    await desk.decide(approval, wanted);
    const done = decision === "allow" ? "Allowed" : "Denied";
    const later = wanted.remember ? `, and such calls ${wanted.remember.for === "always" ? "always" : "in this session"}` : "";
    process.stderr.write(`${done} ${oneLine(approval.toolName, 64)} (${approval.callKey})${later}.\n`);
    return exitCodes.ok;
  });
}

/** Prints the decisions that hold for later calls in all sessions. */
export async function listRules(flags: ApprovalFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    const rules = await desk.rules();
    for (const rule of rules) print(flags.json ? jsonLine(rule) : ruleLine(rule));
    if (rules.length === 0 && !flags.json) process.stderr.write("No decision holds for later calls.\n");
    return exitCodes.ok;
  });
}

/** Revokes such a decision. */
export async function revokeRule(id: string, flags: ApprovalFlags): Promise<number> {
  return withDesk(flags, async (desk) => {
    const isRemoved = await desk.removeRule(id);
    process.stderr.write(isRemoved ? `Revoked ${oneLine(id, 64)}.\n` : `There is no rule ${oneLine(id, 64)}.\n`);
    return isRemoved ? exitCodes.ok : exitCodes.failed;
  });
}

function ruleLine({ id, toolName, decision, pattern, createdAt }: ApprovalRule): string {
  return `${id}  ${decision}  ${oneLine(toolName, 64)}  ${oneLine(JSON.stringify(pattern["args"] ?? pattern), 400)}  ${new Date(createdAt).toISOString()}`;
}

/** The approval of this key or beginning of a key. @throws AgentError CALL_UNKNOWN, INPUT_INVALID */
function approvalOf(approvals: readonly WholeApproval[], typed: string): WholeApproval {
  const found = approvals.filter(({ callKey }) => callKey === typed);
  const [first, ...others] = found.length > 0 ? found : approvals.filter(({ callKey }) => callKey.startsWith(typed));
  if (first && others.length === 0) return first;
  if (first)
    throw new AgentError("INPUT_INVALID", {
      message: `${others.length + 1} calls begin with \`${oneLine(typed, 64)}\`.`,
      fix: "Type more of the key.",
    });
  throw new AgentError("CALL_UNKNOWN", {
    message: `No call \`${oneLine(typed, 64)}\` waits for a decision.`,
    fix: `See \`${commandName()} approvals list\`.`,
  });
}

function rememberOf({ remember, pattern }: ApprovalFlags): Pick<DeskDecision, "remember"> {
  if (remember === undefined && pattern === undefined) return {};
  if (remember !== "session" && remember !== "always")
    throw new AgentError("INPUT_INVALID", {
      message: "A decision is remembered for this session or always.",
      fix: "Pass `--remember session` or `--remember always`; `--pattern` names the calls.",
    });
  return { remember: { for: remember, ...(pattern === undefined ? {} : { pattern: jsonObjectOf(pattern, "--pattern") }) } };
}

/** @throws AgentError INPUT_INVALID */
function jsonObjectOf(text: string, flag: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // The error below names the flag.
  }
  throw new AgentError("INPUT_INVALID", { message: `\`${flag}\` is no JSON object.`, fix: `Pass one such as '{"path": "a"}' in quotes.` });
}

async function withDesk(flags: ApprovalFlags, work: (desk: ApprovalDesk) => Promise<number>): Promise<number> {
  const desk = await openDesk(flags);
  try {
    return await work(desk);
  } finally {
    await desk.close();
  }
}

async function openDesk(flags: ApprovalFlags): Promise<ApprovalDesk> {
  if (flags.url !== undefined) return (await import("../approvals/remote-desk.ts")).remoteDesk(await serverOf(flags));
  return localDesk(await settingsOf({ ...flags, offline: true }));
}
