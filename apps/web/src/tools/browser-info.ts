import type { PageTool } from "./page-tool.ts";

/** The tool `browser_info`: what the page knows of its window. */
export const browserInfo: PageTool = {
  declared: {
    name: "browser_info",
    label: "About the browser",
    description: "Tells the languages, window size, colour scheme and connection state of the user's browser.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
  },
  asksPerson: false,
  run() {
    return JSON.stringify({
      languages: navigator.languages,
      window: { width: innerWidth, height: innerHeight, pixelRatio: devicePixelRatio },
      prefersDark: matchMedia("(prefers-color-scheme: dark)").matches,
      prefersReducedMotion: matchMedia("(prefers-reduced-motion: reduce)").matches,
      isTouch: matchMedia("(pointer: coarse)").matches,
      isOnline: navigator.onLine,
    });
  },
};
