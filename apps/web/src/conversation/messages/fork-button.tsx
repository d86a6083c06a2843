import { type ReactNode, useState } from "react";
import { Icon } from "../../app/icon.tsx";

/** Begins another conversation with the messages up to this one. Pressed twice, it begins one. */
export function ForkButton({ onFork }: { readonly onFork: () => Promise<void> }): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const begin = async (): Promise<void> => {
    setBusy(true);
    await onFork();
    setBusy(false);
  };
  return (
    <button
      type="button"
      className="icon-button small"
      aria-label="Fork the conversation here"
      title="Fork the conversation here"
      disabled={isBusy}
      onClick={() => void begin()}
    >
      <Icon name="fork" />
    </button>
  );
}
