import type { ReactNode } from "react";
import { Icon, type IconName } from "../../app/icon.tsx";

/** The drawings for the names that tools give their steps; others have none. */
const drawings: { readonly [name: string]: IconName } = {
  WAND: "spark",
  LIGHTBULB: "thought",
  SEARCH: "search",
  GLOBE: "link",
  LINK: "link",
  FILE: "file",
  DOCUMENT: "file",
  CLOCK: "clock",
  TOOL: "tool",
  DOWNLOAD: "download",
  CHECK: "check",
};

/** The icon of a step, which its title explains. */
export function StepIcon({ icon }: { readonly icon: string | undefined }): ReactNode {
  const name = icon === undefined ? undefined : drawings[icon.toUpperCase()];
  return name === undefined ? null : (
    <span className="step-icon" data-icon={icon}>
      <Icon name={name} />
    </span>
  );
}
