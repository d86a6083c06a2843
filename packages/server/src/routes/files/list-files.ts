import { AgentError } from "@loopwright/core";
import { fileNoteName, isFileName } from "@loopwright/core/stores";
import { z } from "zod";
import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { type FileNote, notePrefix, readNote } from "./file-note.ts";

interface FilesQuery {
  readonly limit: number;
  readonly after?: string | undefined;
}

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
  summary:
    "Lists the files that were uploaded in the caller's scope, in the order of their keys; where the server has a `maySee`, those of the caller alone.",
  access: "principal",
  action: "file.list",
  query,
  responses: {
    200: { description: "A page, and where the next one begins.", schema: z.object({ files: z.array(note), next: z.string().optional() }) },
    400: { description: "The page cursor cannot be read." },
  },
  async handle({ principal: { scope, user }, server, query: { limit, after } }) {
    const { store, maySee } = server.options;
    if (after !== undefined && !isFileName(after))
      throw new AgentError("CURSOR_INVALID", {
        message: "The page cursor `after` cannot be read.",
        fix: "Send the `next` of the page before.",
      });
    const start = after === undefined ? {} : { after: fileNoteName(after) };
    const keys = await store.blobs.list(scope, { prefix: notePrefix, limit, ...start });
    const found = await Promise.all(keys.map((key) => readNote(store, scope, key)));
    const files = found.filter((file): file is FileNote => file !== undefined && (maySee === undefined || file.by === user));
    const last = keys.at(-1);
    const next = last !== undefined && keys.length === limit ? { next: last.slice(notePrefix.length - "upload-".length) } : {};
    return jsonResponse({ files, ...next }, server.clock);
  },
};
