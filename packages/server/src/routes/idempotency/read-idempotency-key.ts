import { AgentError } from "@loopwright/core";

/** The key of the request as an option; no option if there is none. @throws AgentError INPUT_INVALID */
export function idempotencyKeyOf(request: Request): { readonly idempotencyKey?: string } {
  const idempotencyKey = request.headers.get("Idempotency-Key");
  if (idempotencyKey === null || idempotencyKey === "") return {};
  if (/^[\x21-\x7e]{1,200}$/.test(idempotencyKey)) return { idempotencyKey };
  throw new AgentError("INPUT_INVALID", {
    message: "The value of `Idempotency-Key` is not a usable key.",
    fix: "Send 1 to 200 visible ASCII characters without spaces, for example a UUID.",
  });
}
