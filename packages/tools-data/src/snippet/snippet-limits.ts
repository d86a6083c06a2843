/** What one snippet may use up. */
export interface SnippetLimits {
  /** Milliseconds of one snippet with the loading of its tables; then it is stopped. Default 5,000. */
  readonly deadlineMs: number;
  /** Bytes of the memory of the engine, 16 MiB of which it has from the beginning. Default 64 MiB. */
  readonly memoryBytesMax: number;
  /** Bytes of its stack. Default 256 KiB. */
  readonly stackBytesMax: number;
  /** Characters of what it prints, and of its value, that are shown. Default 40,000. */
  readonly outputCharactersMax: number;
}

export const defaultSnippetLimits: SnippetLimits = {
  deadlineMs: 5_000,
  memoryBytesMax: 64 * 1024 * 1024,
  stackBytesMax: 256 * 1024,
  outputCharactersMax: 40_000,
};
