import { AgentError } from "@loopwright/core";
import { vendorText } from "../errors/redact.ts";

/** Whose calls a transport carries. */
export interface RedirectContext {
  /** Name for people, for example `OpenAI`. */
  readonly provider: string;
  /** Removed from the texts of errors: the key. */
  readonly secrets?: readonly string[];
}

/**
 * A transport that never follows a redirect: a redirect would take the headers with the key, and with status 307 or 308 the whole prompt, to a server
 * that was not configured. A response with such a status is thrown as MODEL_REDIRECTED, and so is one that a transport got by following the
 * redirect in spite of `redirect: "manual"`.
 */
export function withoutRedirects(transport: typeof fetch, context: RedirectContext): typeof fetch {
  return async (input, init) => {
    const response = await transport(input, { ...init, redirect: "manual" });
    // In a browser the status and the address of a redirect are hidden.
    const isRedirect = response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
    if (!isRedirect && !response.redirected) return response;
    // Best effort: the body is not needed, only its connection.
    response.body?.cancel().catch(() => undefined);
    throw redirectError(response, { ...context, url: input instanceof Request ? input.url : String(input) });
  };
}

function redirectError(response: Response, { provider, secrets, url }: RedirectContext & { readonly url: string }): AgentError {
  const { status, redirected } = response;
  // Only the origin: path and query of such an address may hold the key.
  const target = redirected ? URL.parse(response.url) : URL.parse(response.headers.get("location") ?? "", url);
  const origin = target === null || target.origin === "null" ? undefined : vendorText(target.origin, secrets);
  const where = origin === undefined ? "another address" : origin;
  return new AgentError("MODEL_REDIRECTED", {
    message: redirected
      ? `The transport for ${provider} followed a redirect to ${where}; its answer was not used.`
      : `${provider} redirected the call to ${where}${status === 0 ? "" : ` (status ${status})`}, which was not followed.`,
    details: { ...(status === 0 || redirected ? {} : { status }), ...(origin === undefined ? {} : { origin }) },
  });
}
