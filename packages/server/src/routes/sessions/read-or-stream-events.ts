import { z } from "zod";
import type { Route } from "../../request/route.ts";
import { durableEvent } from "../../schemas/index.ts";
import { minSeqField } from "../await-seq.ts";
import { openSession } from "../open-session.ts";
import { pageLimitField } from "./event-page.ts";
import { type EventsQuery, followSession } from "./follow-session.ts";

const params: z.ZodType<{ readonly id: string }> = z.object({ id: z.string() });
const query: z.ZodType<EventsQuery> = z.object({
  after: z.string().optional(),
  from: z.literal("now").optional(),
  text: z.literal("whole").optional(),
  limit: pageLimitField,
  minSeq: minSeqField,
});

/** Everything that happens in a session, after the reader's cursor. */
export const eventsRoute: Route<{ readonly id: string }, EventsQuery> = {
  method: "GET",
  path: "/api/sessions/:id/events",
  id: "followSession",
  summary: "Streams the events of a session after a cursor (`Last-Event-ID` or `after`); as JSON: those that there are, in pages.",
  access: "principal",
  action: "session.follow",
  params,
  query,
  responses: {
    200: {
      description:
        "Server-sent events, or with `Accept: application/json` a page of the durable ones after the cursor; `next` where more follow.",
      schema: z.object({ events: z.array(durableEvent), cursor: z.string(), next: z.string().optional() }),
      stream: true,
    },
    204: { description: "The reader has everything, and the session rests." },
    400: { description: "The cursor cannot be read." },
    404: { description: "No such session." },
    503: { description: "This node has not read the log up to `minSeq` within a second." },
    409: { description: "The cursor is ahead of the log." },
    410: {
      description:
        "The events after the cursor are too old and no longer kept; `details.snapshot` has the address of a snapshot to start from.",
    },
  },
  async handle(call) {
    const hosted = await openSession(call, call.params.id);
    try {
      return await followSession(call, hosted, call.query);
    } catch (error) {
      hosted.release();
      throw error;
    }
  },
};
