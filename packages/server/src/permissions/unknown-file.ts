import { AgentError } from "@loopwright/core";

/** The same for a file that is not there and for one of another scope. */
export const unknownFile = (name: string): AgentError =>
  new AgentError("BLOB_UNKNOWN", { message: `There is no file \`${name.slice(0, 80)}\`.` });
