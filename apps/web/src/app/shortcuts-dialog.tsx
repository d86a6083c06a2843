import type { ReactNode } from "react";
import { Dialog } from "./dialog.tsx";
import { keyLabels, localShortcuts, shortcuts } from "./shortcuts.ts";
import { isApple } from "./use-shortcuts.ts";

/** The list of keys. */
export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="shortcut-list">
        {[...localShortcuts, ...shortcuts].map(({ keys, does }) => (
          <div key={does} className="shortcut-row">
            <dt>{does}</dt>
            <dd>
              {keys.map((key, place) => (
                <span key={key} className="shortcut-keys">
                  {place > 0 ? <span className="shortcut-or">or</span> : null}
                  {keyLabels(key, isApple).map((label) => (
                    <kbd key={label} className="kbd">
                      {label}
                    </kbd>
                  ))}
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
