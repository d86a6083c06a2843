import type { ClientExecuteOptions, LoopwrightClient } from "@loopwright/client";
import { cursorAfter, type DurableEvent, encodeCursor, isAgentError, type SessionSnapshot } from "@loopwright/core/protocol";
import type { ExtensionContext } from "@loopwright/server";
import { modelOf } from "./models.ts";
import { type NamedRequest, type NamedSession, namedSession } from "./named-session.ts";
import { RequestRefused, refuse } from "./openai-error.ts";
import { type LoggedResponse, loggedResponse, responseIdOf } from "./response-id.ts";
import { type ResponseHead, responseOf } from "./response-object.ts";
import { type ResponseRequest, readResponseRequest } from "./response-request.ts";
import { openResponse, responseStream, wholeResponse } from "./response-stream.ts";
import { acceptedRun, runInputOf, runOptionsOf } from "./run-input.ts";
import type { SdkRetries } from "./sdk-retries.ts";

/** `POST /v1/responses`. */
export async function createResponse(
  client: LoopwrightClient,
  { body, request, principal: { user } }: ExtensionContext,
  retries: SdkRetries,
): Promise<Response> {
  const asked = readResponseRequest(body);
  const { id: agent } = await modelOf(client, asked.model);
  const given = request.headers.get("idempotency-key") ?? undefined;
  const key = given ?? (await retries.keyOf(request, { user, body }));
  const { parent, ...session } = await sessionOf(client, asked, { key, agent, user, isRandom: (asked.chatId ?? given) === undefined });
  const options: ClientExecuteOptions = { ...runOptionsOf(asked, session), ...(parent === undefined ? {} : { parent }) };
  const stream = client.execute(runInputOf(asked), { ...options, idempotencyKey: key });
  const { first, events } = await acceptedRun(stream);
  const { runId, seq, at } = first;
  const isFormed = asked.form !== undefined;
  const previousId = asked.previous && responseIdOf(asked.previous);
  const head: ResponseHead = {
    ...{ id: responseIdOf({ session: stream.sessionId, runId, seq, isFormed }), createdAt: secondsOf(at), model: agent },
    ...{ previousId, isBackground: asked.isBackground },
  };
  const running = { head, seq, isFormed, stream, events };
  if (asked.isStreamed) {
    // The log refuses to stop a run that is over.
    const left = (): unknown => given === undefined && !asked.isBackground && stream.abort("client_left").catch(() => undefined);
    return responseStream(running, { left });
  }
  if (asked.isBackground) return Response.json(responseOf(head, { status: "in_progress", output: [] }));
  return wholeResponse(running, { throwsFailure: true });
}

const secondsOf = (ms: number): number => Math.floor(ms / 1000);

interface Continued extends NamedSession {
  /** The message that the input continues. Absent: the newest one. */
  readonly parent?: string;
}

async function sessionOf(
  client: LoopwrightClient,
  { previous, chatId, input }: ResponseRequest,
  { key, ...caller }: Pick<NamedRequest, "agent" | "user" | "isRandom"> & { readonly key: string },
): Promise<Continued> {
  if (!previous) {
    const named = chatId === undefined ? ({ kind: "key", name: key } as const) : ({ kind: "chat", name: chatId } as const);
    return namedSession(client, { ...named, ...caller });
  }
  const { session: id, runId } = previous;
  const snapshot = await snapshotOf(client, previous, "previous_response_id");
  if (snapshot.agent !== caller.agent) refuse("model", `the response to continue is one of \`${snapshot.agent}\`.`);
  if ("results" in input) {
    if (input.session !== id) refuse("input", "the calls are none of the response that `previous_response_id` names.");
    return { id, exists: true };
  }
  const [waiting] = snapshot.run?.runId === runId ? snapshot.run.pendingToolCalls : [];
  if (waiting) refuse("input", `send the output of the call of \`${waiting.toolName}\` first.`);
  const last = snapshot.messages.findLast((message) => message.runId === runId)?.id;
  return { id, exists: true, ...(last === undefined || last === snapshot.head ? {} : { parent: last }) };
}

/** The session of a response that the caller may read. @throws RequestRefused */
async function snapshotOf(client: LoopwrightClient, { session }: LoggedResponse, param: string): Promise<SessionSnapshot> {
  try {
    return await client.sessions.get(session);
  } catch (error) {
    if (isAgentError(error, "SESSION_NOT_FOUND")) throw notFound(param);
    throw error;
  }
}

const notFound = (param: string): RequestRefused =>
  new RequestRefused("There is no response with this id.", { status: param === "id" ? 404 : 400, param, code: "response_not_found" });

function namedBy(id: string | undefined): LoggedResponse {
  const named = loggedResponse(id ?? "");
  if (!named) throw notFound("id");
  return named;
}

/** `GET /v1/responses/:id`: the response as the log has it, also while its run is open. */
export async function readResponse(client: LoopwrightClient, { params, query }: ExtensionContext): Promise<Response> {
  const named = namedBy(params["id"]);
  const { session, runId, seq, isFormed = false } = named;
  const { agent, run, waiting, status } = await snapshotOf(client, named, "id");
  const [first] = (await client.sessions.run(session, runId, { after: cursorBefore(seq), limit: 1 })).events;
  if (first?.seq !== seq) throw notFound("id");
  const head: ResponseHead = { id: responseIdOf(named), createdAt: secondsOf(first.at), model: agent };
  const isStreamed = query.get("stream") === "true";
  const isOpen = (run?.runId === runId && status === "running") || waiting.some((input) => input.runId === runId);
  if (isOpen && !isStreamed) return openResponse({ head, seq, isFormed }, { session, events: await eventsOf(client, named) });
  const watching = new AbortController();
  const stream = await client.sessions.stream(session, runId, { seq, signal: watching.signal });
  const running = { head, seq, isFormed, stream, events: stream, ended: () => watching.abort() };
  return isStreamed ? responseStream(running, { after: afterOf(query) }) : wholeResponse(running, { throwsFailure: false });
}

const cursorBefore = (seq: number): string => encodeCursor(cursorAfter(seq - 1));

/** What the log has of a run, from the beginning of a response on. */
async function eventsOf(client: LoopwrightClient, { session, runId, seq }: LoggedResponse): Promise<readonly DurableEvent[]> {
  const all: DurableEvent[] = [];
  for (let after: string | undefined = cursorBefore(seq); after !== undefined; ) {
    const page: Awaited<ReturnType<LoopwrightClient["sessions"]["run"]>> = await client.sessions.run(session, runId, { after });
    all.push(...page.events);
    after = page.next;
  }
  return all;
}

function afterOf(query: URLSearchParams): number {
  const given = query.get("starting_after") ?? "-1";
  const after = Number(given);
  return Number.isSafeInteger(after) ? after : refuse("starting_after", "use a `sequence_number` of the response.");
}

/** `POST /v1/responses/:id/cancel`: the run is stopped, and the response has what came until then. */
export async function cancelResponse(client: LoopwrightClient, context: ExtensionContext): Promise<Response> {
  const named = namedBy(context.params["id"]);
  await snapshotOf(client, named, "id");
  await client.sessions.abort(named.session, "client", { runId: named.runId });
  const stream = await client.sessions.stream(named.session, named.runId, { seq: named.seq });
  await stream.result();
  return readResponse(client, context);
}
