import { lazy, type ReactNode, Suspense } from "react";
import { Dialog } from "../app/dialog.tsx";

const SessionSchedules = lazy(async () => ({ default: (await import("./session-schedules.tsx")).SessionSchedules }));

export interface SchedulesDialogProps {
  readonly sessionId: string;
  readonly onClose: () => void;
}

/** The schedules of a conversation. Its code comes when it is first asked for. */
export function SchedulesDialog({ sessionId, onClose }: SchedulesDialogProps): ReactNode {
  return (
    <Dialog title="Schedules" wide onClose={onClose}>
      <Suspense fallback={<span className="spinner" />}>
        <SessionSchedules sessionId={sessionId} />
      </Suspense>
    </Dialog>
  );
}
