import { type ReactNode, use, useEffect, useState } from "react";
import { Icon } from "../app/icon.tsx";
import { ActionsContext } from "./actions-context.ts";

export interface CopyButtonProps {
  /** What it does, for example `Copy code`. */
  readonly label: string;
  readonly text: string;
}

const shownMs = 2000;

/** A button that copies a text and shows for a while that it did. A live region announces it. */
export function CopyButton({ label, text }: CopyButtonProps): ReactNode {
  const { copy } = use(ActionsContext);
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), shownMs);
    return () => clearTimeout(timer);
  }, [isDone]);
  return (
    <button
      type="button"
      className="icon-button small copy-button"
      aria-label={label}
      title={isDone ? "Copied" : label}
      data-state={isDone ? "done" : "ready"}
      onClick={async () => setDone(await copy(text))}
    >
      <Icon name={isDone ? "check" : "copy"} />
    </button>
  );
}
