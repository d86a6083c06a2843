/** What the files of one directory may use up, and how much a call may read. */
export interface FileLimits {
  /** Bytes of one file that is created. Default 10 MiB. */
  readonly fileBytesMax: number;
  /** Bytes of all files together. Default 100 MiB. */
  readonly totalBytesMax: number;
  /** Files and folders together. Default 2,000. */
  readonly entriesMax: number;
  /** Bytes of a file that can still be read. Default 100 MiB. */
  readonly readableBytesMax: number;
  /** Characters that one read gives back; below the 100,000 that reach the model. Default 90,000. */
  readonly readCharactersMax: number;
  /** Lines that one read gives back. Default 5,000. */
  readonly readLinesMax: number;
  /** Entries that one list gives back. Default 500. */
  readonly listEntriesMax: number;
}

export const defaultFileLimits: FileLimits = {
  fileBytesMax: 10 * 1024 * 1024,
  totalBytesMax: 100 * 1024 * 1024,
  entriesMax: 2_000,
  readableBytesMax: 100 * 1024 * 1024,
  readCharactersMax: 90_000,
  readLinesMax: 5_000,
  listEntriesMax: 500,
};

/** Limits of a path. Fixed: a path must be usable on every platform alike. */
export const pathLimits: { readonly charactersMax: number; readonly levelsMax: number; readonly nameBytesMax: number } = {
  charactersMax: 1_024,
  levelsMax: 32,
  nameBytesMax: 255,
};
