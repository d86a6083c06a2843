import { type ReactNode, useSyncExternalStore } from "react";
import { Icon } from "./icon.tsx";
import type { Notices } from "./notices.ts";
import { ProblemNote } from "./problem-note.tsx";

/** The notices at the lower edge; read out without taking the focus. */
export function NoticeList({ notices }: { readonly notices: Notices }): ReactNode {
  const shown = useSyncExternalStore(notices.subscribe, notices.read);
  return (
    <div className="notices" role="status" aria-label="Notices">
      {shown.map(({ id, text, error }) =>
        error ? (
          <ProblemNote key={id} error={error}>
            <button type="button" className="button small" onClick={() => notices.dismiss(id)}>
              Dismiss
            </button>
          </ProblemNote>
        ) : (
          <p key={id} className="notice">
            <Icon name="check" />
            {text}
          </p>
        ),
      )}
    </div>
  );
}
