import { type Agent, AgentError } from "@loopwright/core";
import type { Divergence, ReplayReport, SessionLogFile } from "@loopwright/replay";
import { openGuardrails } from "../compose/open-guardrails.ts";
import { openWorkplace, type WorkplaceOptions } from "../compose/workplace.ts";
import { exitCodes } from "../exit-code.ts";
import { settingsWithSecrets } from "../flags.ts";
import { errorLogger } from "../serve/error-logger.ts";
import type { Settings } from "../settings/settings.ts";
import { jsonLine } from "../terminal/json-line.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { agentNameOf, fileOf } from "./recorded-session.ts";
import { openShelf, print, type SessionFlags } from "./sessions.ts";

/** Runs a recorded session again and prints whether its log is the same; the exit code is 1 if not. @throws AgentError as `openWorkplace` does, SESSION_NOT_FOUND */
export async function replay(typed: string, { url, token, ...flags }: SessionFlags): Promise<number> {
  const settings = await settingsWithSecrets(flags, { logger: errorLogger });
  const server = { ...(url === undefined ? {} : { url }), ...(token === undefined ? {} : { token }) };
  const recorded = (await fileOf(typed)) ?? (await kept(typed, { ...flags, ...server }));
  const report = await replayed(recorded, settings);
  if (flags.json) print(jsonLine(report));
  else for (const line of linesOf(report, recorded, (await import("@loopwright/replay")).divergenceLines)) print(line);
  return report.isIdentical ? exitCodes.ok : exitCodes.failed;
}

/** How `ask`, `chat` and `run` make their agents: with other tools and prompts, and `run` with guardrails and the parts of the embedding product. */
const makers: readonly (Pick<WorkplaceOptions, "isAttended" | "surface"> & { readonly isServed?: true })[] = [
  { isAttended: false },
  { isAttended: true },
  { isAttended: false, surface: "web page", isServed: true },
];

/** The replay with the agent as the command that recorded the session makes it; if no agent is the recorded one, that of the agent with the fewest differences. */
async function replayed(recorded: SessionLogFile, settings: Settings): Promise<ReplayReport> {
  const reports: ReplayReport[] = [];
  for (const maker of makers) {
    const report = await replayedBy(maker, { recorded, settings });
    if (!isOtherAgent(report)) return report;
    reports.push(report);
  }
  const [nearest] = reports.toSorted((one, other) => differences(one) - differences(other));
  return nearest as ReplayReport;
}

const differences = ({ divergence }: ReplayReport): number => divergence?.members.length ?? 0;

const isOtherAgent = ({ divergence }: ReplayReport): boolean => divergence?.members.includes("agentDigest") ?? false;

async function replayedBy(
  { isServed, ...options }: (typeof makers)[number],
  { recorded, settings }: { readonly recorded: SessionLogFile; readonly settings: Settings },
): Promise<ReplayReport> {
  const guardrails = isServed ? await openGuardrails(settings.configuration.values) : undefined;
  try {
    const workplace = await openWorkplace(settings, { ...options, offersAll: true, ...(guardrails ? { guard: guardrails.guard } : {}) });
    try {
      const agents = isServed ? await served(workplace.agents) : workplace.agents;
      const { replaySession } = await import("@loopwright/replay");
      return await replaySession({ ...recorded, agent: agentNamed(agentNameOf(recorded.facts), agents) });
    } finally {
      await workplace.close();
    }
  } finally {
    guardrails?.close();
  }
}

/** The agents with what the embedding product adds to prompts. */
async function served(agents: readonly Agent[]): Promise<readonly Agent[]> {
  const { embedOptions } = await import("@loopwright/embed");
  const { agents: made } = embedOptions({ agents });
  return typeof made === "function" ? agents : made;
}

/** The log of a session of the store, or of the server at `--url`. */
async function kept(typed: string, flags: SessionFlags): Promise<SessionLogFile> {
  const shelf = await openShelf(flags);
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

function linesOf(
  { isIdentical, equal, divergence }: ReplayReport,
  recorded: SessionLogFile,
  lines: (of: Divergence) => readonly string[],
): readonly string[] {
  const { session, facts } = recorded;
  if (isIdentical || !divergence) return [`The replay of ${session} gives the identical log: ${equal} facts.`];
  const shown = lines(divergence).map((line) => oneLine(line, lineMax));
  return [`The replay of ${session} differs at fact ${divergence.seq} of ${facts.length}.`, ...shown];
}

const lineMax = 500;
