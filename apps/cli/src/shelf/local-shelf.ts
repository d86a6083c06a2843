import { type Agent, AgentError, type AgentSession, createAgent, createSession, readOpening } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import { removeWithChildren } from "@loopwright/core/stores";
import { offline } from "@loopwright/providers-scripted";
import { commandName } from "../command-name.ts";
import { findSession, localScope, openExistingStore } from "../compose/kept-sessions.ts";
import { openSession } from "../compose/workplace.ts";
import type { Settings } from "../settings/settings.ts";
import { oneLine } from "../terminal/neutralise.ts";
import type { SessionShelf } from "./session-shelf.ts";

/** The sessions of a store, whose file need not exist: looking makes none. @throws AgentError CONFIG_INVALID */
export async function localShelf(settings: Pick<Settings, "store" | "environment">): Promise<SessionShelf> {
  const store = await openExistingStore(settings);
  return {
    async list(limit, typed) {
      if (typed === undefined) return store ? store.index.list(localScope, { limit }) : [];
      const { store: kept, id } = await found(store, typed);
      return kept.index.list(localScope, { limit, parent: id });
    },
    search: async (words, limit) => (store ? store.index.search(localScope, words, { limit }) : []),
    async read(typed) {
      const { store: kept, id } = await found(store, typed);
      const session = await openSession({ agent: await readerOf(kept, id), store: kept }, id);
      const { title, messages, messageIds, isInterrupted } = session;
      const pending = [...session.pendingApprovals, ...session.pendingToolCalls];
      return { id, title, isInterrupted, pending, messages: messages.map((message, place) => ({ id: messageIds[place] ?? "", message })) };
    },
    async remove(typed) {
      const { store: kept, id } = await found(store, typed);
      await removeSession(kept, id);
      return id;
    },
    schedule: async (typed, name, request) => recordIn(await found(store, typed), (session) => session.schedule(name, request)),
    unschedule: async (typed, name) => recordIn(await found(store, typed), (session) => session.unschedule(name)),
    schedules: async (typed) => recordIn(await found(store, typed), async ({ schedules }) => schedules),
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

/** Lends a handle that runs nothing: a process with `loopwright run` on this store does. */
async function recordIn<T>({ store, id }: KeptSession, work: (session: AgentSession) => Promise<T>): Promise<T> {
  await using session = createSession({ agent: await readerOf(store, id), id, store, drives: false });
  return await work(await session.ready());
}

async function removeSession(store: SessionStore, id: string): Promise<void> {
  const ref = { scope: localScope, session: id };
  const { lease } = await store.log.head(ref);
  if (lease) {
    throw new AgentError("SESSION_BUSY", {
      message: `The session \`${id}\` is in use by \`${lease.node}\`.`,
      fix: `End it there, or wait ${Math.ceil(lease.remainingMs / 1000)} s if it is gone.`,
    });
  }
  await removeWithChildren(store, ref);
}
