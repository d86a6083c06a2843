/** A text that comes in pieces and is shown through a filter. What is held back is raw, so the filter judges a match as a whole. */
export interface TextWindow {
  /** What may be shown now. */
  push(text: string): string;
  /** The rest, when the text is complete. */
  end(): string;
  /** The filter has changed something of what was shown. */
  readonly isChanged: boolean;
}

/**
 * Holds the last `holdBack` characters back, and more where a match stands across that place: a text is parted only where the filter makes the
 * same of both halves as of the whole.
 */
export function createTextWindow(filter: (text: string) => string, holdBack: number): TextWindow {
  let raw = "";
  let isChanged = false;

  const show = (head: string, shown: string): string => {
    raw = raw.slice(head.length);
    isChanged ||= shown !== head;
    return shown;
  };

  return {
    push(text) {
      raw += text;
      const most = parting(raw, raw.length - holdBack);
      if (most <= 0) return "";
      const whole = filter(raw);
      if (whole === raw) return show(raw.slice(0, most), raw.slice(0, most));
      for (let cut = most; cut > 0 && cut >= most - holdBack; cut = parting(raw, cut - 1)) {
        const shown = filter(raw.slice(0, cut));
        if (cut === raw.length || whole === shown + filter(raw.slice(cut))) return show(raw.slice(0, cut), shown);
      }
      // No place fits: a match longer than the window, or a filter that looks at more than matches. It must not hold the text for ever.
      return raw.length > windowsMax * (holdBack + 1) ? show(raw.slice(0, most), filter(raw.slice(0, most))) : "";
    },
    end: () => (raw === "" ? "" : show(raw, filter(raw))),
    get isChanged() {
      return isChanged;
    },
  };
}

/** How many windows of text wait for a place to part at. */
const windowsMax = 4;

/** The place, or the one before it where it would part a surrogate pair. */
function parting(text: string, at: number): number {
  const last = text.charCodeAt(at - 1);
  return last >= 0xd800 && last <= 0xdbff ? at - 1 : at;
}
