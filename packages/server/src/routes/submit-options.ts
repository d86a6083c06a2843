import type { SubmitOptions } from "@loopwright/core/protocol";
import { accessOf } from "../identity/access-of-principal.ts";
import { traceOf } from "../request/read-traceparent.ts";
import type { RequestContext } from "../request/route.ts";
import { idempotencyKeyOf } from "./idempotency/read-idempotency-key.ts";

/** The access, the idempotency key and the trace of a request, as options of a submission. @throws AgentError INPUT_INVALID for a key that cannot be used */
export function submitOptionsOf({ request, principal }: Pick<RequestContext, "request" | "principal">): SubmitOptions {
  return { ...idempotencyKeyOf(request), access: accessOf(principal), ...traceOf(request) };
}
