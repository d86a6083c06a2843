/** Zod schemas of the types of `@loopwright/core/protocol`, for programs that check or document requests, responses and events. */
export { type CallerAccess, callerAccess, type TicketAnswer, ticketAnswer } from "./access.ts";
export { type AgentLimits, type AgentList, type AgentSummary, agentList, type ToolSummary, toolSummary } from "./agents.ts";
export {
  acceptedDecision,
  approvalPage,
  type DecisionAnswer,
  type DecisionRequest,
  decisionRequest,
  pendingApproval,
  type RuleList,
  ruleList,
} from "./approval.ts";
export { assistantPart, cost, resultPart, toolCallPart, usage, userPart } from "./content.ts";
export { durableEvent, ephemeralEvent, transportEvent } from "./event.ts";
export { executeComplete, notification, type StreamFrame, streamFrame } from "./frame.ts";
export {
  declaredTool,
  executeInput,
  inputMode,
  type LabelledOptions,
  type RequestOptions,
  requestOptions,
  runOptions,
  type SessionContext,
  sessionContext,
} from "./input.ts";
export { json, jsonObject } from "./json.ts";
export { assistantMessage, callOutcome, message, toolResultMessage, userMessage } from "./message.ts";
export { problem } from "./problem.ts";
export {
  type AbortRequest,
  abortRequest,
  type ChangeSessionRequest,
  changeSessionRequest,
  type ExecuteRequest,
  executeRequest,
  type ForkRequest,
  forkRequest,
  type HoldRequest,
  holdRequest,
  type MessageRequest,
  messageRequest,
  type NewSessionRequest,
  newSessionRequest,
  type ToolResultsRequest,
  toolResultsRequest,
} from "./requests.ts";
export {
  removedSchedule,
  type ScheduleList,
  type ScheduleRequest,
  scheduleList,
  scheduleRequest,
  sessionSchedule,
} from "./schedule.ts";
export {
  acceptedSubmission,
  errorCode,
  pendingToolCall,
  type SessionExport,
  type SubmissionAnswer,
  sessionExport,
  sessionHit,
  sessionSnapshot,
  sessionSummary,
  sharing,
} from "./session.ts";
