/** A program of one's own that answers in place of a model. */
export { readSubprocess, type SubprocessFile } from "./read-subprocess.ts";
export { type SubprocessOptions, subprocess } from "./subprocess.ts";
