import { lazy, type ReactNode, Suspense } from "react";
import { Dialog } from "../app/dialog.tsx";
import type { ForkFormProps } from "./fork-form.tsx";

const ForkForm = lazy(async () => ({ default: (await import("./fork-form.tsx")).ForkForm }));

export interface ForkDialogProps extends ForkFormProps {
  readonly onClose: () => void;
}

/** Begins another conversation at a message. Its code comes when it is first asked for. */
export function ForkDialog({ onClose, ...form }: ForkDialogProps): ReactNode {
  return (
    <Dialog title="Fork the conversation" onClose={onClose}>
      <Suspense fallback={<span className="spinner" />}>
        <ForkForm {...form} />
      </Suspense>
    </Dialog>
  );
}
