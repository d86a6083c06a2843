import { AgentError } from "@loopwright/core";

/** Most bytes that a provider takes of one body. They are counted as they are read, after decompression; a `content-length` over a limit is refused unread. */
export const bodyLimits: {
  readonly errorBytes: number;
  readonly wholeBytes: number;
  readonly streamBytes: number;
} = {
  /** Of the body of an error. The rest is left unread: the beginning of an error names its cause. */
  errorBytes: 64 * 1024,
  /** Of an answer in one piece. Room for an image in base64. */
  wholeBytes: 32 * 1024 * 1024,
  /** Of a streamed answer. A hundred thousand tokens, one event each, are about 40 MiB. */
  streamBytes: 256 * 1024 * 1024,
};

/** The error for a body over a limit. `name` is the limit's. */
export function bodyTooLarge(name: keyof typeof bodyLimits | "pendingCharsMax", max: number): AgentError {
  const what = {
    errorBytes: `The body of the error is longer than ${max} bytes.`,
    wholeBytes: `The answer in one piece is longer than ${max} bytes.`,
    streamBytes: `The streamed answer is longer than ${max} bytes.`,
    pendingCharsMax: `The answer holds a line or an event of more than ${max} characters.`,
  }[name];
  return new AgentError("MODEL_PROTOCOL", {
    message: what,
    fix: "Check that the base URL leads to the vendor's API. Ask for a shorter answer if it does.",
    retryable: false,
    details: { limit: name, max },
  });
}
