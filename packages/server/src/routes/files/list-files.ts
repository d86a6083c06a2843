import { AgentError } from "@loopwright/core";
import { isFileName } from "@loopwright/core/stores";
import { z } from "zod";
import { maySeeFile } from "../../permissions/may-see-file.ts";
import { jsonResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import type { FileNote } from "./file-metadata.ts";
import { keptFiles } from "./stored-files-page.ts";

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
    const isSeen = (file: FileNote): Promise<boolean> => maySeeFile(principal, file, server);
    return jsonResponse(await keptFiles(server.options.store, principal.scope, { limit, after, isSeen }), server.clock);
  },
};
