import type { ReactNode } from "react";
import { ShortcutList } from "../../keys/shortcut-list.tsx";

/** The keys of the page. */
export function KeyboardSection(): ReactNode {
  return <ShortcutList />;
}
