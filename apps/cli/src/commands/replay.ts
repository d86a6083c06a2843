import { type Agent, AgentError, type Fact } from "@loopwright/core";
import type { Divergence, ReplayReport, SessionLogFile } from "@loopwright/replay";
import { openWorkplace } from "../compose/workplace.ts";
import { exitCodes } from "../exit-code.ts";
import { type SharedFlags, settingsWithSecrets } from "../flags.ts";
import { errorLogger } from "../serve/error-logger.ts";
import { localShelf } from "../shelf/local-shelf.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { agentNameOf, fileOf } from "./recorded-session.ts";
import { print } from "./sessions.ts";

/** Runs a recorded session again and prints whether its log is the same; the exit code is 1 if not. @throws AgentError as `openWorkplace` does, SESSION_NOT_FOUND */
export async function replay(typed: string, flags: SharedFlags & { readonly json?: boolean }): Promise<number> {
  const settings = await settingsWithSecrets(flags, { logger: errorLogger });
  const recorded = (await fileOf(typed)) ?? (await kept(typed, settings));
  const workplace = await openWorkplace(settings, { isAttended: false });
  try {
    const { replaySession } = await import("@loopwright/replay");
    const report = await replaySession({ ...recorded, agent: agentNamed(agentNameOf(recorded.facts), workplace.agents) });
    if (flags.json) print(jsonLine(report));
    else for (const line of linesOf(report, recorded)) print(line);
    return report.isIdentical ? exitCodes.ok : exitCodes.failed;
  } finally {
    await workplace.close();
  }
}

async function kept(typed: string, settings: Parameters<typeof localShelf>[0]): Promise<SessionLogFile> {
  const shelf = await localShelf(settings);
  try {
    return await shelf.log(typed);
  } finally {
    await shelf.close();
  }
}

/** The agent, or one that the agents start. @throws AgentError CONFIG_INVALID */
function agentNamed(name: string, agents: readonly Agent[]): Agent {
  const seen = new Set<Agent>();
  for (const agent of agents) seen.add(agent);
  // A set that grows is walked to its end.
  for (const { tools } of seen) for (const { agents: below = [] } of tools) for (const agent of below) seen.add(agent as Agent);
  const found = [...seen].find((agent) => agent.name === name);
  if (found) return found;
  throw new AgentError("CONFIG_INVALID", {
    message: `The session began with the agent \`${oneLine(name, 64)}\`, which is not here.`,
    fix: "Name it by `--agent`, and its module by `--agents`, as for the command that recorded the session.",
  });
}

function* linesOf({ isIdentical, equal, divergence }: ReplayReport, { session, facts }: SessionLogFile): Generator<string> {
  if (isIdentical) yield `The replay of ${session} gives the identical log: ${equal} facts.`;
  if (!divergence) return;
  yield `The replay of ${session} differs at fact ${divergence.seq} of ${facts.length}.`;
  yield* divergedLines(divergence);
}

function* divergedLines({ recorded, replayed, members }: Divergence): Generator<string> {
  if (!replayed) yield `recorded: ${typeOf(recorded)}; the replay does not come there`;
  else if (members.includes("type") || !recorded) yield `recorded: ${typeOf(recorded)}; replayed: ${typeOf(replayed)}`;
  else
    for (const member of members) {
      yield `${typeOf(recorded)} ${member}`;
      yield `- ${shown(recorded, member)}`;
      yield `+ ${shown(replayed, member)}`;
    }
  if (members.length === 1 && members[0] === "agentDigest")
    yield "The agent has changed since: its prompt, its tools or its limits. What follows from that was not compared.";
}

const typeOf = (fact: Fact | undefined): string => fact?.type ?? "nothing";

/** The value at a path such as `message.content.0.text`, on one line. */
function shown(fact: Fact, path: string): string {
  let value: unknown = fact;
  for (const name of path.split("."))
    value = typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  return value === undefined ? "(absent)" : oneLine(JSON.stringify(value), 400);
}
