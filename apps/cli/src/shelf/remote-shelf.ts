import { viewOf } from "@loopwright/client";
import { commandName } from "../command-name.ts";
import { clientOf, sessionOf } from "../remote/remote-place.ts";
import type { ServerAddress } from "../remote/server-address.ts";
import type { SessionShelf } from "./session-shelf.ts";

/** The sessions of a running server. */
export function remoteShelf(server: ServerAddress): SessionShelf {
  const client = clientOf(server);
  const { sessions } = client;
  return {
    async list(limit, { parent, ...filter } = {}) {
      const family = parent === undefined ? {} : { parent: (await sessionOf(client, parent)).sessionId };
      return (await sessions.list({ limit, ...family, ...filter })).sessions;
    },
    search: (words, limit) => sessions.search(words, { limit }),
    async read(typed) {
      const snapshot = await sessionOf(client, typed);
      const { title, path } = viewOf(snapshot);
      const { pendingApprovals = [], pendingToolCalls = [] } = snapshot.run ?? {};
      // A run that a crash cut off continues by itself there.
      return { id: snapshot.sessionId, title, messages: path, isInterrupted: false, pending: [...pendingApprovals, ...pendingToolCalls] };
    },
    async remove(typed) {
      const { sessionId } = await sessionOf(client, typed);
      await sessions.remove(sessionId);
      return sessionId;
    },
    fork: async (typed, options) => (await sessions.fork((await sessionOf(client, typed)).sessionId, options)).sessionId,
    export: async (typed, format) => (await sessions.export((await sessionOf(client, typed)).sessionId, format)).text,
    schedule: async (typed, name, request) => sessions.schedule((await sessionOf(client, typed)).sessionId, name, request),
    unschedule: async (typed, name) => sessions.unschedule((await sessionOf(client, typed)).sessionId, name),
    schedules: async (typed) => sessions.schedules((await sessionOf(client, typed)).sessionId),
    resumeCommand: (id) => `${commandName()} chat --url ${server.url} --resume ${id}`,
    close: async () => {},
  };
}
