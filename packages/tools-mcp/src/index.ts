/** MCP servers as tools of an agent. */
export type { McpFailureReason } from "./mcp-error.ts";
export { defaultMcpLimits, type McpLimits } from "./mcp-limits.ts";
export type { McpHttpServer, McpPlace, McpServer, McpStdioServer, McpValue } from "./mcp-server.ts";
export { type McpSurvey, type McpTools, type McpToolsOptions, mcpTools } from "./mcp-tools.ts";
export type { OfferedTool } from "./offered-tool.ts";
export { type OAuthInSecretsOptions, oauthInSecrets } from "./sign-in.ts";
