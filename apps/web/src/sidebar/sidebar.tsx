import type { SessionSummary } from "@loopwright/core/protocol";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { Icon, Sign } from "../app/icon.tsx";
import { hashOf } from "../app/route.ts";
import { useServices } from "../app/services.ts";
import { ThemeSwitch } from "../app/theme-switch.tsx";
import { goTo } from "../app/use-route.ts";
import { useWatched } from "../app/use-watched.ts";
import { inertText } from "../conversation/markdown/plain-text.tsx";
import { keyLabels } from "../keys/shortcuts.ts";
import { isApple } from "../keys/use-shortcuts.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { SessionGroups } from "./session-groups.tsx";
import { TeamSwitch } from "./team-switch.tsx";
import { WaitingLink } from "./waiting-link.tsx";

export interface SidebarProps {
  readonly currentId: string | undefined;
  readonly onShortcuts: () => void;
  /** Something was chosen: a drawer closes. */
  readonly onChosen: () => void;
  readonly onHide: () => void;
}

/** The list of conversations: search, open, rename, export, delete. */
export function Sidebar({ currentId, onShortcuts, onChosen, onHide }: SidebarProps): ReactNode {
  const { list, notices } = useServices();
  const query = useWatched(list, (state) => state.query);
  const [doomed, setDoomed] = useState<SessionSummary>();

  const remove = (session: SessionSummary): void => {
    setDoomed(undefined);
    if (session.id === currentId) goTo({ name: "new" }, { replace: true });
    list.remove(session.id).then(() => notices.say("Conversation deleted"), notices.fail);
  };

  return (
    <>
      <div className="sidebar-head">
        <a className="brand" href={hashOf({ name: "new" })} onClick={onChosen}>
          <Sign />
          Loopwright
        </a>
        <button
          type="button"
          id="hide-conversations"
          className="icon-button"
          aria-label="Hide conversations"
          title="Hide conversations"
          onClick={onHide}
        >
          <Icon name="panel" />
        </button>
      </div>
      <div className="sidebar-tools">
        <a className="button new-button" href={hashOf({ name: "new" })} onClick={onChosen}>
          <Icon name="plus" />
          New conversation
        </a>
        <search className="search">
          <Icon name="search" />
          <input
            id="search"
            type="search"
            className="field"
            aria-label="Search conversations"
            placeholder="Search"
            value={query}
            onChange={({ currentTarget }) => list.search(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Escape" || query === "") return;
              event.preventDefault();
              event.stopPropagation();
              list.search("");
            }}
          />
        </search>
      </div>
      <TeamSwitch />
      <WaitingLink onFollowed={onChosen} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrows are a shorter way between links that Tab reaches too. */}
      <div className="sidebar-list" onKeyDown={moveFocus}>
        <SessionGroups currentId={currentId} onDelete={setDoomed} onFollowed={onChosen} />
      </div>
      <div className="sidebar-foot">
        <ThemeSwitch />
        <button type="button" className="icon-button" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick={onShortcuts}>
          <Icon name="keyboard" />
        </button>
        <a
          className="icon-button"
          href={hashOf({ name: "settings" })}
          aria-label="Settings"
          title={`Settings (${keyLabels("Mod+,", isApple).join(isApple ? "" : "+")})`}
          onClick={onChosen}
        >
          <Icon name="settings" />
        </a>
      </div>
      {doomed ? (
        <DeleteDialog
          title={inertText(doomed.title || "New conversation")}
          onDelete={() => remove(doomed)}
          onClose={() => setDoomed(undefined)}
        />
      ) : null}
    </>
  );
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || event.altKey || !(event.target instanceof HTMLElement) || !event.target.matches(".session-link")) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>(".session-link")];
  event.preventDefault();
  links[links.indexOf(event.target) + step]?.focus();
}
