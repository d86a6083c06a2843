export { type McpOptions, mcpRoutes } from "./mcp-routes.ts";
export { toolAgent } from "./tool-agent.ts";
