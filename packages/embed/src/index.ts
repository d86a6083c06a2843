/** The parts that an embedding product adds to the runtime. */
export type { AssistantMode } from "./assistant-mode.ts";
export type { ConversationMessage, ConversationView } from "./conversation-view.ts";
export type { ViewPlace } from "./conversation-views.ts";
export { type Embedding, type EmbedOptions, embedOptions } from "./embed-options.ts";
export type { Module, Modules } from "./modules.ts";
export { notificationsDialect, type TaskStatus } from "./notifications-dialect.ts";
export { type PlatformToolsOptions, platformTools, type TeamInfo } from "./platform-tools.ts";
export { type OverBudget, type PromptBudget, withBudget } from "./prompt-budget.ts";
export { activeModuleContext, compose, fromStatic, fromTeam, type TeamPrompts } from "./prompts.ts";
export { type TokenUsage, tokenUsage } from "./token-usage.ts";
export { decodeUnion, encodeUnion, type UnionEvent, unionDialect } from "./union-codec.ts";
export { type ConversationViewsOptions, withConversationViews } from "./with-conversation-views.ts";
export { withModules } from "./with-modules.ts";
