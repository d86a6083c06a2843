export { type ChatProxyOptions, chatProxy } from "./chat-proxy.ts";
export { type RemoteAgentOptions, remoteAgent } from "./remote-agent.ts";
