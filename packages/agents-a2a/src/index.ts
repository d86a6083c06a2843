export { type RemoteAgentOptions, remoteAgent } from "./remote-agent.ts";
