import { type ReactNode, useEffect, useId, useRef } from "react";
import { Icon } from "./icon.tsx";

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly wide?: boolean;
}

/**
 * A modal dialog as long as it is rendered: the browser keeps the focus inside, Escape and the backdrop close it. The focus begins at what
 * carries `data-focus`, else at the title.
 */
export function Dialog({ title, onClose, children, wide = false }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    if (element && !element.open) {
      element.showModal();
      const first = element.querySelector<HTMLElement>("[data-focus]") ?? element.querySelector<HTMLElement>("h2");
      first?.focus();
    }
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is on the backdrop; the keyboard has Escape.
    <dialog
      ref={dialog}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current && isOutside(dialog.current, event)) onClose();
      }}
    >
      <div className="dialog-head">
        <h2 className="dialog-title" id={titleId} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  );
}

function isOutside(element: HTMLElement, { clientX, clientY }: { readonly clientX: number; readonly clientY: number }): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}
