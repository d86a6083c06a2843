/**
 * How a value is written: `names` with commas between them, `list` by repeating the flag, `models` as `provider:model` with commas between them, `file` as
 * a path or as a switch that means the usual path, `servers` as a path or, in the file, as MCP servers by their names.
 */
export type OptionKind = "text" | "names" | "list" | "models" | "switch" | "file" | "number" | "choice" | "http" | "redis" | "servers";

/** One option. */
export interface ConfigOption {
  /** The name of its value. */
  readonly name: string;
  readonly kind: OptionKind;
  /** As commander reads it. Absent: it has no flag. */
  readonly flag?: string;
  readonly variable?: string;
  /** Its place in `loopwright.yaml`. Absent: the file does not take it. */
  readonly key?: string;
  /** The commands that have its flag: those that choose a model, those of several processes, or `run`. */
  readonly commands: "shared" | "linked" | "run";
  readonly text: string;
  /** What holds where nothing is given, for people. */
  readonly fallback?: string;
  readonly values?: readonly string[];
  readonly range?: readonly [min: number, max: number];
  /** Its value is never printed, and the file does not take it. */
  readonly isSecret?: true;
}
