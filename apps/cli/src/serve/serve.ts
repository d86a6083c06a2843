import type { Runtime } from "@loopwright/core";
import { cronRules } from "@loopwright/cron";
import { orchestratorDialect } from "@loopwright/dialect-orchestrator";
import { type EmbedOptions, embedOptions } from "@loopwright/embed";
import { createRuntime, createWorker, type HostOptions } from "@loopwright/host";
import { type AgentServer, createHealthServer, createServer, type ExtensionRoute, type HttpOptions } from "@loopwright/server";
import { type Listenable, type Listening, listen, staticFiles } from "@loopwright/server/node";
import { artifactRoutes } from "@loopwright/tools-craft";
import { knowledgeRoutes } from "@loopwright/tools-knowledge";
import { retentionRoutes } from "@loopwright/user-settings";
import { isOperator } from "../compose/is-operator.ts";
import { localScope } from "../compose/kept-sessions.ts";
import { retentionRecord } from "../compose/retention-record.ts";
import { storeText } from "../config/store-place.ts";
import { checkChatbot } from "../settings/typed-modes.ts";
import { type FoundPage, findPage } from "./find-page.ts";
import { freePort } from "./free-port.ts";
import { hostNames, openableHost } from "./host-names.ts";
import { clientsOf, type OpenChannels, openChannels } from "./open-channels.ts";
import { openWebhooks, readWebhooks } from "./open-webhooks.ts";
import { protocolRoutes } from "./protocols.ts";
import type { RunLogger } from "./run-logger.ts";
import type { ServeParts } from "./serve-parts.ts";
import { type StopSignal, stopSignals } from "./stop-signal.ts";
import { welcome } from "./welcome.ts";

/** Serves, or works, until the process is asked to end or to take another configuration, then lets go of everything in order. @throws AgentError CONFIG_INVALID when the port cannot be had */
export async function serve(parts: ServeParts): Promise<void> {
  const { workplace, wishes, logger, reload } = parts;
  const reloaded = Promise.withResolvers<"reload">();
  const signals = stopSignals({
    onHangUp: reload && (() => void reload().then((isReady) => isReady && reloaded.resolve("reload"), reloaded.reject)),
  });
  const port = wishes.listens ? await freePort(wishes) : undefined;
  const page = findPage();
  const protocols = await protocolRoutes(wishes.protocols, { ...workplace, isSecured: (wishes.token ?? wishes.auth) !== undefined });
  const webhooks = await readWebhooks(wishes.webhooks, workplace.settings.environment);
  const server = wishes.role === "worker" ? undefined : serverOf(parts, { port: port ?? 0, page, protocols });
  const { node, door } = server ? { node: server, door: server } : workerOf(parts, port);
  let listening: Listening | undefined;
  let isReloading = false;
  let channels: OpenChannels | undefined;
  let endWebhooks: (() => Promise<void>) | undefined;
  try {
    if (port !== undefined) listening = await listen(door, { host: wishes.host, port, insecure: wishes.isOpenToAll });
    const url = port === undefined ? undefined : `http://${openableHost(wishes.host)}:${port}`;
    logger.notify(url === undefined ? "working" : "listening", welcome({ ...parts, port, url, page }), {
      url,
      pid: process.pid,
      store: storeText(workplace.settings.store),
      provider: workplace.provider.name,
      model: workplace.agent.model,
      page: server !== undefined && "directory" in page,
      role: wishes.role,
    });
    parts.onReady?.(url);
    if (server && wishes.role === "all") await proceed(server, logger);
    if (server && url !== undefined) {
      channels = openChannels({ channels: wishes.channels, wishes, server, url, logger });
      endWebhooks = await openWebhooks({ settings: webhooks, clientFor: clientsOf({ wishes, server, url }), logger });
    }
    const asked = await Promise.race([signals.first, reloaded.promise, ...(channels ? [channels.failed] : [])]);
    isReloading = asked === "reload";
    await stop(node, asked, parts);
  } finally {
    await channels?.close();
    await endWebhooks?.();
    await node.close();
    await listening?.close();
    signals.ignore();
  }
  if (!isReloading) logger.notify("stopped", ["Stopped."]);
}

/** What the sessions of a server or a worker share. */
function runtimeOf(parts: ServeParts): Runtime {
  const { workplace, links, telemetry, logger, resolveModel } = parts;
  const { channel, queue } = links;
  return createRuntime({
    agents: embeddingOf(parts).agents,
    store: workplace.store,
    logger,
    resolveModel,
    scheduleRules: cronRules(),
    ...(channel ? { channel } : {}),
    ...(queue ? { queue } : {}),
    ...(telemetry.observers.length > 0 ? { observers: telemetry.observers } : {}),
    ...(telemetry.ledger ? { ledger: telemetry.ledger } : {}),
    ...(workplace.callGuard ? { callGuard: workplace.callGuard } : {}),
  });
}

/** What the product adds: its labels, its dialects, and the assistant as far as its mode has one. */
function embeddingOf({ workplace: { agents }, wishes: { assistantMode }, ownKeys }: ServeParts): EmbedOptions {
  const mode = assistantMode === undefined ? {} : { assistantMode };
  return embedOptions({ agents, ...mode, assistantRoutes: ownKeys?.routes ?? [] });
}

/** What the product adds to requests: its labels, its dialects, both stream versions, and the artifacts of sessions where agents make some. */
function embeddedHttp(parts: ServeParts): EmbeddedHttp {
  const { modes, chatbots, settings, knowledge } = parts.workplace;
  const { agents: _, labels, dialects, ...http } = embeddingOf(parts);
  const { surface } = labels;
  // The command line talks to a server from the terminal, which is no surface of an assistant.
  const surfaces = Array.isArray(surface) && surface.length > 0 ? { surface: [...surface, "terminal"] } : {};
  const versions = [orchestratorDialect(1), orchestratorDialect(2)] as const;
  return {
    ...http,
    labels: { ...labels, ...surfaces, ...(modes.length === 0 ? {} : { modes }), chatbotId: (name) => checkChatbot(name, chatbots) },
    dialects: [...dialects, ...versions],
    streamVersions: { 1: versions[0].name, 2: versions[1].name },
    routes: [
      ...http.routes,
      ...(settings.offered.artifacts ? artifactRoutes : []),
      ...(knowledge ? knowledgeRoutes(knowledge, { mayChange: isOperator }) : []),
      ...retentionRoutes(parts.retention, {
        mayChange: isOperator,
        onChange: (change, { scope, user }) => parts.telemetry.audit?.(scope, retentionRecord(change, user)),
      }),
    ],
  };
}

type EmbeddedHttp = Pick<HttpOptions, "labels" | "dialects" | "auditBody" | "streamVersions"> & Required<Pick<HttpOptions, "routes">>;

/** Which requests are answered. */
function httpOptions({ wishes, authentication, telemetry }: ServeParts, port: number): HttpOptions {
  const { host, allowedHosts } = wishes;
  const authorize = telemetry.audited?.(authentication.authorize) ?? authentication.authorize;
  return { hosts: hostNames(host, port, allowedHosts), ...authentication, ...(authorize ? { authorize } : {}) };
}

/** What a server answers with, and where. */
interface Served {
  readonly port: number;
  readonly page: FoundPage;
  readonly protocols: readonly ExtensionRoute[];
}

function serverOf(parts: ServeParts, { port, page, protocols }: Served): AgentServer {
  const { workplace, wishes } = parts;
  const embedded = embeddedHttp(parts);
  return createServer({
    ...httpOptions(parts, port),
    runtime: runtimeOf(parts),
    ...retentionOf(parts),
    role: wishes.role === "server" ? "server" : "all",
    ...embedded,
    approvals: workplace.approvals.memory,
    ...parts.telemetry.http,
    routes: [...embedded.routes, ...(parts.telemetry.http.routes ?? []), ...protocols],
    models: Object.fromEntries(workplace.agents.map(({ name }) => [name, wishes.models])),
    ...("directory" in page && wishes.assistantMode !== "none" ? { page: staticFiles(page.directory) } : {}),
  });
}

const retentionOf = ({ retention }: ServeParts): Required<Pick<HostOptions, "retention">> => ({ retention: () => retention.rules() });

/** A worker has no routes but those of probes. */
const metricsOf = ({ telemetry: { http } }: ServeParts): Pick<HttpOptions, "metrics"> => (http.metrics ? { metrics: http.metrics } : {});

/** What can be asked to end. */
type ServedNode = Pick<AgentServer, "running" | "drain" | "handOver" | "close">;

function workerOf(parts: ServeParts, port: number | undefined): { readonly node: ServedNode; readonly door: Listenable } {
  const worker = createWorker({ runtime: runtimeOf(parts), ...retentionOf(parts) });
  return { node: worker, door: createHealthServer({ ...httpOptions(parts, port ?? 0), ...metricsOf(parts), host: worker }) };
}

/** Takes up the runs that a crash cut off. */
async function proceed(server: AgentServer, logger: RunLogger): Promise<void> {
  const count = await server.recover(localScope);
  if (count > 0)
    logger.notify(
      "recovered",
      [`${count === 1 ? "A run that was" : `${count} runs that were`} cut off ${count === 1 ? "continues" : "continue"}.`],
      {
        count,
      },
    );
}

/** Takes nothing new, gives open runs their time, and hands over the rest. */
async function stop(node: ServedNode, signal: StopSignal | "reload", { wishes, logger, links }: ServeParts): Promise<void> {
  const patienceMs = wishes.patienceMs[signal === "reload" ? "SIGTERM" : signal];
  node.drain();
  const count = node.running;
  const runs = count === 1 ? "1 run" : `${count} runs`;
  const later = links.queue ? "at another node" : "at the next start";
  const plan = patienceMs === 0 ? `${runs} will continue ${later}.` : `${runs} may end within ${patienceMs / 1_000} s.`;
  if (count === 0) logger.notify("stopping", ["Stopping."], { signal });
  else logger.notify("stopping", [`Stopping. ${plan} The same again ends at once.`], { signal, running: count, patienceMs });
  const left = await node.handOver({ withinMs: patienceMs });
  if (left > 0 && patienceMs > 0)
    logger.notify("handed over", [`${left === 1 ? "1 run" : `${left} runs`} will continue ${later}.`], { count: left });
}
