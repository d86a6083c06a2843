import type { ReactNode, Ref } from "react";

export interface ScrollBoxProps {
  /** What is in it, for a screen reader. */
  readonly label: string;
  readonly className?: string;
  readonly dir?: "ltr" | "auto";
  readonly box?: Ref<HTMLPreElement>;
  readonly children: ReactNode;
}

/** Text as it is written, in a box that scrolls by itself and that the keyboard can reach. */
export function ScrollBox({ label, className, dir = "ltr", box, children }: ScrollBoxProps): ReactNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a field set is for fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <pre ref={box} className={className} tabIndex={0} role="group" aria-label={label} dir={dir}>
      {children}
    </pre>
  );
}
