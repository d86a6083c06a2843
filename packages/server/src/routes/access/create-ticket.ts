import { AgentError } from "@loopwright/core";
import { z } from "zod";
import { issueTicket } from "../../identity/stream-ticket.ts";
import type { Route } from "../../request/route.ts";
import { ticketAnswer } from "../../schemas/index.ts";

interface TicketRequest {
  readonly path: string;
}

const body: z.ZodType<TicketRequest> = z.object({ path: z.string().max(2_000) });

export const createTicketRoute: Route<unknown, unknown, TicketRequest> = {
  method: "POST",
  path: "/api/tickets",
  id: "createTicket",
  summary:
    "Gives a ticket for one stream, for readers that cannot send headers. `?ticket=<ticket>` in the address of the stream is valid once, for 30 seconds.",
  access: "principal",
  action: "ticket.create",
  body,
  responses: {
    201: { description: "The ticket, and when it ends.", schema: ticketAnswer },
    400: { description: "`path` is not a path." },
  },
  async handle({ body: { path }, principal, server }) {
    return Response.json(await issueTicket(principal, pathnameOf(path), server), { status: 201 });
  },
};

/** The path as requests have it, without its query. @throws AgentError INPUT_INVALID */
function pathnameOf(path: string): string {
  const isPath = /^\/(?!\/)/.test(path) && URL.canParse(path, "http://server");
  if (isPath) return new URL(path, "http://server").pathname;
  throw new AgentError("INPUT_INVALID", {
    message: "`path` is not a path of this server.",
    fix: "Send the path of the stream, for example `/api/notifications`, with the base path and without the host.",
    details: { field: "path" },
  });
}
