import { viewOf } from "@loopwright/client";
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
      const { title, path } = viewOf(await sessions.get(id));
      // What a crash cut off goes on by itself there.
      return { title, messages: path, isInterrupted: false };
    },
    remove: (id) => sessions.remove(id),
    resumeCommand: (id) => `loopwright chat --url ${server.url} --resume ${id}`,
    close: async () => {},
  };
}
