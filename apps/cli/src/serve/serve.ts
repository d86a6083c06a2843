import { setTimeout as sleep } from "node:timers/promises";
import { type AgentServer, bearerTokens, createServer } from "@loopwright/server";
import { listen, staticFiles } from "@loopwright/server/node";
import { introduction } from "../compose/introduction.ts";
import { localScope } from "../compose/kept-sessions.ts";
import type { Workplace } from "../compose/workplace.ts";
import { type FoundPage, findPage } from "./find-page.ts";
import { freePort } from "./free-port.ts";
import { hostNames, openableHost } from "./host-names.ts";
import type { RunLogger } from "./run-logger.ts";
import type { RunSettings } from "./run-settings.ts";
import { type StopSignal, stopSignals } from "./stop-signal.ts";

/** Serves until the process is asked to end, then lets go of everything in order. @throws AgentError CONFIG_INVALID when the port cannot be had */
export async function serve(workplace: Workplace, wishes: RunSettings, logger: RunLogger): Promise<void> {
  const signals = stopSignals();
  const port = await freePort(wishes);
  const page = findPage();
  const server = serverOf(workplace, { wishes, port, page, logger });
  try {
    const listening = await listen(server, { host: wishes.host, port, insecure: wishes.isOpenToAll });
    try {
      const url = `http://${openableHost(wishes.host)}:${port}/`;
      logger.tell("listening", welcome({ workplace, wishes, port, url, page }), {
        url,
        pid: process.pid,
        store: workplace.settings.storeFile,
        provider: workplace.provider.name,
        model: workplace.agent.model,
        page: "directory" in page,
      });
      await goOn(server, logger);
      const signal = await signals.first;
      await stop(server, { signal, patienceMs: wishes.patienceMs[signal], logger });
    } finally {
      await server.close();
      await listening.close();
    }
  } finally {
    await server.close();
    signals.ignore();
  }
  logger.tell("stopped", ["Stopped."]);
}

interface ServerParts {
  readonly wishes: RunSettings;
  readonly port: number;
  readonly page: FoundPage;
  readonly logger: RunLogger;
}

function serverOf({ agent, store }: Workplace, { wishes, port, page, logger }: ServerParts): AgentServer {
  const { host, allowedHosts, models, token } = wishes;
  return createServer({
    agents: [agent],
    store,
    logger,
    models: { [agent.name]: models },
    hosts: hostNames(host, port, allowedHosts),
    ...("directory" in page ? { page: staticFiles(page.directory) } : {}),
    ...(token === undefined ? {} : { authenticate: bearerTokens({ [token]: { user: localScope, scope: localScope, trusted: true } }) }),
  });
}

interface Welcome {
  readonly workplace: Workplace;
  readonly wishes: RunSettings;
  readonly port: number;
  readonly url: string;
  readonly page: FoundPage;
}

function welcome({ workplace, wishes, port, url, page }: Welcome): readonly string[] {
  return [
    `Loopwright serves ${"directory" in page ? "the page" : "its API"} at ${url}`,
    ...("missing" in page ? [page.missing] : []),
    ...(port === wishes.port || wishes.port === 0 ? [] : [`Port ${wishes.port} is taken, so it is ${port}.`]),
    ...(wishes.isOpenToAll
      ? ["WARNING: everybody who reaches this machine may talk to the agent and read all sessions (--insecure)."]
      : []),
    ...(wishes.token === undefined ? [] : ["Callers have to send the token: `Authorization: Bearer <token>`. The page asks for it."]),
    introduction(workplace),
    `Sessions are kept in ${workplace.settings.storeFile}`,
    `Ctrl+C stops it (process ${process.pid}). What runs then is kept and goes on at the next start.`,
  ];
}

/** Takes up the runs that a crash cut off. */
async function goOn(server: AgentServer, logger: RunLogger): Promise<void> {
  const count = await server.recover(localScope);
  if (count > 0)
    logger.tell("recovered", [`${count === 1 ? "A run that was" : `${count} runs that were`} cut off ${count === 1 ? "goes" : "go"} on.`], {
      count,
    });
}

interface Stop {
  readonly signal: StopSignal;
  readonly patienceMs: number;
  readonly logger: RunLogger;
}

/** How often it is looked whether the runs that may end have ended. */
const lookMs = 200;

/** Takes nothing new and gives open runs their time. */
async function stop(server: AgentServer, { signal, patienceMs, logger }: Stop): Promise<void> {
  server.drain();
  const count = server.running;
  const runs = count === 1 ? "1 run" : `${count} runs`;
  if (count === 0) return logger.tell("stopping", ["Stopping."], { signal });
  const plan = patienceMs === 0 ? `${runs} will go on at the next start.` : `${runs} may end within ${patienceMs / 1_000} s.`;
  logger.tell("stopping", [`Stopping. ${plan} The same again ends at once.`], { signal, running: count, patienceMs });
  const until = performance.now() + patienceMs;
  while (performance.now() < until && server.running > 0) await sleep(Math.min(lookMs, Math.max(0, until - performance.now())));
}
