import { cutPosition } from "../../message/well-formed-text.ts";
import type { Filtering } from "../../tools/filter-inside-work.ts";

/** Filters a text that arrives in pieces. It holds the newest text back unfiltered, so that the filter sees a match that spans several pieces as a whole. */
export interface TextWindow {
  /** Adds text; returns the filtered text that may be shown now. */
  push(text: string): Filtering<string>;
  /** The filtered rest; called when the text is complete. */
  end(): Filtering<string>;
  /** True if the filter has changed any text that was returned so far. */
  readonly isChanged: boolean;
}

/** How many characters at the end are held back: a number, or a function of the held text. */
export type HoldBack = number | ((text: string) => number);

/**
 * Holds back the last `holdBack` characters. If a match spans that position, it holds back more: the text is cut only where the two filtered halves
 * together equal the filtered whole.
 */
export function createTextWindow(holdBack: HoldBack): TextWindow {
  let raw = "";
  let isChanged = false;

  const show = (head: string, shown: string): string => {
    raw = raw.slice(head.length);
    isChanged ||= shown !== head;
    return shown;
  };

  return {
    *push(text) {
      raw += text;
      const held = typeof holdBack === "number" ? holdBack : Math.min(holdBack(raw), raw.length);
      const most = cutPosition(raw, raw.length - held);
      if (most <= 0) return "";
      const whole = yield raw;
      if (whole === raw) return show(raw.slice(0, most), raw.slice(0, most));
      for (let cut = most; cut > 0 && cut >= most - reachOf(holdBack, raw); cut = cutPosition(raw, cut - 1)) {
        const shown = yield raw.slice(0, cut);
        if (cut === raw.length || whole === shown + (yield raw.slice(cut))) return show(raw.slice(0, cut), shown);
      }
      // There is no such cut: a match is longer than the window, or the filter depends on more context. The text must not be held back for ever.
      return raw.length > heldMaxOf(holdBack) ? show(raw.slice(0, most), yield raw.slice(0, most)) : "";
    },
    *end() {
      return raw === "" ? "" : show(raw, yield raw);
    },
    get isChanged() {
      return isChanged;
    },
  };
}

/** While no position for a cut is found, at most this many times `holdBack + 1` characters are held back. */
const windowsMax = 4;
/** The same limit in characters, for a `holdBack` that is a function. */
const heldMax = 16 * 1024;
/** If `holdBack` is a function, a cut is searched in this many characters before the held-back text: few, because the function chose the position. */
const askedReach = 64;

const heldMaxOf = (holdBack: HoldBack): number => (typeof holdBack === "number" ? windowsMax * (holdBack + 1) : heldMax);
const reachOf = (holdBack: HoldBack, raw: string): number => (typeof holdBack === "number" ? holdBack : Math.min(askedReach, raw.length));
