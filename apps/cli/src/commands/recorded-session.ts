import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { AgentError, type AgentSession, createAgent, createSession, type Fact } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { offline } from "@loopwright/providers-scripted";
import type { SessionLogFile } from "@loopwright/replay";
import { localScope } from "../compose/kept-sessions.ts";
import { oneLine } from "../terminal/neutralise.ts";

/** The largest file of a session that is read. */
const fileMaxBytes = 512 * 1024 * 1024;

/** The recorded session in the file, if what was typed names one. @throws AgentError CONFIG_INVALID for another file */
export async function fileOf(typed: string): Promise<SessionLogFile | undefined> {
  if (!existsSync(typed)) return undefined;
  const stats = statSync(typed);
  if (!stats.isFile() || stats.size > fileMaxBytes)
    throw new AgentError("CONFIG_INVALID", {
      message: `\`${oneLine(typed, 200)}\` is no file of a session${stats.isFile() ? `: it has more than ${fileMaxBytes} bytes` : ""}.`,
      fix: "Give a file that `sessions export --format log` has written, or the id of a session.",
    });
  const { readSessionLog } = await import("@loopwright/replay");
  return readSessionLog(await readFile(typed, "utf8"));
}

/** Lends the session of a file, in memory, to look at. */
export async function withRecorded<T>({ session, facts }: SessionLogFile, work: (handle: AgentSession) => T): Promise<T> {
  const store = memoryStore();
  await store.log.append({ scope: localScope, session }, { expectedSeq: 0, batchId: "recorded", facts });
  const agent = createAgent({ name: agentNameOf(facts), provider: offline() });
  await using handle = createSession({ agent, id: session, store, drives: false });
  return work(await handle.ready());
}

/** The agent that a log began with. @throws AgentError CONFIG_INVALID */
export function agentNameOf(facts: readonly Fact[]): string {
  for (const fact of facts) if (fact.type === "session.opened") return fact.agent;
  throw new AgentError("CONFIG_INVALID", { message: "The log has no `session.opened`.", fix: "Give the whole log of a session." });
}
