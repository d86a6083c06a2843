export { actingClients } from "./acting-clients.ts";
export { type ChatBridge, type ChatBridgeOptions, createChatBridge } from "./chat-bridge.ts";
export { type ChatMemory, openChatMemory } from "./chat-memory.ts";
export type { ChatButton, ChatFile, ChatMessage, ChatPerson, ChatPress, ChatSurface } from "./chat-surface.ts";
export { pause, type ReportProblem } from "./deliver.ts";
export { isTransient } from "./is-transient.ts";
export { type ChatPrincipal, createLinkCode, type LinkCode } from "./linked-people.ts";
export { splitMarkdown } from "./split-markdown.ts";
