import { AgentError } from "@loopwright/core";
import { isId } from "@loopwright/core/ports";
import type { RetentionChange, RetentionOfScope } from "@loopwright/user-settings";
import { localScope } from "../../compose/kept-sessions.ts";
import { openStore } from "../../compose/open-store.ts";
import { openRetention } from "../../compose/own-keys/open-retention.ts";
import { retentionRecord } from "../../compose/retention-record.ts";
import { exitCodes } from "../../exit-code.ts";
import { type SharedFlags, settingsOf } from "../../flags.ts";
import { clientOf } from "../../remote/remote-place.ts";
import { type ServerFlags, serverOf } from "../../remote/server-address.ts";
import type { Settings } from "../../settings/settings.ts";
import { jsonLine } from "../../terminal/json-line.ts";
import { oneLine } from "../../terminal/neutralise.ts";
import { print } from "../sessions.ts";

interface RetentionFlags extends SharedFlags, ServerFlags {
  readonly scope?: string;
  readonly json?: boolean;
}

const dayMs = 86_400_000;
const daysMax = 36_500;

/** Prints how long the sessions of a scope are kept, after it was set where `days` is given. @throws AgentError INPUT_INVALID, FORBIDDEN, ROUTE_NOT_FOUND, STORE_* */
export async function retentionOfScope(days: string | undefined, flags: RetentionFlags): Promise<number> {
  const keepMs = days === undefined ? undefined : keepMsOf(days);
  const now = flags.url === undefined ? await local(keepMs, flags) : await remote(keepMs, flags);
  print(flags.json ? jsonLine(now) : sentenceOf(now));
  return exitCodes.ok;
}

/** `null` for none. */
function keepMsOf(days: string): number | null {
  if (days === "none") return null;
  if (/^\d+(\.\d+)?$/.test(days) && Number(days) > 0 && Number(days) <= daysMax) return Math.ceil(Number(days) * dayMs);
  throw new AgentError("INPUT_INVALID", {
    message: `\`${oneLine(days, 40)}\` is no number of days.`,
    fix: `Write \`90\`, with at most ${daysMax} days, or \`none\`.`,
  });
}

async function remote(keepMs: number | null | undefined, flags: RetentionFlags): Promise<RetentionOfScope> {
  if (flags.scope !== undefined)
    throw new AgentError("INPUT_INVALID", {
      message: "`--scope` is for a store: a server takes the scope of the caller.",
      fix: "Leave it out.",
    });
  const { settings } = clientOf(await serverOf(flags));
  return keepMs === undefined ? settings.retention() : settings.setRetention(keepMs);
}

async function local(keepMs: number | null | undefined, { scope = localScope, ...flags }: RetentionFlags): Promise<RetentionOfScope> {
  if (!isId(scope))
    throw new AgentError("INPUT_INVALID", {
      message: `\`${oneLine(scope, 64)}\` is no scope.`,
      fix: "Use 1 to 64 of a to z, 0 to 9, `_` and `-`.",
    });
  const settings = await settingsOf({ ...flags, offline: true });
  const { retention, close } = openRetention(settings);
  try {
    if (keepMs === undefined) return await retention.of(scope);
    const change = await retention.set(scope, keepMs);
    await record(scope, change, settings);
    return change.after;
  } finally {
    await close();
  }
}

/** The change erases sessions, so it is in the audit log of the store, also where no server writes one. @throws AgentError STORE_*, when the change is made */
async function record(scope: string, change: RetentionChange, settings: Pick<Settings, "store" | "environment">): Promise<void> {
  const store = await openStore(settings.store, settings);
  try {
    const { auditLog } = await import("@loopwright/telemetry/audit");
    await auditLog({ log: store.log }).record(scope, retentionRecord(change, localScope));
  } finally {
    await store.close();
  }
}

function sentenceOf({ keepMs, deploymentKeepMs }: RetentionOfScope): string {
  const shorter = Math.min(keepMs ?? Number.POSITIVE_INFINITY, deploymentKeepMs ?? Number.POSITIVE_INFINITY);
  if (!Number.isFinite(shorter)) return "Sessions are kept.";
  const days = Math.round((shorter / dayMs) * 100) / 100;
  return `Sessions are erased ${days === 1 ? "1 day" : `${days} days`} after their last change, unless they are under a legal hold.`;
}
