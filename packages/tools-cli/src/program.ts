/** What a value may be: a path inside the working directory, one of some values, or a text that a pattern of linear time matches as a whole. */
export type ValueRule = "path" | { readonly values: readonly string[] } | { readonly pattern: string };

/** One program of the allow-list, and which arguments it may have. What is not allowed here is refused. */
export interface CliProgram {
  /** How the model calls it. `[a-zA-Z0-9_.-]{1,64}`, unique. */
  readonly name: string;
  /** Absolute path of the program. No `.bat` or `.cmd`. */
  readonly path: string;
  /** For the model: what it is for. */
  readonly description?: string;
  /** Whole argument lists, one of which a call must have. The only rule of a program that starts other programs, such as a shell or an interpreter. */
  readonly calls?: readonly (readonly string[])[];
  /** The first argument must be one of these. Absent: there is no command. */
  readonly commands?: readonly string[];
  /** By its name as it is written, with its dashes: `flag` has no value. Default: no option. */
  readonly options?: Readonly<Record<string, "flag" | ValueRule>>;
  /** Arguments that are no options: `none`, `text` (any that begins with neither `-` nor `@`), or a rule. Default `none`. */
  readonly operands?: "none" | "text" | ValueRule;
  /** How many operands. Default 16. */
  readonly operandsMax?: number;
  /** Puts `--` before the operands. Default false: some programs take it for an operand. */
  readonly doubleDash?: boolean;
  /** Names of variables that it gets. Default: none beside `PATH` and `LANG`. */
  readonly variables?: readonly string[];
  /** Whether it may use the network. Default false, where the system can refuse it. */
  readonly network?: boolean;
  /** Whether a person must allow each call. Default true. */
  readonly approval?: boolean;
}

/** What one call may use up. */
export interface CliLimits {
  /** Milliseconds until it is stopped. Default 60,000. */
  readonly durationMs: number;
  /** Bytes of output that are kept; the rest is dropped with a notice. Default 90,000: a model reads at most 100,000 characters. */
  readonly outputBytesMax: number;
  /** Bytes of output at which it is stopped: what is above `outputBytesMax` is dropped. Default 64 MiB. */
  readonly droppedBytesMax: number;
  /** Bytes of memory of each process, on Linux. Default 1 GiB. */
  readonly memoryBytesMax: number;
  /** Processes at once, on Linux. Default 64. */
  readonly processesMax: number;
  /** Files that each process has open, on Linux. Default 256. */
  readonly openFilesMax: number;
  /** Bytes of one file that it writes, on Linux. Default 100 MiB. */
  readonly fileBytesMax: number;
  /** Bytes of all files of the working directory. Default 500 MiB. */
  readonly directoryBytesMax: number;
  /** Files and folders of the working directory. Default 20,000. */
  readonly entriesMax: number;
}

const mebibyte = 1024 * 1024;

export const defaultCliLimits: CliLimits = {
  durationMs: 60_000,
  outputBytesMax: 90_000,
  droppedBytesMax: 64 * mebibyte,
  memoryBytesMax: 1024 * mebibyte,
  processesMax: 64,
  openFilesMax: 256,
  fileBytesMax: 100 * mebibyte,
  directoryBytesMax: 500 * mebibyte,
  entriesMax: 20_000,
};

/** Limits of the arguments of a call. Fixed: no program that a model calls needs more. */
export const argumentLimits: { readonly countMax: number; readonly charactersMax: number } = { countMax: 64, charactersMax: 8_192 };
