import { type ReactNode, useEffect, useRef } from "react";
import { Icon } from "../app/icon.tsx";
import { hashOf } from "../app/route.ts";
import { useShortcuts } from "../keys/use-shortcuts.ts";
import { Topbar } from "../session/topbar.tsx";
import { SectionPlace } from "./section-place.tsx";
import { useOfferedSections } from "./use-offered-sections.ts";
import "./settings.css";

export interface SettingsScreenProps {
  /** The section that the address names. Undefined, or unknown: the first, and where there is no room for both, the list alone. */
  readonly sectionId: string | undefined;
  readonly onSidebar: (() => void) | undefined;
  readonly onClose: () => void;
}

/** The settings: a list of sections, and the open one beside it; on narrow screens one of the two. */
export function SettingsScreen({ sectionId, onSidebar, onClose }: SettingsScreenProps): ReactNode {
  const sections = useOfferedSections();
  const chosen = sections.find(({ id }) => id === sectionId);
  const shown = chosen ?? sections[0];
  const place = useRef<HTMLDivElement>(null);
  useShortcuts({ stop: onClose });
  const chosenId = chosen?.id;
  const title = chosen?.title;
  useEffect(() => {
    document.title = title === undefined ? "Settings · Loopwright" : `${title} · Settings · Loopwright`;
    // The heading of what was asked for: a screen reader reads it, and Tab continues inside.
    const target = chosenId === undefined ? `[aria-current="page"], .settings-list a` : "[data-section-title]";
    place.current?.querySelector<HTMLElement>(target)?.focus();
  }, [chosenId, title]);
  return (
    <div className="screen">
      <Topbar onSidebar={onSidebar} title={<h1>Settings</h1>}>
        <button type="button" className="icon-button" aria-label="Close settings" title="Close settings (Esc)" onClick={onClose}>
          <Icon name="close" />
        </button>
      </Topbar>
      <div ref={place} className="settings" data-open={chosen ? "section" : "list"}>
        <nav className="settings-list" aria-label="Settings">
          <ul>
            {sections.map(({ id, title: name, icon }) => (
              <li key={id}>
                <a href={hashOf({ name: "settings", sectionId: id })} aria-current={shown?.id === id ? "page" : undefined}>
                  <Icon name={icon} />
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="settings-place">
          <a className="settings-back" href={hashOf({ name: "settings" })}>
            <Icon name="left" />
            All settings
          </a>
          {shown ? <SectionPlace key={shown.id} section={shown} /> : null}
        </div>
      </div>
    </div>
  );
}
