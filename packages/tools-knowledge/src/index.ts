/** Knowledge for agents: texts, files and chats, searched by words and by meaning. */
export type { FoundPassage, Knowledge, KnowledgeOptions, KnowledgePlace, NewDocument, SearchResult } from "./knowledge.ts";
export { chatbotCollection, createKnowledge, sessionCollection, sharedCollection } from "./knowledge.ts";
export { defaultKnowledgeLimits, type KnowledgeLimits } from "./knowledge-limits.ts";
export { type KnowledgeCaller, type KnowledgeRoute, type KnowledgeRoutesOptions, knowledgeRoutes } from "./knowledge-routes.ts";
export type { DocumentKind, KnowledgeDocument, KnowledgeStore, PassageHit, SearchPlace, StoredPassage } from "./store/knowledge-store.ts";
export { memoryKnowledgeStore } from "./store/memory-knowledge-store.ts";
export { type SqliteKnowledgeOptions, sqliteKnowledgeStore } from "./store/sqlite-knowledge-store.ts";
export type { DocumentContent } from "./text/passages-of.ts";
export type { Chatbot, Chatbots } from "./tools/chatbot-tool.ts";
export { knowledgeHooks } from "./tools/knowledge-hooks.ts";
export { type KnowledgeToolEntry, type KnowledgeTools, type KnowledgeToolsOptions, knowledgeTools } from "./tools/knowledge-tools.ts";
export { type RagArguments, type RagOutput, type RagToolOptions, ragTool, type ShownPassage } from "./tools/rag-tool.ts";
export { withSessionDocuments } from "./with-session-documents.ts";
