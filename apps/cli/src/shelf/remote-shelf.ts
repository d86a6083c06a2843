import { viewOf } from "@loopwright/client";
import type { SessionSummary } from "@loopwright/core/ports";
import { commandName } from "../command-name.ts";
import { clientOf, sessionOf } from "../remote/remote-place.ts";
import type { ServerAddress } from "../remote/server-address.ts";
import { failureOfLastRun, type SessionShelf } from "./session-shelf.ts";

/** What a server gives at once, at most. */
const pageMax = 200;

/** The sessions of a running server. */
export function remoteShelf(server: ServerAddress): SessionShelf {
  const client = clientOf(server);
  const { sessions } = client;
  return {
    async list(limit, { parent, ...filter } = {}) {
      const family = parent === undefined ? {} : { parent: (await sessionOf(client, parent)).sessionId };
      const found: SessionSummary[] = [];
      let next: string | undefined;
      do {
        const before = next === undefined ? {} : { before: next };
        const page = await sessions.list({ limit: Math.min(limit - found.length, pageMax), ...before, ...family, ...filter });
        found.push(...page.sessions);
        next = page.next;
      } while (next !== undefined && found.length < limit);
      return { sessions: found, more: next !== undefined };
    },
    async search(words, limit) {
      const { hits, more = false } = await sessions.search(words, { limit: Math.min(limit, pageMax) });
      return { hits, more };
    },
    async read(typed) {
      const snapshot = await sessionOf(client, typed);
      const { title, path } = viewOf(snapshot);
      const { pendingApprovals = [], pendingToolCalls = [] } = snapshot.run ?? {};
      // A run that a crash cut off continues by itself there.
      const pending = [...pendingApprovals, ...pendingToolCalls];
      return { id: snapshot.sessionId, title, messages: path, isInterrupted: false, failure: failureOfLastRun(snapshot), pending };
    },
    async remove(typed) {
      const { sessionId } = await sessionOf(client, typed);
      await sessions.remove(sessionId);
      return sessionId;
    },
    async fork(typed, { systemPrompt, ...options }) {
      const context = systemPrompt === undefined ? {} : { context: { systemPrompt } };
      return (await sessions.fork((await sessionOf(client, typed)).sessionId, { ...options, ...context })).sessionId;
    },
    async log(typed) {
      const { sessionId: session } = await sessionOf(client, typed);
      return { session, facts: (await import("@loopwright/replay")).readFacts(await sessions.log(session)) };
    },
    async export(typed, format) {
      return (await sessions.export((await sessionOf(client, typed)).sessionId, format)).text;
    },
    schedule: async (typed, name, request) => sessions.schedule((await sessionOf(client, typed)).sessionId, name, request),
    unschedule: async (typed, name) => sessions.unschedule((await sessionOf(client, typed)).sessionId, name),
    schedules: async (typed) => sessions.schedules((await sessionOf(client, typed)).sessionId),
    firings: async (typed) => sessions.firings((await sessionOf(client, typed)).sessionId),
    resumeCommand: (id) => `${commandName()} chat --url ${server.url} --resume ${id}`,
    close: async () => {},
  };
}
