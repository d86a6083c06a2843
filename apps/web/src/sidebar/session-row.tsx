import type { SessionSummary } from "@loopwright/core/protocol";
import { type ReactNode, useState } from "react";
import { MenuButton } from "../app/menu-button.tsx";
import { hashOf } from "../app/route.ts";
import { useServices } from "../app/services.ts";
import { inertText } from "../conversation/markdown/plain-text.tsx";
import { SchedulesDialog } from "../schedules/schedules-dialog.tsx";
import { RenameField } from "./rename-field.tsx";
import { sessionMenu } from "./session-menu.ts";

export interface SessionRowProps {
  readonly session: SessionSummary;
  readonly isCurrent: boolean;
  /** The piece of text that a search found. */
  readonly excerpt?: string;
  readonly onDelete: (session: SessionSummary) => void;
  readonly onFollowed: () => void;
}

/** One conversation of the list. */
export function SessionRow({ session, isCurrent, excerpt, onDelete, onFollowed }: SessionRowProps): ReactNode {
  const services = useServices();
  const [isRenaming, setRenaming] = useState(false);
  const [showsSchedules, setShowsSchedules] = useState(false);
  const title = inertText(session.title || "New conversation");
  if (isRenaming) {
    return (
      <li className="session-row">
        <RenameField
          title={title}
          onRename={(next) => services.list.rename(session.id, next).catch(services.notices.fail)}
          onDone={() => setRenaming(false)}
        />
      </li>
    );
  }
  const standing = standingOf(session);
  return (
    <li className="session-row" data-current={isCurrent}>
      <a
        className="session-link"
        href={hashOf({ name: "session", sessionId: session.id })}
        {...(isCurrent ? { "aria-current": "page" as const } : {})}
        onClick={onFollowed}
        onKeyDown={(event) => {
          if (event.key === "F2") {
            event.preventDefault();
            event.stopPropagation();
            setRenaming(true);
          }
          if (event.key === "Delete") onDelete(session);
        }}
      >
        <span className="session-title">{title}</span>
        {standing ? (
          <span className="session-standing" data-standing={standing.name} title={standing.label}>
            <span className="visually-hidden">, {standing.label}</span>
          </span>
        ) : null}
        {excerpt ? <span className="session-excerpt">{inertText(excerpt)}</span> : null}
      </a>
      <MenuButton
        label={`Actions for ${title}`}
        className="icon-button session-menu"
        items={sessionMenu({
          services,
          sessionId: session.id,
          onRename: () => setRenaming(true),
          onSchedules: () => setShowsSchedules(true),
          onDelete: () => onDelete(session),
        })}
      />
      {showsSchedules ? <SchedulesDialog sessionId={session.id} onClose={() => setShowsSchedules(false)} /> : null}
    </li>
  );
}

interface Standing {
  readonly name: "running" | "waiting" | "failed";
  readonly label: string;
}

function standingOf({ status, lastRun }: SessionSummary): Standing | undefined {
  if (status === "running") return { name: "running", label: "answering" };
  if (status === "waiting") return { name: "waiting", label: "waiting for you" };
  return lastRun?.status === "failed" ? { name: "failed", label: "the last answer failed" } : undefined;
}
