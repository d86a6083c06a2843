/** The data that crosses the wire: types and codecs, for servers and clients in any runtime. */

export type { AgentErrorOptions, ErrorClass, ErrorCode, ErrorEntry, Failure } from "../errors.ts";
export { AgentError, errorTable, failureOf, isAgentError } from "../errors.ts";
export type { AnswerReplay, DroppedAnswers } from "../loop/answer-still-to-publish.ts";
export { answeringAfter, createAnswerReplay, createDroppedAnswers } from "../loop/answer-still-to-publish.ts";
export type {
  AgentEvent,
  DurableEvent,
  EphemeralEvent,
  ExecuteStatus,
  PendingApproval,
  PendingToolCall,
  SessionEvent,
  TransportEvent,
  WaitingAgent,
} from "../loop/event.ts";
export type {
  Access,
  ApprovalVerdict,
  DeclaredTool,
  HookPoint,
  InputMode,
  Labels,
  RememberedDecision,
  Retention,
  RunOptions,
  RunStatus,
  Sharing,
  SharingRole,
  Timings,
  Verdict,
} from "../loop/fact.ts";
export type { CallState, SessionStatus, WaitingReason } from "../loop/state.ts";
export { inCallOrder } from "../loop/transcript.ts";
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
  ProgressStep,
  StopReason,
  ToolResultMessage,
  UserMessage,
} from "../message/message.ts";
export { callsOf, partsOf, textOf } from "../message/message.ts";
export { idPattern, isId } from "../message/session-ref.ts";
export type { Cost, Spent, Usage } from "../message/usage.ts";
export { addCost, addSpent, addUsage, contextTokensOf } from "../message/usage.ts";
export type { ApprovalRule } from "../ports/approval-memory.ts";
export type { Clock } from "../ports/clock.ts";
export type { Notification } from "../ports/event-channel.ts";
export type { SessionHit, SessionSummary } from "../ports/session-index.ts";
export type { StandardSchema } from "../tools/standard-schema.ts";
export type { Tool } from "../tools/tool.ts";
export type { AcceptedDecision, ApprovalDecision, ApprovalPage, DecideOptions, InboxApproval, RememberRequest } from "./approval.ts";
export type { CheckedInput, CheckInputOptions } from "./checked-input.ts";
export { checkContext, checkInput, isToolResultMessage, isUserMessage } from "./checked-input.ts";
export { compareCursors, cursorAfter, decodeCursor, type EventCursor, encodeCursor } from "./cursor.ts";
export type {
  AcceptedSubmission,
  AgentSession,
  AgentSessionStatus,
  AnswerOptions,
  CompletedResult,
  ExecuteOptions,
  ExecuteResult,
  ExecuteStream,
  FailedResult,
  Followed,
  SessionFollower,
  SubmitOptions,
  WaitingResult,
} from "./execute.ts";
export { executeStatusOf } from "./execute.ts";
export type { ExecuteInput } from "./execute-input.ts";
export { type Branches, pathOf } from "./path-of.ts";
export { errorFromProblem, type Problem, type ProblemOptions, problemOf } from "./problem.ts";
export type { ScheduleFiring, ScheduleRequest, SessionSchedule } from "./schedule.ts";
export { scheduleLimits } from "./schedule.ts";
export type { OpenRun, PendingChild, RunningTool, SessionSnapshot, SnapshotMessage, WaitingInput } from "./snapshot.ts";
export { isTraceparent } from "./traceparent.ts";
