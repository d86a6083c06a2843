import { readOpening } from "@loopwright/core";
import type { MessageId } from "@loopwright/core/protocol";
import { forkOf, messageAt } from "@loopwright/host";
import { checkChosenId } from "../../identity/owned-session-id.ts";
import type { Route } from "../../request/route.ts";
import { type ForkRequest, forkRequest, sessionSnapshot } from "../../schemas/index.ts";
import { admitInput } from "../admit-input.ts";
import { keyedSessionId } from "../idempotency/keyed-session-id.ts";
import { idempotencyKeyOf } from "../idempotency/read-idempotency-key.ts";
import { plainOf, runUnderKey } from "../idempotency/replay-stored-answer.ts";
import { sessionRefOf } from "../open-session.ts";
import { type SessionParams, sessionParams } from "../session-params.ts";
import { beginSession } from "./begin-session.ts";
import { readState } from "./read-state.ts";

export const forkSessionRoute: Route<SessionParams, unknown, ForkRequest> = {
  method: "POST",
  path: "/api/sessions/:id/fork",
  id: "forkSession",
  summary: "Begins another session with the messages of this one up to `message`, or up to the event `at`. This one does not change.",
  access: "principal",
  action: "session.fork",
  isRefusedAtEnd: true,
  params: sessionParams,
  body: forkRequest,
  bodyOptional: true,
  responses: {
    200: { description: "It was begun before under the same `Idempotency-Key`.", schema: sessionSnapshot },
    201: { description: "The new session; `Location` leads to it.", schema: sessionSnapshot },
    400: { description: "`message` names no message of the session, or `at` no event." },
    403: { description: "A prompt from a caller that is not trusted." },
    404: { description: "No such session, or no such agent." },
    409: { description: "A session of the new id exists." },
    422: { description: "The `Idempotency-Key` came with another request." },
  },
  async handle(context) {
    const { principal, request, params, server } = context;
    const body: ForkRequest = context.body ?? {};
    const { snapshot } = await readState(context, params.id, undefined);
    const ref = sessionRefOf(principal, params.id);
    const opening = await readOpening(server.options.store, ref);
    const wanted = body.at === undefined ? body.message : await messageAt(server.options.store, ref, body.at);
    const agent = body.agent ?? snapshot.agent;
    await admitInput(context, { agent, context: body.context, messages: [] });
    if (body.id !== undefined) await checkChosenId(body.id, principal);
    const { idempotencyKey } = idempotencyKeyOf(request);
    const id = body.id ?? (idempotencyKey === undefined ? undefined : await keyedSessionId(principal, idempotencyKey));
    const content = plainOf({ ...body, source: params.id });
    // A repetition forks at the same message as the first request, although the session may have grown since.
    const keyed = { purpose: "fork", content, session: id, note: wanted === undefined ? snapshot.head : wanted };
    return runUnderKey(context, keyed, ({ note }) => {
      const fork = forkOf({ snapshot, opening }, { ...body, ...body.context, message: note as MessageId | null });
      return beginSession(context, { ...fork, id }, idempotencyKey !== undefined);
    });
  },
};
