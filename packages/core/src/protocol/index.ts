/** What crosses the wire: types and codecs, for servers and clients in any runtime. */

export type { AgentErrorOptions, ErrorClass, ErrorCode, ErrorEntry, Failure } from "../errors.ts";
export { AgentError, errorTable, failureOf, isAgentError } from "../errors.ts";
export type {
  AgentEvent,
  DurableEvent,
  EphemeralEvent,
  ExecuteStatus,
  PendingApproval,
  PendingToolCall,
  SessionEvent,
  TransportEvent,
} from "../loop/event.ts";
export type { Access, ApprovalVerdict, DeclaredTool, InputMode, RunOptions, RunStatus, Timings } from "../loop/fact.ts";
export { inCallOrder } from "../loop/transcript.ts";
export type { AnswerReplay, DroppedAnswers } from "../loop/untold-answer.ts";
export { answeringAfter, createAnswerReplay, createDroppedAnswers } from "../loop/untold-answer.ts";
export type {
  ArgsProblem,
  AssistantPart,
  FilePart,
  ImagePart,
  JsonPart,
  MediaSource,
  Opaque,
  OpaquePart,
  ResultPart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  UserPart,
} from "../message/content.ts";
export { derivedTitle } from "../message/derived-title.ts";
export type { Json, JsonObject, JsonSchema } from "../message/json.ts";
export type {
  AssistantMessage,
  CallOutcome,
  Message,
  MessageId,
  NoticeMessage,
  StopReason,
  ToolResultMessage,
  UserMessage,
} from "../message/message.ts";
export { callsOf, partsOf, textOf } from "../message/message.ts";
export type { Cost, Spent, Usage } from "../message/usage.ts";
export { addCost, addSpent, addUsage, contextTokensOf } from "../message/usage.ts";
export type { Clock } from "../ports/clock.ts";
export type { Notification } from "../ports/event-channel.ts";
export type { SessionHit, SessionSummary, WaitingReason } from "../ports/session-index.ts";
export type { StandardSchema } from "../tools/standard-schema.ts";
export type { Tool } from "../tools/tool.ts";
export type { AcceptedDecision, ApprovalDecision, DecideOptions } from "./approval.ts";
export { compareCursors, cursorAfter, decodeCursor, type EventCursor, encodeCursor } from "./cursor.ts";
export type {
  AcceptedSubmission,
  AgentSession,
  ExecuteInput,
  ExecuteOptions,
  ExecuteResult,
  ExecuteStream,
  SessionFollower,
  SessionStatus,
  SubmitOptions,
} from "./execute.ts";
export { checkContext, checkExecuteInput, isToolResultMessage, isUserMessage } from "./input-guards.ts";
export { errorFromProblem, type Problem, type ProblemOptions, problemOf } from "./problem.ts";
export type { OpenRun, RunningTool, SessionSnapshot, SnapshotMessage, WaitingInput } from "./snapshot.ts";
