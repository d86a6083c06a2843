import { AgentError } from "@loopwright/core";

/** The error for a 407. It is not the vendor's answer: a proxy in between wants credentials of its own, and will want them the next time too. */
export function proxyRefused(provider: string, cause: unknown): AgentError {
  return new AgentError("MODEL_UNREACHABLE", {
    message: `A proxy before ${provider} requires authentication (status 407).`,
    fix: "Put the user and the password of the proxy into its address.",
    retryable: false,
    details: { status: 407 },
    ...(cause === undefined ? {} : { cause }),
  });
}
