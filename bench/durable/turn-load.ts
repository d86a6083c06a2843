import { type AgentSession, createSession, execute } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { benchAgent } from "./bench-agent.ts";
import type { TurnScene } from "./durable-scenes.ts";
import { writeHistory } from "./history-facts.ts";
import { snapshotWritten } from "./snapshot-written.ts";

/** Turns of a session that are not measured: the first one reads the log and learns its path. */
const warmupTurns = 2;
/** Facts after which a session has a snapshot. */
const snapshotFacts = 200;
/** Turns of a session of its own before anything is measured, so that the process is hot whatever is measured. */
const hotTurns = 600;

async function talk(session: AgentSession, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    const { status, error } = await execute(session, "Please say something more.").result();
    if (status !== "completed") throw error ?? new Error(status);
  }
}

/** CPU of this process for one turn, all threads, and its time, in microseconds. */
export async function measureTurns(
  { facts, sessions, turns }: TurnScene,
  store: SessionStore,
): Promise<Readonly<Record<string, readonly number[]>>> {
  const agent = benchAgent();
  const open = (id: string): AgentSession => createSession({ agent, store, id });
  await talk(open("hot"), hotTurns);
  const opened: AgentSession[] = [];
  for (let index = 0; index < sessions; index++) {
    const id = `s${index}`;
    const ref = { scope: "local", session: id };
    await writeHistory(store, ref, facts);
    const session = open(id);
    await talk(session, warmupTurns);
    // The first one of a log that was written without is of all of it.
    if (facts > snapshotFacts) await snapshotWritten(store, ref);
    if (session.messages.length < facts / 3) throw new Error(`A session of ${facts} facts has ${session.messages.length} messages.`);
    opened.push(session);
  }
  let cpuUs = 0;
  let wallUs = 0;
  for (const session of opened) {
    const cpu = process.cpuUsage();
    const startedAt = performance.now();
    await talk(session, turns);
    wallUs += (performance.now() - startedAt) * 1_000;
    const { user, system } = process.cpuUsage(cpu);
    cpuUs += user + system;
  }
  const count = sessions * turns;
  return { cpuUs: [cpuUs / count], wallUs: [wallUs / count] };
}
