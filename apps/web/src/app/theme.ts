import type { KeptText } from "./kept-text.ts";
import { createWatched, type Watched } from "./watched.ts";

/** `system`: follows the setting of the system. */
export type Theme = "system" | "light" | "dark";

/** The order in which the switch goes round. */
export const themes: readonly Theme[] = ["system", "light", "dark"];

/** The chosen theme and its listeners. `public/theme.js` sets the kept one before the first paint. */
export interface ThemeChoice extends Watched<Theme> {
  choose(theme: Theme): void;
}

/** The choice kept in `kept`, shown on `root`. */
export function createThemeChoice(kept: KeptText, root: { readonly dataset: DOMStringMap }): ThemeChoice {
  const { read, subscribe, put } = createWatched(themes.find((known) => known === kept.get("theme")) ?? "system");
  const show = (theme: Theme): void => {
    if (theme === "system") delete root.dataset["theme"];
    else root.dataset["theme"] = theme;
  };
  show(read());
  return {
    read,
    subscribe,
    choose(theme) {
      kept.set("theme", theme === "system" ? undefined : theme);
      show(theme);
      put(theme);
    },
  };
}
