/** The public entry point of core. */
export type { Agent, AgentModel, AgentOptions, AgentSettings } from "./agent/agent.ts";
export { createAgent } from "./agent/agent.ts";
export type { CallDeadlines } from "./agent/agent-limits.ts";
export { childAgent } from "./agent/child-agents.ts";
export type { DataPolicy, StoredTools } from "./agent/data-policy.ts";
export type {
  AcceptContext,
  AcceptVerdict,
  AnswerVerdict,
  DecideContext,
  DecideReason,
  DecideVerdict,
  FilterContext,
  FilterKind,
  GateContext,
  GateHookVerdict,
  HookContext,
  Hooks,
  HookVerdict,
  ParseContext,
  ParseVerdict,
  PrepareContext,
  PrepareVerdict,
  ReviewContext,
  ReviewVerdict,
  RunEnd,
  RunHooks,
  StreamFilter,
} from "./agent/hooks.ts";
export type { ModelQuestion, ModelRef, ProviderEntry, ResolveModel } from "./agent/model-ref.ts";
export { providerEntry } from "./agent/model-ref.ts";
export type { EffectObservation, ObservedEffect, ObservedRun, Observer } from "./agent/observer.ts";
export type { OutputSpec } from "./agent/output-spec.ts";
export type { AgentPrompt, PromptContext, PromptLayer } from "./agent/prompt-layer.ts";
export { promptLayers } from "./agent/prompt-layer.ts";
export type { AskOptions, Backend, FindAgent, Runtime, RuntimeSessionOptions } from "./agent/runtime.ts";
export type { SessionBeginning } from "./agent/session-beginning.ts";
export { hookCounts } from "./driver/effects/hook-counts.ts";
export { type HistoryOptions, readHistory, readOpening } from "./driver/log/read-event-history.ts";
export { createCallGuard } from "./driver/model/retry/call-guard.ts";
export type { CallGuardLimits } from "./driver/model/retry/call-guard-limits.ts";
export { createSession } from "./driver/session/create-session.ts";
export { execute, resume } from "./driver/session/execute.ts";
export { foldSession, type SessionFold } from "./driver/session/fold-growing-log.ts";
export type { ChildWorkers } from "./driver/setup/child-workers.ts";
export type { SessionOptions } from "./driver/setup/session-options.ts";
export type { AgentErrorOptions, ErrorClass, ErrorCode, ErrorEntry, Failure } from "./errors.ts";
export { AgentError, errorTable, failureOf, isAgentError, vendorMessageOf } from "./errors.ts";
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
} from "./loop/event.ts";
export type {
  Access,
  ApprovalVerdict,
  Decision,
  DeclaredTool,
  Expense,
  Fact,
  FactBody,
  FactDraft,
  FactOf,
  FactType,
  Hooked,
  HookPoint,
  HookState,
  InputMode,
  InputOrigin,
  Labels,
  ParentLink,
  RememberedDecision,
  Retention,
  RunBudget,
  RunOptions,
  RunStatus,
  ScheduledInput,
  Sharing,
  SharingRole,
  Spending,
  Timings,
  Verdict,
} from "./loop/fact.ts";
export { factVersion } from "./loop/fact.ts";
export type { RunLimits } from "./loop/facts/run-limits.ts";
export { defaultLimits } from "./loop/facts/run-limits.ts";
export type { CallRoute, ReplayClass, ToolHome, ToolPolicy } from "./loop/facts/tool-policy.ts";
export type { FailedAttempt, KeyOwner, ModelChain, ModelLink } from "./loop/retry/next-model-of-chain.ts";
export { linkAfter } from "./loop/retry/next-model-of-chain.ts";
export type { CallState, SessionStatus, WaitingReason } from "./loop/state.ts";
export type { Assembled, Assembler } from "./message/assemble-message.ts";
export { createAssembler, parseArguments } from "./message/assemble-message.ts";
export type { ModelChunk } from "./message/chunk.ts";
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
} from "./message/content.ts";
export type { Json, JsonFlaw, JsonObject, JsonSchema } from "./message/json.ts";
export { findJsonFlaw, jsonDepthMax } from "./message/json.ts";
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
} from "./message/message.ts";
export { callsOf, partsOf, textOf } from "./message/message.ts";
export { isTextType } from "./message/text-media-type.ts";
export type { Cost, SpentUsage, Usage } from "./message/usage.ts";
export { addCost, addUsage, contextTokensOf } from "./message/usage.ts";
export type { CallGuard, CallTarget, GuardedCall } from "./ports/call-guard.ts";
export type { Clock } from "./ports/clock.ts";
export type { EventChannel } from "./ports/event-channel.ts";
export type { IdSource } from "./ports/id-source.ts";
export type { Logger } from "./ports/logger.ts";
export type { ModelCallIo, ModelCapabilities, ModelProvider, ModelRequest, ToolChoice, ToolSpec } from "./ports/model-provider.ts";
export type { PriceTable } from "./ports/price-table.ts";
export type { SessionHit, SessionSummary } from "./ports/session-index.ts";
export type { SessionRef } from "./ports/session-log.ts";
export type { SessionStore } from "./ports/session-store.ts";
export type { TokenCounter } from "./ports/token-counter.ts";
export type { UsageLedger } from "./ports/usage-ledger.ts";
export { systemText } from "./prompt/system-text.ts";
export type { AcceptedDecision, ApprovalDecision, DecideOptions } from "./protocol/approval.ts";
export type { EventCursor } from "./protocol/cursor.ts";
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
} from "./protocol/execute.ts";
export type { ExecuteInput } from "./protocol/execute-input.ts";
export type { ScheduleFiring, ScheduleRequest, SessionSchedule } from "./protocol/schedule.ts";
export type { OpenRun, PendingChild, RunningTool, SessionSnapshot, SnapshotMessage, WaitingInput } from "./protocol/snapshot.ts";
export type { AgentToolOptions } from "./tools/agent-tool.ts";
export { agentTool } from "./tools/agent-tool.ts";
export type { ChildAgent, ChildOptions, ChildResult, SpawnChild, SpawnedChild, StartChild } from "./tools/child-agent.ts";
export type { ArgsOf, DefineTool, SimpleOutput, ToolDefinition } from "./tools/define-tool.ts";
export { createSimpleTool, defineTool, defineTools, jsonSchemaOf } from "./tools/define-tool.ts";
export type { StandardResult, StandardSchema } from "./tools/standard-schema.ts";
export type {
  ApprovalContext,
  FilesRoot,
  GateVerdict,
  NeedsResources,
  ProgressHandle,
  Tool,
  ToolApproval,
  ToolContext,
  ToolEvent,
  ToolOutput,
  ToolReturn,
} from "./tools/tool.ts";
export { refuseUnknownOptions } from "./unknown-options.ts";
