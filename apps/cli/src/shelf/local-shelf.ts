import { type Agent, AgentError, type AgentSession, createAgent, createSession, readOpening } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { removeWithChildren, sessionsBelow } from "@loopwright/core/stores";
import { cronRules } from "@loopwright/cron";
import { forkOf, messageAt } from "@loopwright/host";
import { offline } from "@loopwright/providers-scripted";
import type { SessionLogFile } from "@loopwright/replay";
import { sessionFile, transcriptMarkdown, withDerivedTitle } from "@loopwright/server";
import { commandName } from "../command-name.ts";
import { findSession, localScope, openExistingStore } from "../compose/kept-sessions.ts";
import { type KnowledgeSettings, openKnowledge, withDocuments } from "../compose/knowledge/open-knowledge.ts";
import { openSession } from "../compose/workplace.ts";
import type { Settings } from "../settings/settings.ts";
import { oneLine } from "../terminal/neutralise.ts";
import {
  type ExportFormat,
  type ForkRequest,
  failureOfLastRun,
  type ListedSessions,
  type SessionShelf,
  type WantedSessions,
} from "./session-shelf.ts";

/** The sessions of a store, whose file need not exist: looking makes none. @throws AgentError CONFIG_INVALID */
export async function localShelf(settings: KnowledgeSettings & Pick<Settings, "environment">): Promise<SessionShelf> {
  const store = await openExistingStore(settings);
  return {
    async list(limit, { parent, ...filter } = {}) {
      if (parent === undefined) return store ? listed(store, { limit, ...filter }) : { sessions: [], more: false };
      const { store: kept, id } = await found(store, parent);
      return listed(kept, { limit, parent: id, ...filter });
    },
    async search(words, limit) {
      let isPart = false;
      const onUnsearched = (): void => {
        isPart = true;
      };
      const hits = (await store?.index.search(localScope, words, { limit: limit + 1, onUnsearched })) ?? [];
      return { hits: hits.slice(0, limit), more: isPart || hits.length > limit };
    },
    async read(typed) {
      const { store: kept, id } = await found(store, typed);
      const session = await openSession({ agent: await readerOf(kept, id), store: kept }, id);
      const { title, messages, messageIds, isInterrupted } = session;
      const pending = [...session.pendingApprovals, ...session.pendingToolCalls];
      const failure = failureOfLastRun(session.snapshot());
      const shown = messages.map((message, place) => ({ id: messageIds[place] ?? "", message }));
      return { id, title, isInterrupted, failure, pending, messages: shown };
    },
    async remove(typed) {
      const { store: kept, id } = await found(store, typed);
      const knowledge = await openKnowledge(settings, { makes: false });
      try {
        await removeSession(await withDocuments(kept, knowledge), id);
      } finally {
        await knowledge?.close();
      }
      return id;
    },
    fork: async (typed, options) => forkIn(await found(store, typed), options),
    log: async (typed) => logOf(await found(store, typed)),
    export: async (typed, format) => exportOf(await found(store, typed), format),
    schedule: async (typed, name, request) => recordIn(await found(store, typed), (session) => session.schedule(name, request)),
    unschedule: async (typed, name) => recordIn(await found(store, typed), (session) => session.unschedule(name)),
    schedules: async (typed) => recordIn(await found(store, typed), async ({ schedules }) => schedules),
    firings: async (typed) => recordIn(await found(store, typed), async ({ firings }) => firings),
    resumeCommand: (id) => `${commandName()} chat --resume ${id}`,
    close: async () => store?.close(),
  };
}

/** The session's own agent as far as reading needs one: by its name, with the offline model in the place of its own. */
async function readerOf(store: SessionStore, session: string): Promise<Agent> {
  const opening = await readOpening(store, { scope: localScope, session });
  return createAgent({ name: opening?.agent ?? "reader", provider: offline() });
}

interface KeptSession {
  readonly store: SessionStore;
  readonly id: string;
}

/** The store, which is there, and the whole id. @throws AgentError SESSION_NOT_FOUND, INPUT_INVALID */
async function found(store: SessionStore | undefined, typed: string): Promise<KeptSession> {
  if (store) return { store, id: await findSession(store, typed) };
  throw new AgentError("SESSION_NOT_FOUND", { message: `There is no session \`${oneLine(typed, 64)}\`: nothing is kept here yet.` });
}

const recordIn = <T>({ store, id }: KeptSession, work: (session: AgentSession) => Promise<T>): Promise<T> => withRecorder(store, id, work);

/** Lends a handle that runs nothing: a process with `loopwright run` on this store does. @throws AgentError as `work` does, STORE_* */
export async function withRecorder<T>(store: SessionStore, id: string, work: (session: AgentSession) => Promise<T>): Promise<T> {
  await using session = createSession({ agent: await readerOf(store, id), id, store, drives: false, scheduleRules: cronRules() });
  return await work(await session.ready());
}

/** Sessions that a list with a filter looks at. */
const lookedAtMax = 1_000;

async function listed(
  { index }: SessionStore,
  { limit, parent, agent, status }: WantedSessions & { readonly limit: number },
): Promise<ListedSessions> {
  const isFiltered = agent !== undefined || status !== undefined;
  const asked = isFiltered ? lookedAtMax : limit + 1;
  const all = await index.list(localScope, { limit: asked, ...(parent === undefined ? {} : { parent }) });
  const wanted = all.filter(
    (summary) => (agent === undefined || summary.agent === agent) && (status === undefined || summary.status === status),
  );
  return { sessions: wanted.slice(0, limit), more: wanted.length > limit || (isFiltered && all.length === asked) };
}

async function forkIn({ store, id }: KeptSession, { at, ...options }: ForkRequest): Promise<string> {
  const agent = await readerOf(store, id);
  const opening = await readOpening(store, { scope: localScope, session: id });
  await using source = await createSession({ agent, id, store, drives: false }).ready();
  const {
    title,
    metadata,
    messages = [],
    tools = [],
    systemPrompt,
  } = forkOf(
    { snapshot: withDerivedTitle(source.snapshot()), opening },
    { ...options, ...(at === undefined ? {} : { message: await messageAt(store, { scope: localScope, session: id }, at) }) },
  );
  const beginning = { title, metadata, context: messages, tools, prompt: systemPrompt };
  const given = Object.fromEntries(Object.entries(beginning).filter(([, value]) => value !== undefined));
  await using fork = createSession({ agent, store, drives: false, ...given });
  await fork.open();
  return fork.id;
}

async function logOf({ store, id }: KeptSession): Promise<SessionLogFile> {
  return { session: id, facts: await store.log.read({ scope: localScope, session: id }) };
}

async function exportOf({ store, id }: KeptSession, format: ExportFormat): Promise<string> {
  await using session = await createSession({ agent: await readerOf(store, id), id, store, drives: false }).ready();
  const snapshot = withDerivedTitle(session.snapshot());
  if (format === "markdown") return [...transcriptMarkdown(snapshot)].join("");
  return `${JSON.stringify(sessionFile(snapshot, Date.now()), null, 2)}\n`;
}

async function removeSession(store: SessionStore, id: string): Promise<void> {
  const ref = { scope: localScope, session: id };
  // Children in the background have owners of their own.
  for (const session of [id, ...(await sessionsBelow(store, ref))]) {
    const { lease } = await store.log.head({ ...ref, session });
    if (!lease) continue;
    const what = session === id ? `The session \`${id}\`` : `The child \`${session}\` of the session \`${id}\``;
    throw new AgentError("SESSION_BUSY", {
      message: `${what} is in use by \`${lease.node}\`.`,
      fix: `End it there, or wait ${Math.ceil(lease.remainingMs / 1000)} s if it is gone.`,
    });
  }
  await removeWithChildren(store, ref);
}
