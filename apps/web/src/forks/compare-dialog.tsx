import { lazy, type ReactNode, Suspense } from "react";
import { Dialog } from "../app/dialog.tsx";
import type { ComparisonProps } from "./comparison.tsx";

const Comparison = lazy(async () => ({ default: (await import("./comparison.tsx")).Comparison }));

export interface CompareDialogProps extends ComparisonProps {
  readonly onClose: () => void;
}

/** The first message in which a conversation and another one differ. Its code comes when it is first asked for. */
export function CompareDialog({ onClose, ...comparison }: CompareDialogProps): ReactNode {
  return (
    <Dialog title="Compare conversations" wide onClose={onClose}>
      <Suspense fallback={<span className="spinner" />}>
        <Comparison {...comparison} />
      </Suspense>
    </Dialog>
  );
}
