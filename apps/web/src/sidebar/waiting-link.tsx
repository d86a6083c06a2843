import type { ReactNode } from "react";
import { Icon } from "../app/icon.tsx";
import { hashOf } from "../app/route.ts";
import { useServices } from "../app/services.ts";
import { useWatched } from "../app/use-watched.ts";

/** How many calls of the listed conversations wait for a decision, and the way to them; nothing where none does. */
export function WaitingLink({ onFollowed }: { readonly onFollowed: () => void }): ReactNode {
  const { list } = useServices();
  const count = useWatched(list, ({ sessions }) => sessions.reduce((sum, { pendingApprovals = 0 }) => sum + pendingApprovals, 0));
  if (count === 0) return null;
  return (
    <a className="waiting-link" href={hashOf({ name: "settings", sectionId: "approvals" })} onClick={onFollowed}>
      <Icon name="check" />
      {count === 1 ? "1 call waits for you" : `${count} calls wait for you`}
    </a>
  );
}
