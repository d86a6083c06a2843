/** The two stream versions of an orchestrator, and its blocks, over the events of sessions. */
export type { Block, BlockPolicy, BlockStep, ToolIteration } from "./blocks.ts";
export { blocksOf, toolIterationsOf } from "./blocks.ts";
export type { OrchestratorDialect, OrchestratorFrame } from "./orchestrator-dialect.ts";
export { orchestratorDialect } from "./orchestrator-dialect.ts";
export type {
  EndMessage,
  OrchestratorMessage,
  ProgressMessage,
  ReasoningMessage,
  StreamVersion,
  TextMessage,
  ToolCallsMessage,
  ToolResultMessage,
} from "./orchestrator-message.ts";
export type { SessionReader } from "./read-session.ts";
export { createSessionReader } from "./read-session.ts";
