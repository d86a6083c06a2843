import { AgentError } from "@loopwright/core";
import { fileNoteName, isFileName } from "@loopwright/core/stores";
import { z } from "zod";
import { maySeeFile } from "../../permissions/may-see-file.ts";
import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import type { ServerContext } from "../../server-context.ts";
import type { Principal } from "../../server-options.ts";
import { type FileNote, notePrefix, readNote } from "./file-note.ts";

interface FilesQuery {
  readonly limit: number;
  readonly after?: string | undefined;
}

/** Files that one request looks at. */
const lookedAtMax = 1_000;

const query: z.ZodType<FilesQuery> = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  after: z.string().max(100).optional(),
});

const note = z.object({
  blob: z.string(),
  mediaType: z.string(),
  sizeBytes: z.int(),
  name: z.string().optional(),
  at: z.number(),
  by: z.string(),
});

export const listFilesRoute: Route<unknown, FilesQuery> = {
  method: "GET",
  path: "/api/files",
  id: "listFiles",
  summary: "Lists the files of the caller's scope that the caller may see, in the order of their keys.",
  access: "principal",
  action: "file.list",
  query,
  responses: {
    200: { description: "A page, and where the next one begins.", schema: z.object({ files: z.array(note), next: z.string().optional() }) },
    400: { description: "The page cursor cannot be read." },
  },
  async handle({ principal, server, query: { limit, after } }) {
    if (after !== undefined && !isFileName(after))
      throw new AgentError("CURSOR_INVALID", {
        message: "The page cursor `after` cannot be read.",
        fix: "Send the `next` of the page before.",
      });
    return jsonResponse(await seenFiles(principal, { limit, after }, server), server.clock);
  },
};

/** A page of the files that the principal may see, of a bounded number that is looked at. */
async function seenFiles(
  principal: Principal,
  { limit, after }: FilesQuery,
  server: Pick<ServerContext, "options" | "logger">,
): Promise<{ readonly files: readonly FileNote[]; readonly next?: string }> {
  const { store } = server.options;
  const files: FileNote[] = [];
  let place = after === undefined ? undefined : fileNoteName(after);
  for (let lookedAt = 0; lookedAt < lookedAtMax; ) {
    const keys = await store.blobs.list(principal.scope, { prefix: notePrefix, limit, ...(place === undefined ? {} : { after: place }) });
    const found = await Promise.all(keys.map((key) => readNote(store, principal.scope, key)));
    const seen = await Promise.all(found.map((file) => file !== undefined && maySeeFile(principal, file, server)));
    for (const [at, key] of keys.entries()) {
      const file = found[at];
      if (file && seen[at]) files.push(file);
      place = key;
      // Where this was the last one of all, the next page is empty.
      if (files.length === limit) return { files, next: cursorOf(key) };
    }
    lookedAt += keys.length;
    if (keys.length < limit) return { files };
  }
  return { files, ...(place === undefined ? {} : { next: cursorOf(place) }) };
}

const cursorOf = (key: string): string => key.slice(notePrefix.length - "upload-".length);
