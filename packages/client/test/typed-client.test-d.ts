// What programs over HTTP name, with one import. `tsc` reads this file with the tests; nothing here runs.
import {
  type AgentEvent,
  type ApprovalDecision,
  applyEvents,
  type ClientOptions,
  createClient,
  type ExecuteInput,
  type ExecuteResult,
  type ExecuteStream,
  isAgentError,
  type LoopwrightClient,
  type Message,
  type Notification,
  type NotificationEvent,
  type PendingApproval,
  type PendingToolCall,
  type SessionEvent,
  type SessionHit,
  type SessionSnapshot,
  type SessionSummary,
  type SessionView,
  type ToolResultMessage,
  type UserPlan,
  viewOf,
} from "../src/index.ts";
import { clientTools, type ToolVerdict } from "../src/tools/index.ts";

const options: ClientOptions = { url: "https://agents.example" };
const client: LoopwrightClient = createClient(options);

// A page that asks, shows deltas, and answers the calls of its own tools.
async function ask(input: ExecuteInput): Promise<ExecuteResult> {
  const stream: ExecuteStream = client.execute(input, { context: {} });
  for await (const event of stream) show(event);
  return stream.result();
}
function show(event: AgentEvent): void {
  if (event.type === "text_delta") console.log(event.delta);
  // @ts-expect-error: an event of another type has no delta
  else if (event.type === "run_end") console.log(event.delta);
}
const answer = ({ toolCallId, callKey, toolName }: PendingToolCall): ToolResultMessage => ({
  ...{ role: "tool_result", toolCallId, callKey, toolName },
  ...{ content: "Done.", details: { steps: 3 } },
});

// A list of sessions, a search, and the view of one.
const titles = (sessions: readonly SessionSummary[]): readonly string[] => sessions.map(({ id, title = id }) => title);
const excerpt = ({ session, excerpt: text }: SessionHit): string => `${session.id}: ${text}`;
const lastOf = ({ messages }: SessionSnapshot): Message | undefined => messages.at(-1)?.message;
const next = (view: SessionView, events: readonly SessionEvent[]): SessionView => applyEvents(view, events);
const first = (snapshot: SessionSnapshot): SessionView => viewOf(snapshot);

// Decisions on calls.
const decision = ({ toolName }: PendingApproval): ApprovalDecision =>
  toolName === "pay" ? { decision: "deny", note: "Not today." } : { decision: "allow" };
// @ts-expect-error: a decision is one of two
const perhaps: ApprovalDecision = { decision: "perhaps" };

// Notifications of the product, and what a plan leaves.
const seen = (event: NotificationEvent): unknown => event;
const about = ({ type }: Notification): string => type;
const plan = (user: string): Promise<UserPlan> => client.settings.plan(user);

// Errors have codes, wherever they come from.
const isBusy = (error: unknown): boolean => isAgentError(error, "SESSION_BUSY");
// @ts-expect-error: there is no such code
const isGone = (error: unknown): boolean => isAgentError(error, "SESSION_VANISHED");

const permit = ({ toolName }: PendingToolCall): ToolVerdict => toolName !== "pay" || { deny: "Not in this page." };
export const all: readonly unknown[] = [
  ask,
  answer,
  titles,
  excerpt,
  lastOf,
  next,
  first,
  decision,
  perhaps,
  seen,
  about,
  plan,
  isBusy,
  isGone,
  permit,
  clientTools,
];
