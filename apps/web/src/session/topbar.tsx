import type { ReactNode } from "react";
import { Icon } from "../app/icon.tsx";

export interface TopbarProps {
  /** Shows the list of conversations; absent while it is shown. */
  readonly onSidebar: (() => void) | undefined;
  readonly title: ReactNode;
  readonly children?: ReactNode;
}

/** The line above a conversation. */
export function Topbar({ onSidebar, title, children }: TopbarProps): ReactNode {
  return (
    <header className="topbar">
      {onSidebar ? (
        <button
          type="button"
          id="show-conversations"
          className="icon-button"
          aria-label="Show conversations"
          title="Show conversations"
          onClick={onSidebar}
        >
          <Icon name="panel" />
        </button>
      ) : null}
      <div className="topbar-title">{title}</div>
      {children}
    </header>
  );
}
