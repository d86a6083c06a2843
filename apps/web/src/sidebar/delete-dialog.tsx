import type { ReactNode } from "react";
import { Dialog } from "../app/dialog.tsx";

export interface DeleteDialogProps {
  readonly title: string;
  readonly onDelete: () => void;
  readonly onClose: () => void;
}

/** Asks before a conversation is gone for good. */
export function DeleteDialog({ title, onDelete, onClose }: DeleteDialogProps): ReactNode {
  return (
    <Dialog title="Delete this conversation?" onClose={onClose}>
      <p className="dialog-text">“{title}” and all its branches will be gone for good. What is running in it is stopped.</p>
      <div className="dialog-actions">
        <button type="button" className="button" data-focus onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="button danger" onClick={onDelete}>
          Delete
        </button>
      </div>
    </Dialog>
  );
}
