import type { SessionSnapshot } from "@loopwright/core";
import { z } from "zod";
import { jsonResponse, textResponse } from "../../request/paced-response.ts";
import type { Route } from "../../request/route.ts";
import { type SessionExport, sessionExport } from "../../schemas/index.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { readState } from "./read-state.ts";
import { transcriptFileName, transcriptMarkdown } from "./transcript-markdown.ts";

interface ExportQuery {
  readonly format: "markdown" | "json";
}

const query: z.ZodType<ExportQuery> = z.object({ format: z.enum(["markdown", "json"]).default("markdown") });

export const exportSessionRoute: Route<SessionParams, ExportQuery> = {
  method: "GET",
  path: "/api/sessions/:id/export",
  id: "exportSession",
  summary: "The session as a file to keep: what people see as Markdown, or everything that `GET /api/sessions/:id` gives as JSON.",
  access: "principal",
  action: "session.read",
  params: sessionParams,
  query,
  responses: {
    200: { description: "The file; `Content-Disposition` names it. Markdown is `text/markdown`.", schema: sessionExport },
    404: { description: "No such session." },
  },
  async handle(context) {
    const { server, params, query: asked } = context;
    const { snapshot, headers } = await readState(context, params.id, undefined);
    const common = { ...headers, "Cache-Control": "private, no-store", "Content-Disposition": dispositionOf(snapshot, asked.format) };
    if (asked.format === "markdown")
      return textResponse(transcriptMarkdown(snapshot), server.clock, {
        headers: { ...common, "Content-Type": "text/markdown; charset=utf-8" },
      });
    return jsonResponse(sessionFile(snapshot, server.clock.now()), server.clock, { headers: common });
  },
};

/** A session as a JSON file. `exportedAt` in milliseconds since the epoch. */
export const sessionFile = (session: SessionSnapshot, exportedAt: number): SessionExport => ({
  format: "loopwright-session",
  version: 1,
  exportedAt,
  session,
});

function dispositionOf(snapshot: SessionSnapshot, format: ExportQuery["format"]): string {
  const ending = format === "markdown" ? "md" : "json";
  const name = encodeURIComponent(`${transcriptFileName(snapshot)}.${ending}`);
  return `attachment; filename="${snapshot.sessionId}.${ending}"; filename*=UTF-8''${name}`;
}
