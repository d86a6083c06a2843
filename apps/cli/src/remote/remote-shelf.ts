import { viewOf } from "@loopwright/client";
import { commandName } from "../command-name.ts";
import type { SessionShelf } from "../commands/session-shelf.ts";
import { clientOf } from "./remote-place.ts";
import type { ServerAddress } from "./server-address.ts";

/** The sessions of a running server. */
export function remoteShelf(server: ServerAddress): SessionShelf {
  const { sessions } = clientOf(server);
  return {
    list: async (limit) => (await sessions.list({ limit })).sessions,
    search: (words, limit) => sessions.search(words, { limit }),
    async read(id) {
      const snapshot = await sessions.get(id);
      const { title, path } = viewOf(snapshot);
      const { pendingApprovals = [], pendingToolCalls = [] } = snapshot.run ?? {};
      // What a crash cut off goes on by itself there.
      return { title, messages: path, isInterrupted: false, pending: [...pendingApprovals, ...pendingToolCalls] };
    },
    remove: (id) => sessions.remove(id),
    resumeCommand: (id) => `${commandName()} chat --url ${server.url} --resume ${id}`,
    close: async () => {},
  };
}
