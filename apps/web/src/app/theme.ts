import type { KeptText } from "./kept-text.ts";

/** `system`: what the system says, followed. */
export type Theme = "system" | "light" | "dark";

/** The order in which the switch goes round. */
export const themes: readonly Theme[] = ["system", "light", "dark"];

/** The chosen theme and who wants to know of a change. `public/theme.js` sets the kept one before the first paint. */
export interface ThemeChoice {
  read(): Theme;
  choose(theme: Theme): void;
  subscribe(listener: () => void): () => void;
}

/** The choice kept in `kept`, shown on `root`. */
export function createThemeChoice(kept: KeptText, root: HTMLElement): ThemeChoice {
  const listeners = new Set<() => void>();
  let theme = themes.find((known) => known === kept.get("theme")) ?? "system";
  const show = (): void => {
    if (theme === "system") delete root.dataset["theme"];
    else root.dataset["theme"] = theme;
  };
  show();
  return {
    read: () => theme,
    choose(next) {
      theme = next;
      kept.set("theme", next === "system" ? undefined : next);
      show();
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
