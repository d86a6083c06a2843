import type { ErrorCode, JsonObject } from "@loopwright/core";

/** The whole reply of the offline model, before it is cut into pieces. */
export interface OfflineReply {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: JsonObject }[];
  /** Ends the answer as a vendor's filter would. */
  readonly refusal?: string;
  /** Thrown after the text. */
  readonly failure?: { readonly code: ErrorCode; readonly message: string };
  /** Ends as if the output limit was reached. */
  readonly cutOff?: boolean;
}
