import type { ClientExecuteOptions } from "@loopwright/client";
import { AgentError, type AgentEvent, type DurableEvent, type ExecuteInput, type ExecuteStream } from "@loopwright/core/protocol";
import type { ReadMessages } from "./chat-messages.ts";
import type { ChatRequest } from "./chat-request.ts";
import type { NamedSession } from "./named-session.ts";

/** What both doors read of a request. */
export type RunRequest = ReadMessages & Pick<ChatRequest, "model" | "tools" | "options" | "form">;

/** The input of the run. */
export const runInputOf = ({ input }: RunRequest): ExecuteInput => ("results" in input ? input.results : input);

/** The options of the run. A session that exists keeps what it was created with. */
export function runOptionsOf(request: RunRequest, session: NamedSession): ClientExecuteOptions {
  const { input, history, systemPrompt, model, tools, options, form } = request;
  const chosen = { ...(options as Pick<ClientExecuteOptions, "temperature">), ...(form ? { output: form } : {}) };
  const declared = tools.length === 0 ? {} : { context: { tools } };
  if ("results" in input) return { ...chosen, ...declared, sessionId: input.session };
  if (session.exists) return { ...chosen, ...declared, ...(systemPrompt === undefined ? {} : { systemPrompt }), sessionId: session.id };
  const begins = { ...(systemPrompt === undefined ? {} : { systemPrompt }), ...(history.length === 0 ? {} : { messages: history }) };
  return { ...chosen, agent: model, context: { ...declared.context, ...begins }, sessionId: session.id };
}

/** A run that is accepted. */
export interface AcceptedRun {
  /** The first event that the log has of it, or of the results that continue it. */
  readonly first: DurableEvent & { readonly runId: string };
  /** Its events, that one included. */
  readonly events: AsyncIterable<AgentEvent>;
}

/** The events of a run that is accepted: until then a refusal is an answer with a status of its own. @throws AgentError */
export async function acceptedRun(stream: ExecuteStream): Promise<AcceptedRun> {
  const events = stream[Symbol.asyncIterator]();
  for (let read = await events.next(); !read.done; read = await events.next()) {
    const first = read.value;
    // The client itself makes an event before it has asked the server.
    if ("seq" in first && first.runId !== undefined) return { first: { ...first, runId: first.runId }, events: eventsFrom(first, events) };
  }
  await stream.result();
  throw new AgentError("RUN_NOT_FOUND", { message: "The run has no event.", fix: "Send the request again." });
}

async function* eventsFrom(first: AgentEvent, events: AsyncIterator<AgentEvent>): AsyncGenerator<AgentEvent, void> {
  yield first;
  for (let read = await events.next(); !read.done; read = await events.next()) yield read.value;
}
