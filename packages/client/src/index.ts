// What a program reads, sends and names, so that it needs one import.
export {
  type AgentEvent,
  type ApprovalDecision,
  type AssistantMessage,
  type DurableEvent,
  type ExecuteInput,
  type ExecuteResult,
  type ExecuteStream,
  isAgentError,
  type Message,
  type Notification,
  type PendingApproval,
  type PendingToolCall,
  type SessionEvent,
  type SessionHit,
  type SessionSnapshot,
  type SessionSummary,
  type ToolResultMessage,
} from "@loopwright/core/protocol";
export type { ApprovalRequests } from "./approval-requests.ts";
export type { ClientOptions } from "./client-context.ts";
export {
  type AgentCard,
  type AgentLimits,
  type CallerAccess,
  createClient,
  type KnownDocument,
  type ListedFile,
  type LoopwrightClient,
  type ToolCard,
  type UploadedFile,
} from "./create-client.ts";
export type { ClientExecuteOptions } from "./execute/remote-execution.ts";
export type { ClientClock } from "./platform.ts";
export type {
  ExportedSession,
  FoundSessions,
  InputFields,
  ListOptions,
  NewFork,
  NewSession,
  PageOptions,
  RequestOptions,
  SessionContext,
  SessionRequests,
} from "./session-requests.ts";
export type {
  ChangedProvider,
  NewProvider,
  OwnProvider,
  OwnSettings,
  ProviderChoice,
  ProviderRequests,
  ProviderTest,
  ScopeRetention,
  SettingsRequests,
  UserPlan,
} from "./settings-requests.ts";
export type { NotificationEvent, NotificationsOptions } from "./stream/follow-notifications.ts";
export type { FollowedEvent, FollowOptions } from "./stream/follow-session.ts";
export type { ConnectionState } from "./stream/watch.ts";
export { applyEvents } from "./view/apply-events.ts";
export { type DoubtfulHost, doubtfulHosts } from "./view/doubtful-hosts.ts";
export type {
  SessionView,
  ViewAnswer,
  ViewCall,
  ViewEnd,
  ViewMessage,
  ViewPart,
  ViewProgress,
  ViewRun,
  ViewVerdict,
} from "./view/session-view.ts";
export { latestBelow, siblingsOf, versionsOf } from "./view/versions-of.ts";
export { viewOf } from "./view/view-of.ts";
