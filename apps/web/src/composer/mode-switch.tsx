import type { InputMode } from "@loopwright/core/protocol";
import { type ReactNode, useId } from "react";

const modes: readonly { readonly mode: InputMode; readonly name: string; readonly does: string }[] = [
  { mode: "enqueue", name: "Queue", does: "Answered after the answer that is being written" },
  { mode: "merge", name: "Merge", does: "Answered together with the message that waits last" },
  { mode: "steer", name: "Steer", does: "Joins the answer that is being written (Ctrl+Enter)" },
];

export interface ModeSwitchProps {
  readonly mode: InputMode;
  readonly onChange: (mode: InputMode) => void;
}

/** What becomes of a message that is sent while an answer is being written. */
export function ModeSwitch({ mode, onChange }: ModeSwitchProps): ReactNode {
  const name = useId();
  return (
    <fieldset className="mode-switch">
      <legend className="visually-hidden">While an answer is being written</legend>
      {modes.map((each) => (
        <label key={each.mode} className="mode" title={each.does}>
          <input type="radio" name={name} checked={mode === each.mode} onChange={() => onChange(each.mode)} />
          <span>{each.name}</span>
        </label>
      ))}
    </fieldset>
  );
}
