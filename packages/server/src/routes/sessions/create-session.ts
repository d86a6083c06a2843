import { checkChosenId } from "../../identity/owned-session-id.ts";
import type { Route } from "../../request/route.ts";
import { type NewSessionRequest, newSessionRequest, sessionSnapshot } from "../../schemas/index.ts";
import { admitInput } from "../admit-input.ts";
import { keyedSessionId } from "../idempotency/keyed-session-id.ts";
import { idempotencyKeyOf } from "../idempotency/read-idempotency-key.ts";
import { plainOf, runUnderKey } from "../idempotency/replay-stored-answer.ts";
import { beginSession } from "./begin-session.ts";

export const createSessionRoute: Route<unknown, unknown, NewSessionRequest> = {
  method: "POST",
  path: "/api/sessions",
  id: "createSession",
  summary: "Begins a session.",
  access: "principal",
  action: "session.create",
  isRefusedAtEnd: true,
  body: newSessionRequest,
  responses: {
    200: { description: "It was begun before under the same `Idempotency-Key`.", schema: sessionSnapshot },
    201: { description: "The session; `Location` leads to it.", schema: sessionSnapshot },
    403: { description: "The context holds what only trusted callers may bring." },
    404: { description: "No such agent." },
    409: { description: "A session of this id exists." },
    410: { description: "A session of this id was deleted." },
    422: { description: "The `Idempotency-Key` came with another session." },
  },
  async handle(context) {
    const { principal, server, body, request } = context;
    const { agent = server.options.agents[0]?.name ?? "", context: begins } = body;
    await admitInput(context, { agent, context: begins, messages: begins?.messages ?? [] });
    if (body.id !== undefined) await checkChosenId(body.id, principal);
    const { idempotencyKey } = idempotencyKeyOf(request);
    const id = body.id ?? (idempotencyKey === undefined ? undefined : await keyedSessionId(principal, idempotencyKey));
    const { title, metadata } = body;
    return runUnderKey(context, { purpose: "session", content: plainOf(body), session: id }, () =>
      beginSession(context, { id, agent, title, metadata, ...begins }, idempotencyKey !== undefined),
    );
  },
};
