import { type ReactNode, useEffect, useRef } from "react";

export interface RenameFieldProps {
  readonly title: string;
  /** Not called when the title stays as it was. */
  readonly onRename: (title: string) => void;
  readonly onDone: () => void;
}

/** A title being written: Enter and leaving keep it, Escape does not. */
export function RenameField({ title, onRename, onDone }: RenameFieldProps): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  useEffect(() => field.current?.select(), []);

  const end = (isKept: boolean): void => {
    if (isOver.current) return;
    isOver.current = true;
    const next = field.current?.value.trim() ?? "";
    if (isKept && next !== "" && next !== title) onRename(next);
    onDone();
  };
  return (
    <input
      ref={field}
      className="field rename"
      aria-label="Title of the conversation"
      defaultValue={title}
      maxLength={200}
      onBlur={() => end(true)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.nativeEvent.isComposing) return;
        if (event.key === "Enter") end(true);
        if (event.key === "Escape") end(false);
      }}
    />
  );
}
