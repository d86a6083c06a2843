import type { AgentCard } from "@loopwright/client";
import type { Json, JsonObject } from "@loopwright/core/protocol";

/** What an agent can do, as its card shows it. */
export interface A2aSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Default: the id. */
  readonly tags?: readonly string[];
  readonly examples?: readonly string[];
}

export interface CardOptions {
  readonly agent: AgentCard;
  /** The address of the agent, absolute. */
  readonly url: string;
  readonly skills: readonly A2aSkill[];
  /** The version of the agent. */
  readonly version: string;
  /** Requests carry a bearer token. */
  readonly isSecured: boolean;
  /** The client reads 0.3: it describes security in other words. */
  readonly isLegacy: boolean;
}

const textMode = "text/plain";

/** The card of an agent: one that clients of 0.3 and of 1.0 read. The same agent gives the same bytes. */
export function agentCard({ agent, url, skills, version, isSecured, isLegacy }: CardOptions): JsonObject {
  const description = agent.description ?? `The agent \`${agent.name}\`.`;
  const shown = skills.length > 0 ? skills : [{ id: agent.name, name: agent.name, description }];
  return {
    ...{ name: agent.name, description, version },
    ...{ url, preferredTransport: "JSONRPC", protocolVersion: "0.3.0" },
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: [textMode, "application/json", "image/*", "application/octet-stream"],
    defaultOutputModes: [textMode, "application/json"],
    skills: shown.map(skillOf),
    ...(isSecured ? securityOf(isLegacy) : {}),
  };
}

const skillOf = ({ id, name, description, tags = [id], examples }: A2aSkill): Json => ({
  ...{ id, name, description, tags: tags.length > 0 ? [...tags] : [id] },
  ...(examples ? { examples: [...examples] } : {}),
});

function securityOf(isLegacy: boolean): JsonObject {
  if (isLegacy) return { securitySchemes: { bearer: { type: "http", scheme: "bearer" } }, security: [{ bearer: [] }] };
  return {
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "bearer" } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  };
}
