import type { DurableEvent } from "@loopwright/core/protocol";
import type { Acknowledged } from "./acknowledged.ts";
import { type Answer, type PostOptions, post } from "./post.ts";

type Event<T extends DurableEvent["type"]> = Extract<DurableEvent, { readonly type: T }>;

export interface ReplyOptions extends Pick<PostOptions, "pick" | "headers" | "receive"> {
  /** Of the session. */
  readonly path: string;
  readonly random: () => number;
  readonly acknowledged: Acknowledged[];
  readonly surprises: string[];
}

/** How a person decides. */
const shares = { late: 0.3, allowed: 0.7, twice: 0.3, otherwise: 0.2 };
const lateMsMax = 400;

const isYes = (written: Answer | undefined): boolean => written !== undefined && written.status < 300;

/** The run no longer waits for it: it was stopped meanwhile. */
function isTooLate({ status, body }: Answer): boolean {
  const details = body["details"] as { readonly outcome?: string } | undefined;
  return status === 404 || (status === 409 && details?.outcome === "aborted");
}

/** What a person does when it is asked: gives the results of client tools, and leave to calls that wait for it. */
export function createReplies(options: ReplyOptions): (event: DurableEvent) => Promise<void> {
  const asked = new Set<string>();
  return async (event) => {
    if (event.type === "agent_waiting")
      for (const { callKey, argsDigest } of event.pendingApprovals) {
        if (asked.has(callKey)) continue;
        asked.add(callKey);
        await decide(options, { callKey, argsDigest });
      }
    if (event.type === "awaiting_tool_execution") await answer(options, event);
    if (event.type === "approval_requested") await decide(options, event);
  };
}

async function answer({ path, acknowledged, surprises, ...who }: ReplyOptions, event: Event<"awaiting_tool_execution">): Promise<void> {
  const results = event.toolCalls.map((call) => ({
    role: "tool_result",
    toolCallId: call.toolCallId,
    callKey: call.callKey,
    content: `said ${call.callKey}`,
  }));
  const key = `answer-${event.seq}`;
  const written = await post({ ...who, path: `${path}/tool-results`, body: { results }, key });
  if (isYes(written)) acknowledged.push({ what: "answer", key, callKeys: event.toolCalls.map(({ callKey }) => callKey) });
  // The run may have been stopped meanwhile.
  else if (written && written.status !== 404 && written.status !== 409) surprises.push(surprise("tool results", written));
}

/** Allows or denies, sometimes late, sometimes twice at once, and sometimes tries the contrary afterwards. */
async function decide(
  options: ReplyOptions,
  { callKey, argsDigest }: Pick<Event<"approval_requested">, "callKey" | "argsDigest">,
): Promise<void> {
  const { path, random, acknowledged, surprises, ...who } = options;
  if (random() < shares.late) await new Promise((resolve) => setTimeout(resolve, random() * lateMsMax));
  const decision = random() < shares.allowed ? "allow" : "deny";
  const say = (verdict: string, key: string): Promise<Answer | undefined> =>
    post({ ...who, path: `${path}/approvals/${encodeURIComponent(callKey)}`, body: { decision: verdict, argsDigest }, key });
  const key = `decide-${callKey}`;
  const times = random() < shares.twice ? 2 : 1;
  const written = await Promise.all(Array.from({ length: times }, () => say(decision, key)));
  const isTaken = written.some(isYes);
  if (isTaken) acknowledged.push({ what: "decision", key, callKeys: [callKey], decision });
  // The run may have been stopped meanwhile.
  for (const one of written) if (one && !isYes(one) && !isTooLate(one)) surprises.push(surprise(`decision ${decision}`, one));
  if (!isTaken || random() >= shares.otherwise) return;
  const contrary = await say(decision === "allow" ? "deny" : "allow", `${key}-otherwise`);
  if (contrary && contrary.status !== 409 && !isTooLate(contrary)) surprises.push(surprise("a second decision", contrary));
}

const surprise = (what: string, { status, body }: Answer): string => `${what}: ${status} ${JSON.stringify(body).slice(0, 200)}`;
