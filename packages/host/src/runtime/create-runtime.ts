/*
 * Owns: what all sessions of a process share, and the sessions that are created with it.
 * Does not own: how long a session stays loaded (a host), how callers reach it (a server).
 */
import {
  type Access,
  type Agent,
  AgentError,
  type AgentSession,
  type CallGuard,
  createSession,
  execute,
  type FindAgent,
  type Observer,
  type ResolveModel,
  type Runtime,
  type RuntimeSessionOptions,
  readOpening,
  refuseUnknownOptions,
} from "@loopwright/core";
import { consoleLogger, memoryChannel, memoryStore, randomIds, systemClock } from "@loopwright/core/memory";
import type {
  Clock,
  ContextEngine,
  EventChannel,
  IdSource,
  Logger,
  PriceTable,
  RunQueue,
  ScheduleRules,
  SessionStore,
  TokenCounter,
  UsageLedger,
} from "@loopwright/core/ports";
import { hintingStore } from "../hints/hint-after-append.ts";
import { hintOffers } from "../hints/offer-hint.ts";
import { agentOfSession } from "../sessions/find-agent-of-session.ts";
import { checkedAgents } from "./check-agents.ts";

export interface RuntimeOptions {
  /** The agents, of which the first is the default; or a function that finds an agent by its name and the access of the caller. */
  readonly agents: readonly Agent[] | FindAgent;
  /** Default: a store in memory. */
  readonly store?: SessionStore;
  /** Carries events between processes. Default: a channel within this process. */
  readonly channel?: EventChannel;
  /** Offers sessions to workers. Stays open when a server or a worker closes. Default: none; workers sweep the store. */
  readonly queue?: RunQueue;
  /** For telemetry, metering and audit, called in each process that loads the sessions. Default: none. */
  readonly observers?: readonly Observer[];
  /** Quotas and budgets: called before each model call. Default: none. */
  readonly ledger?: UsageLedger;
  /** Counts tokens for the context engine and the ledger. Default: their estimates. */
  readonly tokenCounter?: TokenCounter;
  /** Computes the dates of cron expressions. Every process that runs sessions needs it. Default: schedules have a time or an interval. */
  readonly scheduleRules?: ScheduleRules;
  /** Chooses the model of each call, for example one with the user's own key. Default: the agent's model. */
  readonly resolveModel?: ResolveModel;
  /** Limits retries and calls to failing vendors, for example together with other processes. Default: a guard for this process. */
  readonly callGuard?: CallGuard;
  /** The prices for agents that have none of their own. */
  readonly prices?: PriceTable;
  /** Fits requests into the windows of models, for agents without an engine of their own. Default: requests are sent whole. */
  readonly context?: ContextEngine;
  /** How long the owner of a session may be silent before another node takes over, in milliseconds. Default 20,000. */
  readonly leaseMs?: number;
  /** Default: the console. */
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  /** Called by `runtime.close`: closes the backend that was made for this runtime. Presets set it. */
  readonly close?: () => Promise<void>;
}

const knownOptions: { readonly [Name in keyof RuntimeOptions]-?: true } = {
  agents: true,
  store: true,
  channel: true,
  queue: true,
  observers: true,
  ledger: true,
  tokenCounter: true,
  scheduleRules: true,
  resolveModel: true,
  callGuard: true,
  prices: true,
  context: true,
  leaseMs: true,
  logger: true,
  clock: true,
  ids: true,
  close: true,
};

/** @throws AgentError CONFIG_INVALID */
export function createRuntime(options: RuntimeOptions): Runtime {
  refuseUnknownOptions(options, knownOptions, "`createRuntime`");
  const {
    clock = systemClock,
    ids = randomIds,
    logger = consoleLogger(),
    leaseMs,
    queue,
    ledger,
    tokenCounter,
    scheduleRules,
    resolveModel,
    callGuard,
    observers = [],
  } = options;
  const { store = memoryStore({ clock }), channel = memoryChannel({ logger }) } = options;
  const agents = checkedAgents(options.agents, { prices: options.prices, context: options.context });
  const asked = {
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(ledger ? { ledger } : {}),
    ...(tokenCounter ? { tokenCounter } : {}),
    ...(scheduleRules ? { scheduleRules } : {}),
    ...(resolveModel ? { resolveModel } : {}),
    ...(callGuard ? { callGuard } : {}),
  };
  const shared = { observers, store, channel, clock, ids, logger, ...asked };
  const recording = queue ? { ...shared, store: hintingStore(store, { hint: hintOffers(queue, logger), clock }) } : shared;

  const sessionOf = <Output>({ drives = true, ...rest }: RuntimeSessionOptions<Output>, agent: Agent): AgentSession<Output> =>
    // Checking an agent does not change its output.
    createSession<Output>({ ...(drives ? shared : recording), ...rest, drives, agent: agent as Agent<Output> });
  const session = <Output>(wanted: RuntimeSessionOptions<Output>): AgentSession<Output> => sessionOf(wanted, agents.of(wanted.agent));

  let closing: Promise<void> | undefined;
  return {
    ...{
      agents: agents.list,
      observers,
      ledger,
      tokenCounter,
      scheduleRules,
      resolveModel,
      callGuard,
      store,
      channel,
      queue,
      clock,
      ids,
      logger,
      leaseMs,
    },
    hasOwnChannel: options.channel === undefined,
    findAgent: agents.find,
    session,
    async open(id, access = local) {
      const opened = await readOpening(store, { scope: access.scope, session: id });
      if (!opened) throw new AgentError("SESSION_NOT_FOUND", { message: `There is no session \`${String(id).slice(0, 64)}\`.` });
      const agent = await agentOfSession({ store, findAgent: agents.find, access }, opened);
      return sessionOf({ agent, id, access }, agent).ready();
    },
    ask(agent, input, { id, access, context, tools, prompt, title, metadata, drives, ...how } = {}) {
      const own = { id, access, context, tools, prompt, title, metadata, drives };
      const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
      return execute(session({ ...given, agent }), input, how);
    },
    close() {
      closing ??= options.close?.() ?? Promise.resolve();
      return closing;
    },
  };
}

const local: Access = { user: "local", scope: "local" };
