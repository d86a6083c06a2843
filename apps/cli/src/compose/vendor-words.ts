import type { AgentError } from "@loopwright/core";
import type { Logger } from "@loopwright/core/ports";

/** Messages of vendors about calls that they refused. The person at the terminal is the operator of a session that runs in this process. */
export interface VendorWords {
  /** For the session; writes nothing. */
  readonly logger: Logger;
  /** The vendor's message about this failure, the last of the session; `undefined` where it gave none. */
  of(failure: Pick<AgentError, "message">): string | undefined;
}

export function createVendorWords(): VendorWords {
  let last: { readonly error: unknown; readonly vendorMessage: string } | undefined;
  return {
    logger: {
      log(_level, _message, { error, vendorMessage } = {}) {
        if (typeof vendorMessage === "string") last = { error, vendorMessage };
      },
    },
    of: ({ message }) => (last?.error === message ? last.vendorMessage : undefined),
  };
}
