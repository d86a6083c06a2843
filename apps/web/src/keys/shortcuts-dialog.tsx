import type { ReactNode } from "react";
import { Dialog } from "../app/dialog.tsx";
import { ShortcutList } from "./shortcut-list.tsx";

/** The list of keys. */
export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <ShortcutList />
    </Dialog>
  );
}
