/*
 * Owns: which session and which run a request is about. The id of a chat gives the id of its session, the id of an assistant's message is that of
 * its run, and the id of a call is its call key: a page that comes back, on whichever node, names what the log has.
 */
import type { LoopwrightClient } from "@loopwright/client";
import { type AcceptedSubmission, type MessageId, pathOf, type SessionSnapshot, type UserMessage } from "@loopwright/core/protocol";
import { digestId, findOwnedSession, ownedSessionId } from "@loopwright/server";
import { refuse } from "./chat-refused.ts";
import { answersOf, type ChatRequest, type PageMessage } from "./chat-request.ts";

/** A chat of one user. */
export interface Chat {
  readonly user: string;
  readonly chatId: string;
}

/** The session of a chat. Another user has another one for the same id. */
const sessionOf = ({ user, chatId }: Chat): Promise<string> => ownedSessionId("chat", user, [chatId]);

/** The session as it is; `undefined` for a chat that has none yet. @throws AgentError FORBIDDEN where another user has opened it */
export async function findChat(client: LoopwrightClient, chat: Chat): Promise<SessionSnapshot | undefined> {
  const { user, chatId } = chat;
  const earlierId = `chat-${await digestId(user, chatId)}`;
  return findOwnedSession((id) => client.sessions.get(id), { user, id: await sessionOf(chat), earlierId, label: "chat" });
}

/** A run that answers a request. */
export interface AnsweringRun {
  readonly session: string;
  readonly runId: string;
  /** The page has the message up to the calls of this turn. */
  readonly afterTurn?: number;
}

/** Records what a request has that is new. `key`: under it the request may come again. */
export async function recordRequest(
  client: LoopwrightClient,
  asked: ChatRequest,
  { user, key }: { readonly user: string; readonly key: string | undefined },
): Promise<AnsweringRun> {
  const chat = { user, chatId: asked.chatId };
  const found = await findChat(client, chat);
  if (asked.last.role === "assistant") return answerCalls(client, asked.last, found);
  const session = found ?? (await beginChat(client, chat, asked.agent));
  const { message } = asked.last;
  const recorded = await submitNew(client, session, { asked, message, key });
  // What came before has been answered already: it stops nothing.
  if (!recorded.replayed) await endWait(client, session, { always: asked.wants !== "answer" });
  return { session: session.sessionId, runId: recorded.runId };
}

interface NewInput {
  readonly asked: ChatRequest;
  readonly message: UserMessage;
  readonly key: string | undefined;
}

/** A new message, or one that begins a branch. */
async function submitNew(
  client: LoopwrightClient,
  session: SessionSnapshot,
  { asked: { wants, last, before }, message, key }: NewInput,
): Promise<AcceptedSubmission> {
  const { sessionId } = session;
  if (wants === "answer") {
    const given = key ?? (last.id === undefined ? undefined : await digestId("answer", last.id, JSON.stringify(message)));
    return client.sessions.submit(sessionId, message, { idempotencyKey: given ?? crypto.randomUUID() });
  }
  const idempotencyKey = key ?? crypto.randomUUID();
  const parent = lastOf(before, session);
  const again = wants === "regenerate" ? questionAfter(parent, session) : undefined;
  if (again) return client.sessions.submit(sessionId, { regenerate: again }, { idempotencyKey });
  return client.sessions.submit(sessionId, message, { idempotencyKey, parent });
}

/** Two requests that begin a chat at once make one session. */
function beginChat(client: LoopwrightClient, chat: Chat, agent: string | undefined): Promise<SessionSnapshot> {
  return sessionOf(chat).then((id) =>
    client.sessions.create(
      { id, ...(agent === undefined ? {} : { agent }), metadata: { chat: chat.chatId } },
      { idempotencyKey: `begin-${id}` },
    ),
  );
}

/** What waits for answers of the page gets none any more when the user writes on; what is written anew replaces what is running. */
async function endWait(
  client: LoopwrightClient,
  { sessionId, run, waitsFor = [] }: SessionSnapshot,
  { always }: { readonly always: boolean },
): Promise<void> {
  const waits = waitsFor.some((reason) => reason === "client_tools" || reason === "approvals");
  if (run && (always || waits)) await client.sessions.abort(sessionId, "the user went on", { runId: run.runId });
}

/** The last message of the run that the page's last answer is; `null` where it shows none of this session. */
function lastOf(before: readonly PageMessage[], { messages }: SessionSnapshot): MessageId | null {
  const answer = before.findLast(({ role, id }) => role === "assistant" && messages.some(({ runId }) => runId === id));
  return messages.findLast(({ runId }) => answer && runId === answer.id)?.id ?? null;
}

/** The user's message that continues this one: of several the one that people see. */
function questionAfter(parent: MessageId | null, session: SessionSnapshot): MessageId | undefined {
  const follows = ({ parent: before, message }: SessionSnapshot["messages"][number]): boolean =>
    before === parent && message.role === "user";
  return (pathOf(session).find(follows) ?? session.messages.findLast(follows))?.id;
}

/** Sends the answers that the run waits for. What it does not wait for is known: outputs of the server's own tools, and answers that came before. */
async function answerCalls(
  client: LoopwrightClient,
  last: Extract<PageMessage, { readonly role: "assistant" }>,
  found: SessionSnapshot | undefined,
): Promise<AnsweringRun> {
  if (!found?.messages.some(({ runId }) => runId === last.id)) return refuse("`messages`: the last message is no answer of this chat.");
  const { sessionId: session, run } = found;
  const { results, decisions, turn } = answersOf(last);
  if (turn === 0) return refuse("`messages`: the last message has no call that can be answered.");
  const { pendingApprovals = [], pendingToolCalls = [] } = run?.runId === last.id ? run : {};
  for (const { callKey } of pendingApprovals) {
    const decision = decisions.get(callKey);
    if (!decision) continue;
    const { isAllowed, note } = decision;
    await client.sessions.decide(session, callKey, { decision: isAllowed ? "allow" : "deny", ...(note === undefined ? {} : { note }) });
  }
  const sent = pendingToolCalls.flatMap(({ callKey, toolName }) => {
    const result = results.get(callKey);
    return result ? [{ role: "tool_result" as const, toolCallId: callKey, callKey, toolName, ...result }] : [];
  });
  if (sent.length > 0) await client.sessions.sendResults(session, sent);
  return { session, runId: last.id, afterTurn: turn };
}
