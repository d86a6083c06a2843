import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];

/** Puts styles on text, or leaves it plain. */
export interface Style {
  readonly color: boolean;
  bold(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  strike(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
  magenta(text: string): string;
}

/** Styles by ANSI codes, or none without `color`. */
export function createStyle(color: boolean): Style {
  const by =
    (format: Format) =>
    (text: string): string =>
      color && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  return {
    color,
    bold: by("bold"),
    italic: by("italic"),
    underline: by("underline"),
    strike: by("strikethrough"),
    dim: by("dim"),
    red: by("red"),
    green: by("green"),
    yellow: by("yellow"),
    cyan: by("cyan"),
    magenta: by("magenta"),
  };
}
