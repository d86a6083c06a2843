import { AgentError } from "@loopwright/core";
import type { AuditLog } from "@loopwright/telemetry/audit";
import { localScope, openExistingStore } from "../compose/kept-sessions.ts";
import { exitCodes } from "../exit-code.ts";
import { type SharedFlags, settingsOf } from "../flags.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { print } from "./sessions.ts";

export interface AuditFlags extends SharedFlags {
  readonly json?: boolean;
  /** An entry that was noted before: `<seq>:<hash>`. */
  readonly head?: string;
}

/** Looks through the chain of a scope; the exit code reports whether it is intact. @throws AgentError STORE_*, INPUT_INVALID */
export async function verifyAudit(scope: string = localScope, flags: AuditFlags = {}): Promise<number> {
  return withAudit(flags, async (audit) => {
    const verdict = await audit.verify(scope, flags.head === undefined ? {} : { head: flags.head });
    if (flags.json) print(jsonLine(verdict));
    else if (verdict.intact) print(`intact: ${verdict.entries} entries${startOf(verdict)}. Note the head elsewhere: ${verdict.head}`);
    else print(`NOT intact: the entry ${verdict.seq} is wrong: ${oneLine(verdict.reason, 200)}`);
    return verdict.intact ? exitCodes.ok : exitCodes.failed;
  });
}

const startOf = ({ from }: { readonly from?: number }): string =>
  from === undefined ? "" : ` from ${from} on; the chain reports that those before were removed`;

/** Prints the entries of a scope, the oldest first. @throws AgentError STORE_*, INPUT_INVALID */
export async function listAudit(scope: string = localScope, flags: AuditFlags = {}): Promise<number> {
  return withAudit(flags, async (audit) => {
    for (let from = 1; ; ) {
      const entries = await audit.list(scope, { from });
      for (const entry of entries) {
        const { seq, at, user, action, session = "-", verdict = "-" } = entry;
        const line = `${seq}  ${new Date(at).toISOString()}  ${oneLine(user, 40)}  ${oneLine(action, 40)}  ${oneLine(verdict, 20)}  ${oneLine(session, 64)}`;
        print(flags.json ? jsonLine(entry) : line);
      }
      const last = entries.at(-1);
      if (!last) return exitCodes.ok;
      from = last.seq + 1;
    }
  });
}

async function withAudit(flags: AuditFlags, work: (audit: AuditLog) => Promise<number>): Promise<number> {
  const store = await openExistingStore(await settingsOf({ ...flags, offline: true }));
  if (!store)
    throw new AgentError("CONFIG_INVALID", { message: "There is no store here.", fix: "Name it with `--store`, as for `loopwright run`." });
  try {
    const { auditLog } = await import("@loopwright/telemetry/audit");
    return await work(auditLog({ log: store.log }));
  } finally {
    await store.close();
  }
}
