import { z } from "zod";
import { maySeeFile } from "../../permissions/may-see-file.ts";
import type { Route } from "../../request/route.ts";
import { removeKeptFile } from "./remove-stored-file.ts";

interface FileParams {
  readonly blob: string;
}

const params: z.ZodType<FileParams> = z.object({ blob: z.string() });

export const removeFileRoute: Route<FileParams> = {
  method: "DELETE",
  path: "/api/files/:blob",
  id: "removeFile",
  summary: "Deletes a file of the caller's scope that the caller may see and no session uses.",
  access: "principal",
  action: "file.remove",
  params,
  responses: {
    204: { description: "The file is deleted." },
    404: { description: "No such file." },
    409: { description: "Sessions use the file, so it stays. It is deleted with the last of them." },
  },
  async handle({ params: { blob }, principal, server }) {
    const { store, maySee, maySeeFile: mayBeSeen } = server.options;
    await removeKeptFile(store, principal.scope, {
      blob,
      // A policy cannot judge a file without a note, so under a policy such a file is not seen.
      isSeen: (file) => (file ? maySeeFile(principal, file, server) : maySee === undefined && mayBeSeen === undefined),
    });
    return new Response(null, { status: 204 });
  },
};
