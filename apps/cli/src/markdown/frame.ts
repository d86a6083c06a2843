import type { Style } from "../terminal/style.ts";

/** Where Markdown is drawn. */
export interface Frame {
  /** Columns. */
  readonly width: number;
  readonly style: Style;
}
