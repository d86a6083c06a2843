/** The limits of tools and of what they return, with their defaults. */
export const toolLimits: {
  readonly timeoutMs: number;
  readonly clientTimeoutMs: number;
  readonly outputMax: number;
  readonly errorTextMax: number;
  readonly problemIssuesMax: number;
  readonly problemTextMax: number;
  readonly detailsTextMax: number;
  readonly mediaTextMax: number;
  readonly jsonNodesMax: number;
  readonly eventCountMax: number;
  readonly deltaTextMax: number;
} = {
  /** One attempt of a server tool, in milliseconds. */
  timeoutMs: 120_000,
  /** How long a run waits for a client tool; 0: for ever. */
  clientTimeoutMs: 0,
  /** Characters of output that reach the model. */
  outputMax: 100_000,
  /** Characters of an error's text, for the model and in the log. */
  errorTextMax: 2_000,
  /** Listed issues of arguments that do not match the schema. */
  problemIssuesMax: 10,
  /** Characters of that list. */
  problemTextMax: 2_000,
  /** Characters of `details` as JSON text. */
  detailsTextMax: 1_000_000,
  /** Base64 characters of all images and files of one output. */
  mediaTextMax: 20_000_000,
  /** Objects, arrays and plain values of one output. */
  jsonNodesMax: 1_000_000,
  /** Events of one streaming tool: a generator that never pauses would otherwise never let a timer fire. */
  eventCountMax: 1_000_000,
  /** Characters that one streaming tool may yield, kept or not. */
  deltaTextMax: 64_000_000,
};
