import { AgentError } from "@loopwright/core";
import { isFileName } from "@loopwright/core/stores";
import { z } from "zod";
import { bytesResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";

interface FileParams {
  readonly blob: string;
}

const params: z.ZodType<FileParams> = z.object({ blob: z.string() });
/** Types of pictures that cannot have scripts, so that browsers may show them. */
const shown = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

export const readFileRoute: Route<FileParams> = {
  method: "GET",
  path: "/api/files/:blob",
  id: "readFile",
  summary: "A file that was uploaded in the caller's scope.",
  access: "principal",
  action: "file.read",
  params,
  responses: {
    200: { description: "Its bytes, as an attachment unless it is a picture." },
    404: { description: "No such file." },
    503: { description: "Too much is on its way already." },
  },
  async handle({ params: { blob }, principal, request, server }) {
    const { scope } = principal;
    const found = isFileName(blob) ? await server.options.store.blobs.get(scope, blob) : undefined;
    if (!found) throw new AgentError("BLOB_UNKNOWN", { message: "There is no file of this name." });
    const mediaType = found.mediaType ?? "application/octet-stream";
    const headers = {
      "Content-Type": mediaType,
      "Content-Length": String(found.bytes.byteLength),
      "Content-Disposition": shown.has(mediaType) ? "inline" : "attachment",
      "Content-Security-Policy": "sandbox; default-src 'none'",
      // The name is a digest of the content and its type. For another caller or scope the browser asks again.
      "Cache-Control": "private, max-age=31536000, immutable",
      Vary: "Authorization, Cookie, X-Scope",
    };
    if (request.method === "HEAD") return new Response(null, { headers });
    const onEnd = server.files.take(principal, found.bytes.byteLength);
    return bytesResponse(found.bytes, server.clock, { headers, held: { stallMs: server.limits.streamStallMs, onEnd } });
  },
};
