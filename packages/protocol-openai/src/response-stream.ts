import { type AgentEvent, type ExecuteStream, isAgentError, type PendingToolCall } from "@loopwright/core/protocol";
import { eventStreamResponse } from "@loopwright/server";
import { errorResponse, openAiErrorOf } from "./openai-error.ts";
import { framesAfter, type ItemFrame, ResponseItems } from "./response-items.ts";
import { type ResponseHead, type ResponseState, responseOf } from "./response-object.ts";
import { waitNote } from "./wait-note.ts";

/** A run that is followed from the beginning of a response. */
export interface RunningResponse {
  readonly head: ResponseHead;
  /** First fact of the response. */
  readonly seq: number;
  /** The answer is the last message alone. */
  readonly isFormed: boolean;
  readonly stream: ExecuteStream;
  readonly events: AsyncIterable<AgentEvent>;
  /** Called at the end of the response, which may be before that of the run. */
  readonly ended?: () => void;
}

/** How a response ended, after its last item. */
interface ResponseEnd extends ResponseState {
  /** Why the run has failed or was stopped. */
  readonly cause?: unknown;
}

/** The items of a response as they come, up to its calls if its caller has answered one since: what follows is another response. Returns true if so. */
async function* framesOf(
  events: AsyncIterable<AgentEvent> | Iterable<AgentEvent>,
  items: ResponseItems,
  session: string,
): AsyncGenerator<readonly ItemFrame[], boolean> {
  let asked: readonly PendingToolCall[] = [];
  for await (const event of events) {
    if (event.type === "message_end" && event.message.role === "tool_result" && isOneOf(asked, event.message.toolCallId)) {
      yield items.addCalls(asked, session);
      return true;
    }
    if (event.type === "awaiting_tool_execution") asked = [...asked, ...ownCalls(event.toolCalls)];
    const frames = items.take(event);
    if (frames.length > 0) yield frames;
  }
  return false;
}

/** The items of a response as they come; returns its end. */
async function* itemFrames({ stream, events }: RunningResponse, items: ResponseItems): AsyncGenerator<readonly ItemFrame[], ResponseEnd> {
  if (yield* framesOf(events, items, stream.sessionId)) return stateOf(items, "completed");
  const result = await stream.result();
  if (result.error) {
    const status = result.status === "aborted" ? "cancelled" : "failed";
    return { ...stateOf(items, status), error: openAiErrorOf(result.error), cause: result.error };
  }
  if (result.status === "awaiting_tool_execution") {
    const own = ownCalls(result.pendingToolCalls);
    yield own.length > 0 ? items.addCalls(own, stream.sessionId) : items.addNote(waitNote(result, stream.sessionId));
  }
  return stateOf(items, result.finishReason === "length" ? "incomplete" : "completed");
}

const isOneOf = (calls: readonly PendingToolCall[], id: string): boolean => calls.some(({ toolCallId }) => toolCallId === id);

/** Calls of the session itself: those of a child are none of its caller's. */
const ownCalls = (calls: readonly PendingToolCall[]): readonly PendingToolCall[] => calls.filter(({ session }) => session === undefined);

const stateOf = ({ output, usage }: ResponseItems, status: ResponseState["status"]): ResponseState => ({ status, output, usage });

/** The events of a response as a stream. `after`: the number of the last one that the client has. `left`: called when the client leaves before the end. */
export function responseStream(
  running: RunningResponse,
  { after = -1, left }: { readonly after?: number; readonly left?: () => unknown } = {},
): Response {
  return eventStreamResponse(frameTexts(running, after), {
    left: () => {
      running.ended?.();
      return left?.();
    },
  });
}

async function* frameTexts(running: RunningResponse, after: number): AsyncGenerator<string, void> {
  const { head, ended } = running;
  const items = new ResponseItems(running);
  const begun = responseOf(head, { status: "in_progress", output: [] });
  const texts = (frames: readonly ItemFrame[]): string => framesAfter(frames, after).map(textOf).join("");
  const first = texts([
    { type: "response.created", sequence_number: 0, response: begun },
    { type: "response.in_progress", sequence_number: 1, response: begun },
  ]);
  if (first !== "") yield first;
  try {
    const frames = itemFrames(running, items);
    let read = await frames.next();
    for (; !read.done; read = await frames.next()) {
      const text = texts(read.value);
      if (text !== "") yield text;
    }
    const { status } = read.value;
    const type = `response.${status === "cancelled" ? "failed" : status}`;
    yield textOf({ type, sequence_number: items.next(), response: responseOf(head, read.value) });
  } catch (error) {
    // The store is lost, or the session was removed.
    const { code, message, param } = openAiErrorOf(error);
    yield textOf({ type: "error", sequence_number: items.next(), code, message, param });
  } finally {
    ended?.();
  }
}

const textOf = (frame: ItemFrame): string => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`;

/** The response in one piece. `throwsFailure`: a failed run is an error of the request, as the first answer to it has it. */
export async function wholeResponse(running: RunningResponse, { throwsFailure }: { readonly throwsFailure: boolean }): Promise<Response> {
  try {
    const items = new ResponseItems(running);
    const frames = itemFrames({ ...running, events: recorded(running.events) }, items);
    let read = await frames.next();
    while (!read.done) read = await frames.next();
    const { cause, ...state } = read.value;
    return cause !== undefined && throwsFailure ? errorResponse(cause, { hasRun: true }) : Response.json(responseOf(running.head, state));
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return errorResponse(error, { hasRun: true });
  } finally {
    running.ended?.();
  }
}

/** A response of a run that is open, with what the log has of it. */
export async function openResponse(
  { head, seq, isFormed }: Pick<RunningResponse, "head" | "seq" | "isFormed">,
  { session, events }: { readonly session: string; readonly events: readonly AgentEvent[] },
): Promise<Response> {
  const items = new ResponseItems({ seq, isFormed });
  const frames = framesOf(events, items, session);
  let read = await frames.next();
  while (!read.done) read = await frames.next();
  return Response.json(responseOf(head, stateOf(items, read.value ? "completed" : "in_progress")));
}

/** The events of the log alone. */
async function* recorded(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent, void> {
  for await (const event of events) if ("seq" in event) yield event;
}
