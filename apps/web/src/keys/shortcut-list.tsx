import type { ReactNode } from "react";
import { keyLabels, localShortcuts, shortcuts } from "./shortcuts.ts";
import { isApple } from "./use-shortcuts.ts";

/** What each key does, as it is written on the keyboard at hand. */
export function ShortcutList(): ReactNode {
  return (
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
  );
}
