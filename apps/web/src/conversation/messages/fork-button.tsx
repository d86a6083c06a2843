import type { ReactNode } from "react";
import { Icon } from "../../app/icon.tsx";

/** Asks how another conversation with the messages up to this one begins. */
export function ForkButton({ onFork }: { readonly onFork: () => void }): ReactNode {
  return (
    <button
      type="button"
      className="icon-button small"
      aria-label="Fork the conversation here"
      title="Fork the conversation here"
      onClick={onFork}
    >
      <Icon name="fork" />
    </button>
  );
}
