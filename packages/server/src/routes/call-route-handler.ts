import type { RequestContext, Route } from "../request/route.ts";
import type { OpenSink } from "../stream/event-sink.ts";
import { answerInTime, tooLate } from "./answer-in-time.ts";

/** The response of a route's handler. @throws AgentError what the handler throws, STORE_UNAVAILABLE after `limits.answerMs` */
export async function runRoute(route: Route, context: Omit<RequestContext, "late">): Promise<Response> {
  const { server } = context;
  const lateness = new AbortController();
  const late = lateness.signal;
  // Health checks have a deadline of their own; uploads take as long as their body, and their route has a deadline for the store alone.
  if (route.access === "public" || route.hasRawBody || route.hasOwnDeadline) return route.handle({ ...context, late });
  const openSink: OpenSink = (head) => {
    if (late.aborted) throw tooLate(server.limits.answerMs);
    return context.openSink(head);
  };
  const answer = Promise.resolve(route.handle({ ...context, late, openSink }));
  return answerInTime(answer, server, () => lateness.abort());
}
