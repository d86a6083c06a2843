/*
 * Owns: one call as a run: what it writes as progress, its end as a result, what it waits for as a question. Does not own: which run that is (call-key),
 * what is called (ask-agent, call-tool), which tools there are (agent-server).
 */
import type { LoopwrightClient } from "@loopwright/client";
import {
  type AgentEvent,
  type CompletedResult,
  type ExecuteStream,
  type FailedResult,
  isAgentError,
  type PendingApproval,
  type WaitingResult,
} from "@loopwright/core/protocol";
import { findOwnedSession } from "@loopwright/server";
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type CallKey, callKeyOf, placeOf, sessionsOfConversation, sessionsOfKey } from "./call-key.ts";

/** What calls of one request share. */
export interface CallSetup {
  readonly client: LoopwrightClient;
  readonly user: string;
  readonly scope: string;
  readonly headers: Headers;
  /** Aborted when the caller has gone: the SDK does not see one that had gone before it got the request. */
  readonly signal: AbortSignal;
  /** Runs that are read here, by `placeOf` their calls: they can be stopped. */
  readonly running: Map<string, ExecuteStream>;
}

/** What a call of a tool runs. */
export interface AskedRun {
  readonly agent: string;
  readonly input: string;
  /** The name of a conversation that it continues. */
  readonly conversation?: string | undefined;
  /** The progress that an event is. */
  pieceOf(event: AgentEvent): string | undefined;
  /** The result of a run that has its answer. */
  resultOf(result: CompletedResult, sessionId: string): CallToolResult;
}

export async function runCall(asked: AskedRun, context: ServerContext, setup: CallSetup): Promise<CallToolResult | InputRequiredResult> {
  const { client, scope, running } = setup;
  const { agent } = asked;
  const call = await callOf(context, setup);
  const place = placeOf(scope, call.key);
  let stream: ExecuteStream | undefined;
  let sessionId = "";
  try {
    sessionId = await sessionOf(asked, call, setup);
    await decideAsked(client, { sessionId, responses: context.mcpReq.inputResponses });
    const begun = client.execute(asked.input, { agent, sessionId, idempotencyKey: call.key });
    stream = begun;
    running.set(place, begun);
    const stop = (): void => {
      // The log refuses to stop a run that is over.
      if (!call.isKept) void begun.abort("client_left").catch(() => undefined);
    };
    const left = AbortSignal.any([setup.signal, context.mcpReq.signal]);
    left.addEventListener("abort", stop, { once: true });
    if (left.aborted) stop();
    await giveProgress(begun, { context, asked });
    const result = await begun.result();
    return result.status === "completed" ? asked.resultOf(result, sessionId) : unfinished(result, { sessionId, call, context });
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return failed(`${error.code}: ${error.message} ${error.fix}`, sessionId);
  } finally {
    // Another call may have come under the same key.
    if (running.get(place) === stream) running.delete(place);
  }
}

/** Where a call runs: in its conversation, or in a session of its own. @throws AgentError FORBIDDEN */
async function sessionOf(
  { agent, conversation }: AskedRun,
  { key, isKept }: CallKey,
  { client, user }: Pick<CallSetup, "client" | "user">,
): Promise<string> {
  const [id, earlierId] = await (conversation === undefined
    ? sessionsOfKey(user, key)
    : sessionsOfConversation(user, { agent, conversation }));
  // A key that was made here at random has no session yet.
  if (conversation === undefined && !isKept) return id;
  const label = conversation === undefined ? "key" : "conversation";
  const found = await findOwnedSession((one) => client.sessions.get(one), { user, id, earlierId, label });
  return found?.sessionId ?? id;
}

/** A call that comes again with answers to the questions of its run has the key of that run in its state: the session is still asked about as this user. */
async function callOf(context: ServerContext, { headers, user }: CallSetup): Promise<CallKey> {
  const state = context.mcpReq.requestState();
  if (typeof state === "string" && /^[0-9a-f-]{32,36}$/.test(state)) return { key: state, isKept: true };
  return callKeyOf(context, { headers, user });
}

/** What the run writes, where the client asked for progress. What an attempt wrote that was given up cannot be taken back: the result is the answer. */
async function giveProgress(
  stream: ExecuteStream,
  { context, asked }: { readonly context: ServerContext; readonly asked: AskedRun },
): Promise<void> {
  const { mcpReq } = context;
  const { progressToken } = mcpReq._meta ?? {};
  let progress = 0;
  for await (const event of stream) {
    const message = asked.pieceOf(event) ?? "";
    if (progressToken === undefined || message === "" || mcpReq.signal.aborted) continue;
    progress += message.length;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
  }
}

interface Ended {
  readonly sessionId: string;
  readonly call: CallKey;
  readonly context: ServerContext;
}

function unfinished(result: WaitingResult | FailedResult, { sessionId, call, context }: Ended): CallToolResult | InputRequiredResult {
  if (result.error) return failed(`${result.error.code}: ${result.error.message}`, sessionId);
  const { pendingApprovals, pendingToolCalls } = result;
  if (pendingApprovals.length > 0 && canAnswer(context)) return question(pendingApprovals, call.key);
  const names = [...pendingApprovals, ...pendingToolCalls].map(({ toolName }) => `\`${toolName}\``).join(", ");
  const text =
    `${result.text}\n\nThe agent waits for a person or a client, because of ${names}. Its session is ${sessionId}; repeat the call under the same key after the answer.`.trim();
  return { content: textOf(text), structuredContent: { text, status: "waiting", session: sessionId } };
}

const textOf = (text: string): CallToolResult["content"] => [{ type: "text", text }];

const failed = (text: string, session: string): CallToolResult => ({
  content: textOf(text),
  structuredContent: { text, status: "failed", session },
  isError: true,
});

/** Whether the client can ask a person, in a protocol in which this call can wait for the answer. */
function canAnswer({ mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, { readonly elicitation?: object } | undefined>> | undefined;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY]?.elicitation !== undefined;
}

const decisionSchema = z.object({ allow: z.boolean() });

/** One question for each call that awaits approval. The digest of the arguments binds the answer to what the person has read. */
function question(pending: readonly PendingApproval[], key: string): InputRequiredResult {
  return inputRequired({
    inputRequests: Object.fromEntries(
      pending.map(({ callKey, argsDigest, toolName, args, reason }) => [
        `${argsDigest} ${callKey}`,
        inputRequired.elicit({
          message: `May the agent call ${toolName} with ${JSON.stringify(args)}?${reason === undefined ? "" : ` ${reason}`}`,
          requestedSchema: decisionSchema,
        }),
      ]),
    ),
    requestState: key,
  });
}

interface Decisions {
  readonly sessionId: string;
  readonly responses: Readonly<Record<string, unknown>> | undefined;
}

/** Sends the decisions that came with the call. One that was sent before counts. @throws AgentError */
async function decideAsked(client: LoopwrightClient, { sessionId, responses = {} }: Decisions): Promise<void> {
  for (const name of Object.keys(responses)) {
    const [argsDigest = "", callKey = ""] = name.split(" ");
    const isAllowed = acceptedContent(responses, name, decisionSchema)?.allow === true;
    try {
      await client.sessions.decide(sessionId, callKey, { decision: isAllowed ? "allow" : "deny", argsDigest });
    } catch (error) {
      if (!isAgentError(error, "APPROVAL_DECIDED")) throw error;
    }
  }
}
