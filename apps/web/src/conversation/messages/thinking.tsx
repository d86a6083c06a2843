import { type ReactNode, useId } from "react";
import { Icon } from "../../app/icon.tsx";
import { useFold } from "../fold-state.ts";
import { Markdown } from "../markdown/markdown.tsx";

export interface ThinkingProps {
  /** Name among the fold-outs. */
  readonly name: string;
  readonly text: string;
  /** It is being thought. */
  readonly isOpen: boolean;
}

/** What the model thought: its last lines while it thinks, folded once it is done. */
export function Thinking({ name, text, isOpen }: ThinkingProps): ReactNode {
  const [isShown, setShown] = useFold(`thinking/${name}`);
  const body = useId();
  if (text === "" && !isOpen) return <p className="thinking-head is-empty">Thought without showing it</p>;
  return (
    <div className="thinking" data-open={isShown || undefined}>
      <button type="button" className="thinking-head" aria-expanded={isShown} aria-controls={body} onClick={() => setShown(!isShown)}>
        <Icon name="thought" />
        <span className={isOpen ? "shimmer" : undefined}>{isOpen ? "Thinking" : "Thoughts"}</span>
        <Icon name="chevron" />
      </button>
      <div id={body} className={isShown ? "thinking-text" : "thinking-peek"} hidden={!isShown && !isOpen}>
        {isShown || isOpen ? <Markdown text={text} isOpen={isOpen} /> : null}
      </div>
    </div>
  );
}
