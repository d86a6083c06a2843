import type { MessageId } from "@loopwright/core/protocol";
import { type ReactNode, use } from "react";
import { Icon } from "../../app/icon.tsx";
import { ActionsContext } from "../actions-context.ts";

export interface VersionSwitchProps {
  readonly id: MessageId;
  readonly versions: readonly MessageId[];
}

/** Goes through the versions of a message. Nothing for a message that has one. */
export function VersionSwitch({ id, versions }: VersionSwitchProps): ReactNode {
  const { selectBranch } = use(ActionsContext);
  if (versions.length < 2) return null;
  const place = versions.indexOf(id);
  const [before, after] = [versions[place - 1], versions[place + 1]];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a field set is for fields
    <span className="version-switch" role="group" aria-label={`Version ${place + 1} of ${versions.length}`}>
      <button
        type="button"
        className="icon-button small"
        aria-label="Previous version"
        title="Previous version"
        disabled={before === undefined}
        onClick={() => before !== undefined && void selectBranch(before)}
      >
        <Icon name="left" />
      </button>
      <span aria-hidden="true">
        {place + 1}/{versions.length}
      </span>
      <button
        type="button"
        className="icon-button small"
        aria-label="Next version"
        title="Next version"
        disabled={after === undefined}
        onClick={() => after !== undefined && void selectBranch(after)}
      >
        <Icon name="right" />
      </button>
    </span>
  );
}
