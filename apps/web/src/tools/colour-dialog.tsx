import { type ReactNode, useState } from "react";
import { Dialog } from "../app/dialog.tsx";
import type { ColourQuestion } from "./page-tool.ts";

export interface ColourDialogProps extends ColourQuestion {
  readonly onAnswer: (colour: string | undefined) => void;
}

/** Asks the person for a colour, for the tool `pick_color`. */
export function ColourDialog({ prompt, suggestions, onAnswer }: ColourDialogProps): ReactNode {
  const [colour, setColour] = useState(suggestions[0] ?? "#0c6657");
  return (
    <Dialog title="The answer needs a colour" onClose={() => onAnswer(undefined)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onAnswer(colour);
        }}
      >
        <p className="dialog-text">{prompt}</p>
        <fieldset className="colour-suggestions">
          <legend className="visually-hidden">Suggestions</legend>
          {suggestions.map((each, place) => (
            <label key={each} className="colour-suggestion" style={{ backgroundColor: each }} title={each}>
              <input
                type="radio"
                name="colour"
                aria-label={each}
                data-focus={place === 0 ? "" : undefined}
                checked={each === colour}
                onChange={() => setColour(each)}
              />
            </label>
          ))}
        </fieldset>
        <label className="colour-own">
          <input type="color" value={colour} onChange={({ currentTarget }) => setColour(currentTarget.value)} />
          <span>Another colour</span>
          <code>{colour}</code>
        </label>
        <div className="dialog-actions">
          <button type="button" className="button" onClick={() => onAnswer(undefined)}>
            No colour
          </button>
          <button type="submit" className="button primary">
            Use this colour
          </button>
        </div>
      </form>
    </Dialog>
  );
}
