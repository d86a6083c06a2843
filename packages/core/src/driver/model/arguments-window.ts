import type { Filtering } from "../../tools/filter-inside-work.ts";
import { createTextWindow, type HoldBack, type TextWindow } from "../effects/filtered-text-window.ts";

/**
 * The JSON text of a call's arguments, passed through a filter that sees each string without escapes, as the tool gets it. The text between the
 * strings is filtered too, because it may have numbers, or may not be JSON.
 */
export function createArgumentsWindow(holdBack: HoldBack): TextWindow {
  let window = createTextWindow(holdBack);
  let isString = false;
  let escaped = "";
  let isChanged = false;

  const written = (text: string): string => (isString ? JSON.stringify(text).slice(1, -1) : text);
  function* endOne(text: string): Filtering<string> {
    const rest = written((yield* window.push(text)) + (yield* window.end()));
    isChanged ||= window.isChanged;
    window = createTextWindow(holdBack);
    return rest;
  }

  return {
    *push(text) {
      let out = "";
      let piece = "";
      for (const character of text.split("")) {
        if (escaped !== "") {
          escaped += character;
          if (!isWhole(escaped)) continue;
          piece += meantBy(escaped);
          escaped = "";
        } else if (character === '"') {
          out += `${yield* endOne(piece)}"`;
          piece = "";
          isString = !isString;
        } else if (isString && character === "\\") escaped = character;
        else piece += character;
      }
      return out + written(yield* window.push(piece));
    },
    end: () => endOne(escaped),
    get isChanged() {
      return isChanged || window.isChanged;
    },
  };
}

const isWhole = (escaped: string): boolean => escaped.length === (escaped[1] === "u" ? 6 : 2);

/** The character of an escape, or the escape itself if JSON has no such escape. */
function meantBy(escaped: string): string {
  try {
    return JSON.parse(`"${escaped}"`) as string;
  } catch {
    return escaped;
  }
}
